// Sixteen float lanes as two AVX2 registers. Included only by path_avx2.cpp, which is built with -mavx2 -mfma.
//
// Invariant: the same bits per lane as lanes_portable.hpp.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace temp0 {
namespace {

constexpr int kLanes = 16;

struct Lanes {
  __m256 low, high;
};

constexpr int kRowTile = 3;
constexpr int kFewRows = 1;
constexpr int kPanelsAtFewRows = 2;
constexpr int kPanelsAtManyRows = 1;
constexpr int kValueVectors = 2;
constexpr int kKeysTogether = 2;
constexpr int kRowsTogether = 2;

inline void prefetch(const void* address) { _mm_prefetch(static_cast<const char*>(address), _MM_HINT_T0); }

inline Lanes broadcast(float value) { return {_mm256_set1_ps(value), _mm256_set1_ps(value)}; }

inline Lanes load(const float* from) { return {_mm256_loadu_ps(from), _mm256_loadu_ps(from + 8)}; }

inline __m256i lane_mask(int count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

inline __m256 load_masked(const float* from, __m256i mask, float fill) {
  return _mm256_blendv_ps(_mm256_set1_ps(fill), _mm256_maskload_ps(from, mask), _mm256_castsi256_ps(mask));
}

inline Lanes load_partial(const float* from, int count, float fill) {
  return {load_masked(from, lane_mask(count), fill), load_masked(from + 8, lane_mask(count - 8), fill)};
}

inline void store(float* to, Lanes a) {
  _mm256_storeu_ps(to, a.low);
  _mm256_storeu_ps(to + 8, a.high);
}

inline void store_partial(float* to, Lanes a, int count) {
  _mm256_maskstore_ps(to, lane_mask(count), a.low);
  _mm256_maskstore_ps(to + 8, lane_mask(count - 8), a.high);
}

inline Lanes add(Lanes a, Lanes b) { return {_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)}; }

inline Lanes subtract(Lanes a, Lanes b) {
  return {_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)};
}

inline Lanes multiply(Lanes a, Lanes b) {
  return {_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)};
}

inline Lanes divide(Lanes a, Lanes b) {
  return {_mm256_div_ps(a.low, b.low), _mm256_div_ps(a.high, b.high)};
}

inline Lanes multiply_add(Lanes a, Lanes b, Lanes c) {
  return {_mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high)};
}

inline Lanes maximum(Lanes a, Lanes b) {
  return {_mm256_max_ps(a.low, b.low), _mm256_max_ps(a.high, b.high)};
}

inline Lanes minimum(Lanes a, Lanes b) {
  return {_mm256_min_ps(a.low, b.low), _mm256_min_ps(a.high, b.high)};
}

inline uint32_t equal_mask(Lanes a, Lanes b) {
  const int low = _mm256_movemask_ps(_mm256_cmp_ps(a.low, b.low, _CMP_EQ_OQ));
  const int high = _mm256_movemask_ps(_mm256_cmp_ps(a.high, b.high, _CMP_EQ_OQ));
  return static_cast<uint32_t>(low | high << 8);
}

inline __m256 power_of_two(__m256i exponent) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(exponent, _mm256_set1_epi32(127)), 23));
}

inline __m256 scale_by_power(__m256 value, __m256 shifted) {
  const __m256i n = _mm256_sub_epi32(_mm256_castps_si256(shifted), _mm256_set1_epi32(0x4B400000));
  const __m256i half = _mm256_srai_epi32(n, 1);
  value = _mm256_mul_ps(value, power_of_two(half));
  return _mm256_mul_ps(value, power_of_two(_mm256_sub_epi32(n, half)));
}

inline Lanes scale_by_power(Lanes value, Lanes shifted) {
  return {scale_by_power(value.low, shifted.low), scale_by_power(value.high, shifted.high)};
}

inline __m256 nearest_bf16(__m256 a) {
  const __m256i bits = _mm256_castps_si256(a);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i rounded = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7FFF)));
  const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x00400000));
  const __m256i is_nan = _mm256_castps_si256(_mm256_cmp_ps(a, a, _CMP_UNORD_Q));
  const __m256i chosen = _mm256_blendv_epi8(rounded, quiet, is_nan);
  return _mm256_castsi256_ps(_mm256_and_si256(chosen, _mm256_set1_epi32(static_cast<int>(0xFFFF0000u))));
}

inline Lanes nearest_bf16(Lanes a) { return {nearest_bf16(a.low), nearest_bf16(a.high)}; }

inline void load_bf16_pairs(const uint32_t* from, Lanes& even, Lanes& odd) {
  const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + 8));
  const __m256i upper = _mm256_set1_epi32(static_cast<int>(0xFFFF0000u));
  even = {_mm256_castsi256_ps(_mm256_slli_epi32(low, 16)), _mm256_castsi256_ps(_mm256_slli_epi32(high, 16))};
  odd = {_mm256_castsi256_ps(_mm256_and_si256(low, upper)),
         _mm256_castsi256_ps(_mm256_and_si256(high, upper))};
}

inline float tree_sum(Lanes a) {
  const __m256 eight = _mm256_add_ps(a.low, a.high);
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
}

inline float tree_maximum(Lanes a) {
  const __m256 eight = _mm256_max_ps(a.low, a.high);
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_shuffle_ps(two, two, 1)));
}

// Each step of the tree joins two registers and halves the lanes of each.
inline __m256 join_fours(__m256 a, __m256 b) {
  return _mm256_add_ps(_mm256_permute2f128_ps(a, b, 0x20), _mm256_permute2f128_ps(a, b, 0x31));
}

inline __m256 join_twos(__m256 a, __m256 b) {
  return _mm256_add_ps(_mm256_shuffle_ps(a, b, 0x44), _mm256_shuffle_ps(a, b, 0xEE));
}

inline __m256 join_ones(__m256 a, __m256 b) {
  return _mm256_add_ps(_mm256_shuffle_ps(a, b, 0x88), _mm256_shuffle_ps(a, b, 0xDD));
}

inline __m256 tree_sums_of_eight(const Lanes* rows) {
  __m256 eight[8];
  for (int i = 0; i < 8; ++i) eight[i] = _mm256_add_ps(rows[i].low, rows[i].high);
  const __m256 first = join_twos(join_fours(eight[0], eight[4]), join_fours(eight[1], eight[5]));
  const __m256 second = join_twos(join_fours(eight[2], eight[6]), join_fours(eight[3], eight[7]));
  return join_ones(first, second);
}

inline Lanes tree_sums(const Lanes (&rows)[kLanes]) {
  return {tree_sums_of_eight(rows), tree_sums_of_eight(rows + 8)};
}

}  // namespace
}  // namespace temp0
