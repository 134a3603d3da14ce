// Chains of values: the last third of attention, shared by its two shapes.
//
// Invariant: a chain takes one fused multiply-add a position, in order; blocks of 128 positions are added in order.
#pragma once

#include "key_walk.hpp"

namespace temp0 {
namespace {

// Weights of some positions and the chains that they lengthen, one for each line (a head or a row).
struct Mix {
  const float* weights;
  int64_t line_stride, key_stride;
  float* chains;
  int64_t dimensions;  // from one chain to the next
  const float* const* values;
  const float* const* following;  // what to fetch meanwhile, if AHEAD
  int64_t offset;                 // of the kv head
  int64_t count;
};

// One vector of a row, or its first `count` elements.
template <bool IS_WHOLE>
inline Lanes load_some(const float* from, int count) {
  return IS_WHOLE ? load(from) : load_partial(from, count, 0.0f);
}

// VECTORS vectors of columns from `column` on, or one of `columns` columns.
template <int LINES, int VECTORS, bool IS_WHOLE, bool AHEAD>
void chain_columns(const Mix& mix, int64_t column, int columns) {
  Lanes sums[LINES][VECTORS];
  float* chains = mix.chains + column;
  for (int line = 0; line < LINES; ++line)
    for (int j = 0; j < VECTORS; ++j) sums[line][j] = load(chains + line * mix.dimensions + j * kLanes);
  for (int64_t i = 0; i < mix.count; ++i) {
    Lanes part[VECTORS];
    for (int j = 0; j < VECTORS; ++j) {
      if (AHEAD) prefetch(mix.following[i] + mix.offset + column + j * kLanes);
      part[j] = load_some<IS_WHOLE>(mix.values[i] + mix.offset + column + j * kLanes, columns);
    }
    for (int line = 0; line < LINES; ++line) {
      const Lanes weight = broadcast(mix.weights[line * mix.line_stride + i * mix.key_stride]);
      for (int j = 0; j < VECTORS; ++j) sums[line][j] = multiply_add(weight, part[j], sums[line][j]);
    }
  }
  for (int line = 0; line < LINES; ++line)
    for (int j = 0; j < VECTORS; ++j) store(chains + line * mix.dimensions + j * kLanes, sums[line][j]);
}

template <int LINES, bool AHEAD>
void lengthen_chains(const Mix& mix, int64_t head_dim) {
  int64_t column = 0;
  for (; column + kValueVectors * kLanes <= head_dim; column += kValueVectors * kLanes)
    chain_columns<LINES, kValueVectors, true, AHEAD>(mix, column, kLanes);
  for (; column + kLanes <= head_dim; column += kLanes) chain_columns<LINES, 1, true, AHEAD>(mix, column, kLanes);
  const int rest = static_cast<int>(head_dim - column);
  if (rest > 0) chain_columns<LINES, 1, false, AHEAD>(mix, column, rest);
}

inline void begin_block(float* chains, int64_t floats) {
  for (int64_t i = 0; i < floats; i += kLanes) store(chains + i, broadcast(0.0f));
}

inline void end_block(const float* chains, float* mixed, int64_t floats, bool is_first) {
  for (int64_t i = 0; i < floats; i += kLanes)
    store(mixed + i, is_first ? load(chains + i) : add(load(mixed + i), load(chains + i)));
}

inline void write_head(const AttentionTask& task, const float* mixed, float total, float* out) {
  for (int64_t i = 0; i < task.head_dim; i += kLanes) {
    const int64_t rest = task.head_dim - i;
    const Lanes value = rounded_if(task.is_rounded, divide(load(mixed + i), broadcast(total)));
    rest < kLanes ? store_partial(out + i, value, static_cast<int>(rest)) : store(out + i, value);
  }
}

}  // namespace
}  // namespace temp0
