// Products on the tile unit of x86 (AMX): the same sums as linear.hpp, sixteen rows by sixteen outputs at once.
//
// Invariant: one TDPBF16PS is exactly one group of the documented order: it makes the two chains, adds them, and adds
// that to the total (Intel's manual, operation of TDPBF16PS). It takes subnormals as 0, as every path does.
#pragma once

#include <immintrin.h>

#include "linear_store.hpp"

namespace temp0 {
namespace {

constexpr int64_t kTileRows = 16;
// Two tiles of rows by two panels keep four sums on their way, as do one tile by four panels.
constexpr int64_t kRowsAtTiles = 2 * kTileRows;
constexpr int64_t kPanelBytes = kInputGroup * kPanel * 2;

struct alignas(64) TileShapes {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t column_bytes[16] = {};
  uint8_t rows[16] = {};

  void set(int tile, int64_t row_count) {
    rows[tile] = static_cast<uint8_t>(row_count);
    column_bytes[tile] = row_count > 0 ? 64 : 0;
  }
};

// Tiles 0-3 hold sums, 4 and 5 rows of x (upper and lower), 6 and 7 panels; gives the unit back at its end.
class TileUnit {
 public:
  ~TileUnit() { _tile_release(); }

  void shape(int64_t upper, int64_t lower) {
    if (upper == upper_ && lower == lower_) return;
    upper_ = upper;
    lower_ = lower;
    TileShapes shapes;
    const bool is_wide = lower == 0;
    for (int tile = 0; tile < 4; ++tile) shapes.set(tile, tile < 2 || is_wide ? upper : lower);
    shapes.set(4, upper);
    shapes.set(5, lower);
    for (int tile = 6; tile < 8; ++tile) shapes.set(tile, kTileRows);
    _tile_loadconfig(&shapes);
  }

 private:
  int64_t upper_ = -1, lower_ = -1;
};

struct alignas(64) TileSums {
  float at[4][kTileRows][kPanel];
};

// What a block of rows reads: its x, and the first of its panels.
struct TileBlock {
  const uint16_t* x;
  int64_t stride, groups;
  const char* panels;
  int64_t panel_stride;

  const uint16_t* upper(int64_t group) const { return x + group * kInputGroup; }
  const uint16_t* lower(int64_t group) const { return upper(group) + kTileRows * stride; }
  const char* panel(int64_t index, int64_t group) const {
    const char* here = panels + index * panel_stride + group * kPanelBytes;
    for (int64_t line = 0; line < kPanelBytes; line += 64) _mm_prefetch(here + 2 * kPanelBytes + line, _MM_HINT_T0);
    return here;
  }
};

// Up to 32 rows by two panels.
inline void sum_square(const TileBlock& block, TileSums& sums) {
  const int64_t bytes = block.stride * 2;
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (int64_t group = 0; group < block.groups; ++group) {
    _tile_loadd(6, block.panel(0, group), 64);
    _tile_loadd(4, block.upper(group), bytes);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(7, block.panel(1, group), 64);
    _tile_dpbf16ps(1, 4, 7);
    _tile_loadd(5, block.lower(group), bytes);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_stored(0, sums.at[0], 64);
  _tile_stored(1, sums.at[1], 64);
  _tile_stored(2, sums.at[2], 64);
  _tile_stored(3, sums.at[3], 64);
}

// Up to 16 rows by PANELS panels.
template <int PANELS>
inline void sum_line(const TileBlock& block, TileSums& sums) {
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (int64_t group = 0; group < block.groups; ++group) {
    _tile_loadd(4, block.upper(group), block.stride * 2);
    _tile_loadd(6, block.panel(0, group), 64);
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (PANELS > 1) {
      _tile_loadd(7, block.panel(1, group), 64);
      _tile_dpbf16ps(1, 4, 7);
    }
    if constexpr (PANELS > 2) {
      _tile_loadd(6, block.panel(2, group), 64);
      _tile_dpbf16ps(2, 4, 6);
      _tile_loadd(7, block.panel(3, group), 64);
      _tile_dpbf16ps(3, 4, 7);
    }
  }
  _tile_stored(0, sums.at[0], 64);
  if constexpr (PANELS > 1) _tile_stored(1, sums.at[1], 64);
  if constexpr (PANELS > 2) {
    _tile_stored(2, sums.at[2], 64);
    _tile_stored(3, sums.at[3], 64);
  }
}

inline void store_sums(const LinearTask& task, const float (*rows)[kPanel], int64_t row, int64_t count, int64_t panel) {
  for (int64_t i = 0; i < count; ++i) store_panel(task, row + i, panel, load(rows[i]));
}

// Rows from `row` on, at most 32, by `panels` panels: at most four, and two where there are more than 16 rows.
inline void multiply_block(const LinearTask& task, TileUnit& unit, int64_t row, int64_t panel, int64_t panels) {
  const int64_t left = task.row_count - row;
  const int64_t upper = left < kTileRows ? left : kTileRows;
  const int64_t rest = left - upper < kTileRows ? left - upper : kTileRows;
  const int64_t lower = panels == 2 ? rest : 0;
  const int64_t stride = whole_groups(task.inputs), panel_stride = stride / kInputGroup * kPanelBytes;
  const TileBlock block{task.narrow + row * stride, stride, stride / kInputGroup,
                        static_cast<const char*>(task.panels) + panel * panel_stride, panel_stride};
  TileSums sums;
  unit.shape(upper, lower);
  if (lower > 0) {
    sum_square(block, sums);
    for (int64_t i = 0; i < 2; ++i) store_sums(task, sums.at[2 + i], row + upper, lower, panel + i);
  } else if (panels == 4) {
    sum_line<4>(block, sums);
  } else if (panels == 2) {
    sum_line<2>(block, sums);
  } else {
    sum_line<1>(block, sums);
  }
  for (int64_t i = 0; i < panels; ++i) store_sums(task, sums.at[i], row, upper, panel + i);
}

void linear_tiles(const LinearTask& task, int64_t first, int64_t last) {
  const bool is_line = task.row_count <= kTileRows;
  TileUnit unit;
  int64_t panel = first;
  while (panel < last) {
    const int64_t left = last - panel;
    const int64_t panels = is_line && left >= 4 ? 4 : left >= 2 ? 2 : 1;
    const int64_t step = panels == 2 ? kRowsAtTiles : kTileRows;
    for (int64_t row = 0; row < task.row_count; row += step) multiply_block(task, unit, row, panel, panels);
    panel += panels;
  }
}

// Sixteen numbers at a time, cut to their upper halves; any bit in a lower half says that x was not bf16.
bool narrow(const float* x, int64_t rows, int64_t inputs, uint16_t* to) {
  const int64_t stride = whole_groups(inputs);
  __m512i lost = _mm512_setzero_si512();
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t i = 0; i < stride; i += kLanes) {
      const int64_t count = inputs - i;
      const __mmask16 mask = lane_mask(static_cast<int>(count < 0 ? 0 : count < kLanes ? count : kLanes));
      const __m512i bits = _mm512_maskz_loadu_epi32(mask, x + row * inputs + i);
      lost = _mm512_or_si512(lost, _mm512_slli_epi32(bits, 16));
      const __m256i upper = _mm512_cvtepi32_epi16(_mm512_srli_epi32(bits, 16));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + row * stride + i), upper);
    }
  return _mm512_test_epi32_mask(lost, lost) == 0;
}

}  // namespace
}  // namespace temp0
