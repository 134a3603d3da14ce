// Kernels without a reduction: exponential, rounding to bf16, SiLU and rotary embedding.
//
// Invariant: one element's bits depend on its own inputs only.
#pragma once

#include "kernel_table.hpp"

namespace temp0 {
namespace {

// e^x by x = n ln2 + r and the Taylor polynomial of degree 7 in r; NaN stays NaN, overflow is infinity.
inline Lanes exponential(Lanes x) {
  const Lanes shift = broadcast(12582912.0f);  // 1.5 * 2^23: adding it rounds to an integer
  x = minimum(broadcast(89.0f), maximum(broadcast(-104.0f), x));
  const Lanes shifted = multiply_add(x, broadcast(1.44269504088896341f), shift);
  const Lanes n = subtract(shifted, shift);
  const Lanes high = multiply_add(n, broadcast(-0.693147182464599609375f), x);
  const Lanes r = multiply_add(n, broadcast(1.904654299957767878541e-9f), high);
  const float coefficients[] = {1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f, 1.0f};
  Lanes sum = broadcast(1.0f / 5040);
  for (float coefficient : coefficients) sum = multiply_add(sum, r, broadcast(coefficient));
  return scale_by_power(sum, shifted);
}

inline Lanes rounded_if(bool is_rounded, Lanes a) { return is_rounded ? nearest_bf16(a) : a; }

void round_bf16(float* x, int64_t first, int64_t last) {
  int64_t i = first;
  for (; i + kLanes <= last; i += kLanes) store(x + i, nearest_bf16(load(x + i)));
  const int rest = static_cast<int>(last - i);
  if (rest > 0) store_partial(x + i, nearest_bf16(load_partial(x + i, rest, 0.0f)), rest);
}

inline Lanes silu_product(Lanes gate, Lanes up) {
  const Lanes decay = exponential(subtract(broadcast(-0.0f), gate));
  return multiply(divide(gate, add(broadcast(1.0f), decay)), up);
}

void silu_multiply(const SiluTask& task, int64_t first, int64_t last) {
  for (int64_t row = first; row < last; ++row) {
    const float* gate = task.gate_up + row * 2 * task.columns;
    const float* up = gate + task.columns;
    float* out = task.out + row * task.columns;
    int64_t i = 0;
    for (; i + kLanes <= task.columns; i += kLanes)
      store(out + i, rounded_if(task.is_rounded, silu_product(load(gate + i), load(up + i))));
    const int rest = static_cast<int>(task.columns - i);
    if (rest > 0) {
      const Lanes last_gate = load_partial(gate + i, rest, 0.0f);
      const Lanes product = silu_product(last_gate, load_partial(up + i, rest, 0.0f));
      store_partial(out + i, rounded_if(task.is_rounded, product), rest);
    }
  }
}

struct Rotated {
  Lanes first, second;
};

inline Rotated rotated(Lanes first, Lanes second, Lanes cosine, Lanes sine) {
  const Lanes minus = subtract(broadcast(-0.0f), multiply(second, sine));
  return {multiply_add(first, cosine, minus), multiply_add(second, cosine, multiply(first, sine))};
}

// From one head to another or to itself; sines and cosines are those of its position.
inline void rotate_head(const float* x, const float* cosines, const float* sines, int64_t half, bool is_rounded,
                        float* out) {
  int64_t i = 0;
  for (; i + kLanes <= half; i += kLanes) {
    const Rotated turned = rotated(load(x + i), load(x + half + i), load(cosines + i), load(sines + i));
    store(out + i, rounded_if(is_rounded, turned.first));
    store(out + half + i, rounded_if(is_rounded, turned.second));
  }
  const int rest = static_cast<int>(half - i);
  if (rest == 0) return;
  const Rotated turned = rotated(load_partial(x + i, rest, 0.0f), load_partial(x + half + i, rest, 0.0f),
                                 load_partial(cosines + i, rest, 0.0f), load_partial(sines + i, rest, 0.0f));
  store_partial(out + i, rounded_if(is_rounded, turned.first), rest);
  store_partial(out + half + i, rounded_if(is_rounded, turned.second), rest);
}

void rotate(const RotateTask& task, int64_t first, int64_t last) {
  const int64_t half = task.head_dim / 2;
  for (int64_t row = first; row < last; ++row) {
    const int64_t angle = task.positions[row] * half;
    for (int64_t head = 0; head < task.heads; ++head) {
      float* x = task.x + (row * task.heads + head) * task.head_dim;
      rotate_head(x, task.cosines + angle, task.sines + angle, half, false, x);
    }
  }
}

}  // namespace
}  // namespace temp0
