// Products of rows with packed weights.
//
// Invariant: one output is the sum, block after block, of chains of multiply-adds over 256 inputs each; which rows
// and panels share a register tile changes no order.
#pragma once

#include "kernel_table.hpp"

namespace temp0 {
namespace {

// Panels of 16 outputs: fp32 as [input][16], bf16 as [input pair][16] words of two.
struct Fp32Panels {
  const float* data;
  int64_t inputs;

  void load_pair(int64_t panel, int64_t input, Lanes& even, Lanes& odd) const {
    const float* from = data + (panel * inputs + input) * kPanel;
    even = load(from);
    odd = load(from + kPanel);
  }
  Lanes load_last(int64_t panel, int64_t input) const { return load(data + (panel * inputs + input) * kPanel); }
};

struct Bf16Panels {
  const uint32_t* data;
  int64_t inputs;

  void load_pair(int64_t panel, int64_t input, Lanes& even, Lanes& odd) const {
    load_bf16_pairs(data + (panel * ((inputs + 1) / 2) + input / 2) * kPanel, even, odd);
  }
  Lanes load_last(int64_t panel, int64_t input) const {
    Lanes even, odd;
    load_pair(panel, input, even, odd);
    return even;
  }
};

struct Tile {
  int64_t row, panel;          // first row and first panel
  int64_t first, last;         // inputs of this block
};

template <int ROWS, int PANELS>
inline void step(const float* x, int64_t stride, const Lanes (&weights)[PANELS], Lanes (&sums)[ROWS][PANELS]) {
  for (int row = 0; row < ROWS; ++row) {
    const Lanes value = broadcast(x[row * stride]);
    for (int i = 0; i < PANELS; ++i) sums[row][i] = multiply_add(value, weights[i], sums[row][i]);
  }
}

template <int ROWS, int PANELS>
inline void add_block(const LinearTask& task, const Tile& tile, const Lanes (&sums)[ROWS][PANELS]) {
  for (int row = 0; row < ROWS; ++row) {
    for (int i = 0; i < PANELS; ++i) {
      const int64_t column = (tile.panel + i) * kPanel;
      float* out = task.out + (tile.row + row) * task.outputs + column;
      const int64_t count = task.outputs - column;
      if (count >= kLanes) {
        store(out, tile.first == 0 ? sums[row][i] : add(load(out), sums[row][i]));
      } else {
        const int rest = static_cast<int>(count);
        store_partial(out, tile.first == 0 ? sums[row][i] : add(load_partial(out, rest, 0.0f), sums[row][i]), rest);
      }
    }
  }
}

template <int ROWS, int PANELS, class Weights>
void multiply_tile(const LinearTask& task, const Weights& weights, const Tile& tile) {
  Lanes sums[ROWS][PANELS];
  for (int row = 0; row < ROWS; ++row)
    for (int i = 0; i < PANELS; ++i) sums[row][i] = broadcast(0.0f);
  const float* x = task.x + tile.row * task.inputs;
  int64_t input = tile.first;
  for (; input + 2 <= tile.last; input += 2) {
    Lanes even[PANELS], odd[PANELS];
    for (int i = 0; i < PANELS; ++i) weights.load_pair(tile.panel + i, input, even[i], odd[i]);
    step<ROWS, PANELS>(x + input, task.inputs, even, sums);
    step<ROWS, PANELS>(x + input + 1, task.inputs, odd, sums);
  }
  if (input < tile.last) {
    Lanes even[PANELS];
    for (int i = 0; i < PANELS; ++i) even[i] = weights.load_last(tile.panel + i, input);
    step<ROWS, PANELS>(x + input, task.inputs, even, sums);
  }
  add_block<ROWS, PANELS>(task, tile, sums);
}

// Chooses the compiled tile for a number of rows known only at run time.
template <int ROWS, int PANELS, class Weights>
inline void multiply_rows(int64_t rows, const LinearTask& task, const Weights& weights, const Tile& tile) {
  if constexpr (ROWS > 1) {
    if (rows < ROWS) return multiply_rows<ROWS - 1, PANELS>(rows, task, weights, tile);
  }
  multiply_tile<ROWS, PANELS>(task, weights, tile);
}

// All rows by PANELS panels: rows in tiles of nearly equal height, so that no tile is left with a single row.
template <int ROWS, int PANELS, class Weights>
inline void multiply_panels(const LinearTask& task, const Weights& weights, int64_t panel) {
  const int64_t tiles = (task.row_count + ROWS - 1) / ROWS;
  for (int64_t first = 0; first < task.inputs; first += kChainBlock) {
    const int64_t last = first + kChainBlock < task.inputs ? first + kChainBlock : task.inputs;
    for (int64_t i = 0; i < tiles; ++i) {
      const int64_t row = task.row_count * i / tiles;
      const int64_t rows = task.row_count * (i + 1) / tiles - row;
      multiply_rows<ROWS, PANELS>(rows, task, weights, {row, panel, first, last});
    }
  }
}

template <int ROWS, int PANELS, class Weights>
inline void multiply_range(const LinearTask& task, const Weights& weights, int64_t first, int64_t last) {
  int64_t panel = first;
  for (; panel + PANELS <= last; panel += PANELS) multiply_panels<ROWS, PANELS>(task, weights, panel);
  for (; panel < last; ++panel) multiply_panels<ROWS, 1>(task, weights, panel);
}

template <class Weights>
inline void multiply_any(const LinearTask& task, const Weights& weights, int64_t first, int64_t last) {
  if (task.row_count <= kFewRows)
    multiply_range<kFewRows, kPanelsAtFewRows>(task, weights, first, last);
  else
    multiply_range<kRowTile, kPanelsAtManyRows>(task, weights, first, last);
}

void linear(const LinearTask& task, int64_t first, int64_t last) {
  if (task.is_bf16)
    multiply_any(task, Bf16Panels{static_cast<const uint32_t*>(task.panels), task.inputs}, first, last);
  else
    multiply_any(task, Fp32Panels{static_cast<const float*>(task.panels), task.inputs}, first, last);
}

}  // namespace
}  // namespace temp0
