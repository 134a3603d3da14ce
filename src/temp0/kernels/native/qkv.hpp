// From the fused product of one row to its query heads and to its place in the cache.
//
// Invariant: a head is normalised, rounded, turned and rounded as the kernels of those names do it one after another.
#pragma once

#include <cstring>

#include "elementwise.hpp"
#include "kernel_table.hpp"
#include "row_reduction.hpp"

namespace temp0 {
namespace {

inline void turn_heads(const QkvTask& task, int64_t position, const float* from, int64_t heads, const float* norm,
                       float* to) {
  const int64_t half = task.head_dim / 2, angle = position * half;
  for (int64_t head = 0; head < heads; ++head, from += task.head_dim, to += task.head_dim) {
    if (norm != nullptr) norm_row(from, norm, task.eps, task.head_dim, task.is_rounded, to);
    rotate_head(norm != nullptr ? to : from, task.cosines + angle, task.sines + angle, half, task.is_rounded, to);
  }
}

void place_qkv(const QkvTask& task, int64_t first, int64_t last) {
  const int64_t query_width = task.heads * task.head_dim, kv_width = task.kv_heads * task.head_dim;
  for (int64_t row = first; row < last; ++row) {
    const float* query = task.qkv + row * (query_width + 2 * kv_width);
    const float* key = query + query_width;
    const int64_t place = task.places[row] * kv_width, position = task.positions[row];
    turn_heads(task, position, query, task.heads, task.query_norm, task.query + row * query_width);
    turn_heads(task, position, key, task.kv_heads, task.key_norm, task.keys + place);
    memcpy(task.values + place, key + kv_width, sizeof(float) * kv_width);
  }
}

}  // namespace
}  // namespace temp0
