// Products of rows with packed weights.
//
// Invariant: inputs are taken in groups of 32; in a group the even ones make one chain of fused multiply-adds from 0,
// the odd ones another; the two are added, and groups are added in order. Which rows and panels share a register tile
// changes no order.
#pragma once

#include "linear_store.hpp"

namespace temp0 {
namespace {

// Rows whose totals for one set of panels fit the first-level cache beside x and the weights.
constexpr int64_t kRowsAtOnce = 96;
// Inputs whose weights stay in the first-level cache while all those rows meet them.
constexpr int64_t kInputsAtOnce = 256;
// 1 KiB: measured 10 to 25 % faster than the processor's own prefetching, which ends at each page.
constexpr int64_t kWordsAhead = 256;

// Panels of 16 outputs: fp32 as [input][16], bf16 as [pair of inputs][16] words of two; whole groups.
struct Fp32Panels {
  using Word = float;
  static constexpr int64_t kWordsPerPair = 2 * kPanel;
  static int64_t words(int64_t inputs) { return whole_groups(inputs) * kPanel; }

  static void load_pair(const float* from, Lanes& even, Lanes& odd) {
    even = load(from);
    odd = load(from + kPanel);
  }
};

struct Bf16Panels {
  using Word = uint32_t;
  static constexpr int64_t kWordsPerPair = kPanel;
  static int64_t words(int64_t inputs) { return whole_groups(inputs) / 2 * kPanel; }

  static void load_pair(const uint32_t* from, Lanes& even, Lanes& odd) { load_bf16_pairs(from, even, odd); }
};

// Rows first .. first+count-1 by panels that begin at `panel`, over inputs that begin at `input`.
struct Part {
  int64_t row, rows, panel, input, inputs;
};

// A tile's rows, three behind one pointer: base, base + stride and base + 2 stride are addresses that a processor
// forms by itself, so that twelve rows need four pointers and none is reloaded from the stack.
template <int ROWS>
class TileRows {
 public:
  TileRows(const float* x, int64_t stride) : stride_(stride) {
    for (int i = 0; i < kPointers; ++i) first_[i] = x + 3 * i * stride;
  }

  float at(int row, int64_t input) const { return first_[row / 3][row % 3 * stride_ + input]; }

  void advance(int64_t inputs) {
    for (const float*& pointer : first_) pointer += inputs;
  }

 private:
  static constexpr int kPointers = (ROWS + 2) / 3;
  const float* first_[kPointers];
  int64_t stride_;
};

// One input's products with a tile of rows and panels.
template <int ROWS, int PANELS>
inline void step(const TileRows<ROWS>& x, int64_t input, const Lanes (&weights)[PANELS], Lanes (&sums)[ROWS][PANELS]) {
  for (int row = 0; row < ROWS; ++row) {
    const Lanes value = broadcast(x.at(row, input));
    for (int i = 0; i < PANELS; ++i) sums[row][i] = multiply_add(value, weights[i], sums[row][i]);
  }
}

// A group's two chains for a tile of rows and panels.
template <int ROWS, int PANELS>
struct Chains {
  Lanes even[ROWS][PANELS], odd[ROWS][PANELS];

  Chains() {
    for (int row = 0; row < ROWS; ++row)
      for (int i = 0; i < PANELS; ++i) even[row][i] = odd[row][i] = broadcast(0.0f);
  }

  void add_to(Lanes* totals) const {
    for (int row = 0; row < ROWS; ++row)
      for (int i = 0; i < PANELS; ++i) {
        Lanes& total = totals[row * PANELS + i];
        total = add(total, add(even[row][i], odd[row][i]));
      }
  }
};

// totals[row][panel] gains the part's inputs, group after group.
template <class Panels, int ROWS, int PANELS>
void chain_tile(const LinearTask& task, const Part& part, Lanes* totals) {
  const int64_t panel_words = Panels::words(task.inputs);
  const auto* weights = static_cast<const typename Panels::Word*>(task.panels) + part.panel * panel_words +
                        Panels::words(part.input);
  TileRows<ROWS> x(task.x + part.row * task.inputs + part.input, task.inputs);
  for (int64_t left = part.inputs; left > 0; left -= kInputGroup) {
    Chains<ROWS, PANELS> chains;
    for (int64_t pair = (left < kInputGroup ? left : kInputGroup) / 2; pair > 0; --pair) {
      Lanes even[PANELS], odd[PANELS];
      for (int i = 0; i < PANELS; ++i) {
        Panels::load_pair(weights + i * panel_words, even[i], odd[i]);
        prefetch(weights + i * panel_words + kWordsAhead);
      }
      step(x, 0, even, chains.even);
      step(x, 1, odd, chains.odd);
      weights += Panels::kWordsPerPair;
      x.advance(2);
    }
    if (left < kInputGroup && left % 2 != 0) {
      Lanes even[PANELS], odd[PANELS];
      for (int i = 0; i < PANELS; ++i) Panels::load_pair(weights + i * panel_words, even[i], odd[i]);
      step(x, 0, even, chains.even);
    }
    chains.add_to(totals);
  }
}

// Chooses the compiled tile for a number of rows known only at run time.
template <class Panels, int ROWS, int PANELS>
inline void chain_rows(const LinearTask& task, const Part& part, Lanes* totals) {
  if constexpr (ROWS > 1) {
    if (part.rows < ROWS) return chain_rows<Panels, ROWS - 1, PANELS>(task, part, totals);
  }
  chain_tile<Panels, ROWS, PANELS>(task, part, totals);
}

// Rows in tiles of nearly equal height, so that none is left with a single row; the totals stay in the cache.
template <class Panels, int ROWS, int PANELS>
inline void multiply_part(const LinearTask& task, const Part& part) {
  Lanes totals[kRowsAtOnce * PANELS];
  for (int64_t i = 0; i < part.rows * PANELS; ++i) totals[i] = broadcast(0.0f);
  const int64_t tiles = (part.rows + ROWS - 1) / ROWS;
  for (int64_t input = 0; input < task.inputs; input += kInputsAtOnce) {
    const int64_t inputs = input + kInputsAtOnce < task.inputs ? kInputsAtOnce : task.inputs - input;
    for (int64_t i = 0; i < tiles; ++i) {
      const int64_t first = part.rows * i / tiles, last = part.rows * (i + 1) / tiles;
      chain_rows<Panels, ROWS, PANELS>(task, {part.row + first, last - first, part.panel, input, inputs},
                                       totals + first * PANELS);
    }
  }
  for (int64_t row = 0; row < part.rows; ++row)
    for (int i = 0; i < PANELS; ++i) store_panel(task, part.row + row, part.panel + i, totals[row * PANELS + i]);
}

// A block of rows meets all panels before the next block, so that its x stays in the cache.
template <class Panels, int ROWS, int PANELS>
inline void multiply_range(const LinearTask& task, int64_t first, int64_t last) {
  const int64_t blocks = (task.row_count + kRowsAtOnce - 1) / kRowsAtOnce;
  for (int64_t i = 0; i < blocks; ++i) {
    const int64_t row = task.row_count * i / blocks;
    Part part{row, task.row_count * (i + 1) / blocks - row, first, 0, task.inputs};
    for (; part.panel + PANELS <= last; part.panel += PANELS) multiply_part<Panels, ROWS, PANELS>(task, part);
    for (; part.panel < last; ++part.panel) multiply_part<Panels, ROWS, 1>(task, part);
  }
}

template <class Panels>
inline void multiply_any(const LinearTask& task, int64_t first, int64_t last) {
  if (task.row_count <= kFewRows)
    multiply_range<Panels, kFewRows, kPanelsAtFewRows>(task, first, last);
  else
    multiply_range<Panels, kRowTile, kPanelsAtManyRows>(task, first, last);
}

void linear(const LinearTask& task, int64_t first, int64_t last) {
  task.is_bf16 ? multiply_any<Bf16Panels>(task, first, last) : multiply_any<Fp32Panels>(task, first, last);
}

}  // namespace
}  // namespace temp0
