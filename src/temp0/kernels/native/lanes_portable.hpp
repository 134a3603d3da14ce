// Sixteen float lanes as a plain array: the path for every processor, and the definition the others must equal.
//
// Invariant: each operation is one IEEE operation per lane, rounded to nearest; nothing here is x86.
#pragma once

#include <math.h>

#include <cstdint>
#include <cstring>

namespace temp0 {
namespace {

constexpr int kLanes = 16;

struct Lanes {
  float lane[kLanes];
};

// Register tiles of `linear`: rows, and panels of 16 outputs at few rows and at many.
constexpr int kRowTile = 4;
constexpr int kFewRows = 4;
constexpr int kPanelsAtFewRows = 1;
constexpr int kPanelsAtManyRows = 1;
// Vectors of 16 columns that attention accumulates at once for three heads.
constexpr int kValueVectors = 2;
// Keys that rows of one request are scored with at once, and rows that they mix values for at once.
constexpr int kKeysTogether = 1;
constexpr int kRowsTogether = 2;

template <class Operation>
inline Lanes each_lane(Operation operation) {
  Lanes result;
  for (int i = 0; i < kLanes; ++i) result.lane[i] = operation(i);
  return result;
}

inline uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

inline float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

inline void prefetch(const void* address) {
#if defined(__GNUC__)
  __builtin_prefetch(address);
#endif
  (void)address;
}

inline Lanes broadcast(float value) {
  return each_lane([=](int) { return value; });
}

inline Lanes load(const float* from) {
  return each_lane([=](int i) { return from[i]; });
}

inline Lanes load_partial(const float* from, int count, float fill) {
  return each_lane([=](int i) { return i < count ? from[i] : fill; });
}

inline void store(float* to, Lanes a) { memcpy(to, a.lane, sizeof a.lane); }

inline void store_partial(float* to, Lanes a, int count) { memcpy(to, a.lane, sizeof(float) * count); }

inline Lanes add(Lanes a, Lanes b) {
  return each_lane([=](int i) { return a.lane[i] + b.lane[i]; });
}

inline Lanes subtract(Lanes a, Lanes b) {
  return each_lane([=](int i) { return a.lane[i] - b.lane[i]; });
}

inline Lanes multiply(Lanes a, Lanes b) {
  return each_lane([=](int i) { return a.lane[i] * b.lane[i]; });
}

inline Lanes divide(Lanes a, Lanes b) {
  return each_lane([=](int i) { return a.lane[i] / b.lane[i]; });
}

// a * b + c, rounded once.
inline Lanes multiply_add(Lanes a, Lanes b, Lanes c) {
  return each_lane([=](int i) { return fmaf(a.lane[i], b.lane[i], c.lane[i]); });
}

// b where either is NaN, as x86 does.
inline Lanes maximum(Lanes a, Lanes b) {
  return each_lane([=](int i) { return a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]; });
}

inline Lanes minimum(Lanes a, Lanes b) {
  return each_lane([=](int i) { return a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]; });
}

// One bit per lane where a equals b.
inline uint32_t equal_mask(Lanes a, Lanes b) {
  uint32_t mask = 0;
  for (int i = 0; i < kLanes; ++i) mask |= static_cast<uint32_t>(a.lane[i] == b.lane[i]) << i;
  return mask;
}

// value * 2^n, where `shifted` is n + 1.5 * 2^23; in two steps, so that subnormal results are rounded once.
inline Lanes scale_by_power(Lanes value, Lanes shifted) {
  return each_lane([=](int i) {
    const int32_t n = static_cast<int32_t>(bits_of(shifted.lane[i]) - 0x4B400000u);
    const int32_t half = n >> 1;
    const float low = float_of(static_cast<uint32_t>(half + 127) << 23);
    const float high = float_of(static_cast<uint32_t>(n - half + 127) << 23);
    return value.lane[i] * low * high;
  });
}

inline Lanes nearest_bf16(Lanes a) {
  return each_lane([=](int i) {
    const uint32_t bits = bits_of(a.lane[i]);
    const bool is_nan = a.lane[i] != a.lane[i];
    const uint32_t rounded = is_nan ? bits | 0x00400000u : bits + 0x7FFFu + ((bits >> 16) & 1u);
    return float_of(rounded & 0xFFFF0000u);
  });
}

// 16 words of two bf16 each: `even` from the low halves, `odd` from the high ones.
inline void load_bf16_pairs(const uint32_t* from, Lanes& even, Lanes& odd) {
  even = each_lane([=](int i) { return float_of(from[i] << 16); });
  odd = each_lane([=](int i) { return float_of(from[i] & 0xFFFF0000u); });
}

// The halving tree: lane i + lane i+8, then i+4, i+2, i+1.
inline float tree_sum(Lanes a) {
  for (int half = kLanes / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) a.lane[i] = a.lane[i] + a.lane[i + half];
  return a.lane[0];
}

inline float tree_maximum(Lanes a) {
  for (int half = kLanes / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) a.lane[i] = a.lane[i] > a.lane[i + half] ? a.lane[i] : a.lane[i + half];
  return a.lane[0];
}

// Lane i of the result is tree_sum(rows[i]).
inline Lanes tree_sums(const Lanes (&rows)[kLanes]) {
  return each_lane([&](int i) { return tree_sum(rows[i]); });
}

}  // namespace
}  // namespace temp0
