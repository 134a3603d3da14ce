// The amx path: the avx512 path, but for products of bf16 rows with bf16 weights, which the tile unit takes.
//
// Invariant: no template or inline function of the standard library is instantiated here, since the linker would
// keep one copy for all paths.
#include <math.h>

#include "lanes_avx512.hpp"
// The products are written over tiles, and end in those lanes.
#include "linear_tiles.hpp"

namespace temp0 {

extern const KernelTable avx512_kernels;

namespace {

// One to three rows leave the tiles nearly empty, and the lanes read the weights a little faster.
constexpr int64_t kTooFewRows = 3;

void linear_on_either(const LinearTask& task, int64_t first, int64_t last) {
  const bool on_tiles = task.narrow != nullptr && task.row_count > kTooFewRows;
  on_tiles ? linear_tiles(task, first, last) : avx512_kernels.linear(task, first, last);
}

bool narrow_enough(const float* x, int64_t rows, int64_t inputs, uint16_t* to) {
  return rows > kTooFewRows && narrow(x, rows, inputs, to);
}

}  // namespace

KernelTable amx_kernels() {
  KernelTable table = avx512_kernels;
  table.name = "amx";
  table.linear = linear_on_either;
  table.narrow = narrow_enough;
  return table;
}

}  // namespace temp0
