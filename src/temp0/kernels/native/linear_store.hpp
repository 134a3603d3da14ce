// How a product leaves the registers: shared by the products on lanes and on tiles.
#pragma once

#include "kernel_table.hpp"

namespace temp0 {
namespace {

// Writes one row of one panel, rounded where that is asked for.
inline void store_panel(const LinearTask& task, int64_t row, int64_t panel, Lanes total) {
  float* out = task.out + row * task.outputs + panel * kPanel;
  const int64_t count = task.outputs - panel * kPanel;
  const Lanes value = task.is_rounded ? nearest_bf16(total) : total;
  count >= kLanes ? store(out, value) : store_partial(out, value, static_cast<int>(count));
}

}  // namespace
}  // namespace temp0
