// Kernels that reduce a row: RMS norm, log-softmax and argmax.
//
// Invariant: lane j takes elements j, j+16, j+32, ... in order; lanes meet in the halving tree.
#pragma once

#include "elementwise.hpp"
#include "kernel_table.hpp"
#include "scalar.hpp"

namespace temp0 {
namespace {

inline float sum_of_squares(const float* x, int64_t columns) {
  Lanes sum = broadcast(0.0f);
  int64_t i = 0;
  for (; i + kLanes <= columns; i += kLanes) {
    const Lanes value = load(x + i);
    sum = multiply_add(value, value, sum);
  }
  if (i < columns) {
    const Lanes value = load_partial(x + i, static_cast<int>(columns - i), 0.0f);
    sum = multiply_add(value, value, sum);
  }
  return tree_sum(sum);
}

// From one row to another or to itself.
inline void norm_row(const float* x, const float* weight, float eps, int64_t columns, bool is_rounded, float* out) {
  const float mean = sum_of_squares(x, columns) / static_cast<float>(columns);
  const Lanes scale = broadcast(1.0f / sqrtf(mean + eps));
  int64_t i = 0;
  for (; i + kLanes <= columns; i += kLanes)
    store(out + i, rounded_if(is_rounded, multiply(multiply(load(x + i), scale), load(weight + i))));
  const int rest = static_cast<int>(columns - i);
  if (rest > 0) {
    const Lanes scaled = multiply(load_partial(x + i, rest, 0.0f), scale);
    const Lanes normed = multiply(scaled, load_partial(weight + i, rest, 0.0f));
    store_partial(out + i, rounded_if(is_rounded, normed), rest);
  }
}

void rms_norm(const NormTask& task, int64_t first, int64_t last) {
  for (int64_t row = first; row < last; ++row) {
    const int64_t start = row * task.columns;
    norm_row(task.x + start, task.weight, task.eps, task.columns, task.is_rounded, task.out + start);
  }
}

inline void add_row(float* x, const float* added, int64_t columns, bool is_rounded) {
  int64_t i = 0;
  for (; i + kLanes <= columns; i += kLanes)
    store(x + i, rounded_if(is_rounded, add(load(x + i), load(added + i))));
  const int rest = static_cast<int>(columns - i);
  if (rest > 0) {
    const Lanes sum = add(load_partial(x + i, rest, 0.0f), load_partial(added + i, rest, 0.0f));
    store_partial(x + i, rounded_if(is_rounded, sum), rest);
  }
}

void add_rms_norm(const AddNormTask& task, int64_t first, int64_t last) {
  for (int64_t row = first; row < last; ++row) {
    const int64_t start = row * task.columns;
    float* x = task.x + start;
    add_row(x, task.added + start, task.columns, task.is_rounded);
    norm_row(x, task.weight, task.eps, task.columns, task.is_rounded, task.out + start);
  }
}

// Lowest float where a row is padded, so that padding never wins.
inline Lanes load_padded(const float* x, int64_t i, int64_t columns) {
  if (i + kLanes <= columns) return load(x + i);
  return load_partial(x + i, static_cast<int>(columns - i), -INFINITY);
}

// NaN in a lane is forgotten when a number follows it.
inline float row_maximum(const float* x, int64_t columns) {
  Lanes best = broadcast(-INFINITY);
  for (int64_t i = 0; i < columns; i += kLanes) best = maximum(best, load_padded(x, i, columns));
  return tree_maximum(best);
}

inline bool has_nan(const float* x, int64_t columns) {
  uint32_t ordered = 0xFFFF;
  for (int64_t i = 0; i < columns; i += kLanes) {
    const Lanes value = load_padded(x, i, columns);
    ordered &= equal_mask(value, value);
  }
  return ordered != 0xFFFF;
}

inline int64_t first_nan(const float* x) {
  int64_t i = 0;
  while (x[i] == x[i]) ++i;
  return i;
}

inline int64_t first_equal(const float* x, int64_t columns, float wanted) {
  const Lanes target = broadcast(wanted);
  for (int64_t i = 0; i < columns; i += kLanes) {
    const uint32_t mask = equal_mask(load_padded(x, i, columns), target);
    for (int lane = 0; mask != 0 && lane < kLanes; ++lane)
      if (mask >> lane & 1u) return i + lane;
  }
  return 0;
}

void argmax(const ArgmaxTask& task, int64_t first, int64_t last) {
  for (int64_t row = first; row < last; ++row) {
    const float* x = task.logits + row * task.columns;
    const int64_t index = has_nan(x, task.columns) ? first_nan(x)
                                                   : first_equal(x, task.columns, row_maximum(x, task.columns));
    task.out[row] = static_cast<int32_t>(index);
  }
}

// Blocks of 1,024 elements in float lanes; their sums one after another in double.
inline double sum_of_exponentials(const float* x, int64_t columns, Lanes highest) {
  double total = 0.0;
  for (int64_t block = 0; block < columns; block += kSoftmaxBlock) {
    const int64_t end = block + kSoftmaxBlock < columns ? block + kSoftmaxBlock : columns;
    Lanes sum = broadcast(0.0f);
    for (int64_t i = block; i < end; i += kLanes)
      sum = add(sum, exponential(subtract(load_padded(x, i, end), highest)));
    total += static_cast<double>(tree_sum(sum));
  }
  return total;
}

void softmax(const SoftmaxTask& task, int64_t first, int64_t last) {
  for (int64_t row = first; row < last; ++row) {
    const float* x = task.logits + row * task.columns;
    float* out = task.out + row * task.columns;
    const Lanes highest = broadcast(row_maximum(x, task.columns));
    const Lanes total = broadcast(static_cast<float>(sum_of_exponentials(x, task.columns, highest)));
    int64_t i = 0;
    for (; i + kLanes <= task.columns; i += kLanes)
      store(out + i, divide(exponential(subtract(load(x + i), highest)), total));
    const int rest = static_cast<int>(task.columns - i);
    if (rest > 0)
      store_partial(out + i, divide(exponential(subtract(load_padded(x, i, task.columns), highest)), total), rest);
  }
}

void log_softmax(const SoftmaxTask& task, int64_t first, int64_t last) {
  for (int64_t row = first; row < last; ++row) {
    const float* x = task.logits + row * task.columns;
    float* out = task.out + row * task.columns;
    const Lanes highest = broadcast(row_maximum(x, task.columns));
    const double total = sum_of_exponentials(x, task.columns, highest);
    const Lanes normalizer = broadcast(static_cast<float>(natural_log(total)));
    int64_t i = 0;
    for (; i + kLanes <= task.columns; i += kLanes)
      store(out + i, subtract(subtract(load(x + i), highest), normalizer));
    const int rest = static_cast<int>(task.columns - i);
    if (rest > 0)
      store_partial(out + i, subtract(subtract(load_padded(x, i, task.columns), highest), normalizer), rest);
  }
}

}  // namespace
}  // namespace temp0
