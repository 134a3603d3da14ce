// Sixteen float lanes as one AVX-512 register. Included only by path_avx512.cpp, built with -mavx512f and friends.
//
// Invariant: the same bits per lane as lanes_portable.hpp.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace temp0 {
namespace {

constexpr int kLanes = 16;

struct Lanes {
  __m512 all;
};

constexpr int kRowTile = 6;
constexpr int kFewRows = 3;
constexpr int kPanelsAtFewRows = 4;
constexpr int kPanelsAtManyRows = 2;
constexpr int kValueVectors = 4;
constexpr int kKeysTogether = 4;
constexpr int kRowsTogether = 4;

inline void prefetch(const void* address) { _mm_prefetch(static_cast<const char*>(address), _MM_HINT_T0); }

inline Lanes broadcast(float value) { return {_mm512_set1_ps(value)}; }

inline Lanes load(const float* from) { return {_mm512_loadu_ps(from)}; }

inline __mmask16 lane_mask(int count) { return static_cast<__mmask16>((1u << count) - 1u); }

inline Lanes load_partial(const float* from, int count, float fill) {
  return {_mm512_mask_loadu_ps(_mm512_set1_ps(fill), lane_mask(count), from)};
}

inline void store(float* to, Lanes a) { _mm512_storeu_ps(to, a.all); }

inline void store_partial(float* to, Lanes a, int count) {
  _mm512_mask_storeu_ps(to, lane_mask(count), a.all);
}

inline Lanes add(Lanes a, Lanes b) { return {_mm512_add_ps(a.all, b.all)}; }
inline Lanes subtract(Lanes a, Lanes b) { return {_mm512_sub_ps(a.all, b.all)}; }
inline Lanes multiply(Lanes a, Lanes b) { return {_mm512_mul_ps(a.all, b.all)}; }
inline Lanes divide(Lanes a, Lanes b) { return {_mm512_div_ps(a.all, b.all)}; }
inline Lanes multiply_add(Lanes a, Lanes b, Lanes c) { return {_mm512_fmadd_ps(a.all, b.all, c.all)}; }
inline Lanes maximum(Lanes a, Lanes b) { return {_mm512_max_ps(a.all, b.all)}; }
inline Lanes minimum(Lanes a, Lanes b) { return {_mm512_min_ps(a.all, b.all)}; }

inline uint32_t equal_mask(Lanes a, Lanes b) { return _mm512_cmp_ps_mask(a.all, b.all, _CMP_EQ_OQ); }

inline __m512 power_of_two(__m512i exponent) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_add_epi32(exponent, _mm512_set1_epi32(127)), 23));
}

inline Lanes scale_by_power(Lanes value, Lanes shifted) {
  const __m512i n = _mm512_sub_epi32(_mm512_castps_si512(shifted.all), _mm512_set1_epi32(0x4B400000));
  const __m512i half = _mm512_srai_epi32(n, 1);
  const __m512 once = _mm512_mul_ps(value.all, power_of_two(half));
  return {_mm512_mul_ps(once, power_of_two(_mm512_sub_epi32(n, half)))};
}

inline Lanes nearest_bf16(Lanes a) {
  const __m512i bits = _mm512_castps_si512(a.all);
  const __m512i odd = _mm512_and_epi32(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const __m512i rounded = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7FFF)));
  const __mmask16 is_nan = _mm512_cmp_ps_mask(a.all, a.all, _CMP_UNORD_Q);
  const __m512i chosen = _mm512_mask_or_epi32(rounded, is_nan, bits, _mm512_set1_epi32(0x00400000));
  return {_mm512_castsi512_ps(_mm512_and_epi32(chosen, _mm512_set1_epi32(static_cast<int>(0xFFFF0000u))))};
}

inline void load_bf16_pairs(const uint32_t* from, Lanes& even, Lanes& odd) {
  const __m512i words = _mm512_loadu_si512(from);
  const __m512i upper = _mm512_set1_epi32(static_cast<int>(0xFFFF0000u));
  even = {_mm512_castsi512_ps(_mm512_slli_epi32(words, 16))};
  odd = {_mm512_castsi512_ps(_mm512_and_epi32(words, upper))};
}

inline __m256 upper_half(__m512 a) {
  return _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(a), 1));
}

inline float tree_sum(Lanes a) {
  const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(a.all), upper_half(a.all));
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
}

inline float tree_maximum(Lanes a) {
  const __m256 eight = _mm256_max_ps(_mm512_castps512_ps256(a.all), upper_half(a.all));
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_shuffle_ps(two, two, 1)));
}

// Each step of the tree joins two registers and halves the lanes of each.
inline __m512 join_eights(__m512 a, __m512 b) {
  return _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x44), _mm512_shuffle_f32x4(a, b, 0xEE));
}

inline __m512 join_fours(__m512 a, __m512 b) {
  return _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x88), _mm512_shuffle_f32x4(a, b, 0xDD));
}

inline __m512 join_twos(__m512 a, __m512 b) {
  return _mm512_add_ps(_mm512_shuffle_ps(a, b, 0x44), _mm512_shuffle_ps(a, b, 0xEE));
}

inline __m512 join_ones(__m512 a, __m512 b) {
  return _mm512_add_ps(_mm512_shuffle_ps(a, b, 0x88), _mm512_shuffle_ps(a, b, 0xDD));
}

// Rows first, first+4, first+8, first+12 as four lanes each.
inline __m512 join_every_fourth(const Lanes* rows) {
  return join_fours(join_eights(rows[0].all, rows[4].all), join_eights(rows[8].all, rows[12].all));
}

inline Lanes tree_sums(const Lanes (&rows)[kLanes]) {
  const __m512 first = join_twos(join_every_fourth(rows), join_every_fourth(rows + 1));
  const __m512 second = join_twos(join_every_fourth(rows + 2), join_every_fourth(rows + 3));
  return {join_ones(first, second)};
}

}  // namespace
}  // namespace temp0
