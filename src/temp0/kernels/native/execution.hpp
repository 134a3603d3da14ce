// Runs a kernel's tasks: here with the GIL held where they are tiny, else over the pool without the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include "pool.hpp"

namespace temp0 {

// `nanoseconds` is a rough estimate for all tasks together; ranges begin at multiples of `unit`.
template <class Function>
void execute(int64_t count, double nanoseconds, int64_t unit, const Function& function) {
  const TaskBody body = [](const void* context, int64_t first, int64_t last) {
    (*static_cast<const Function*>(context))(first, last);
  };
  if (nanoseconds < kTinyNanoseconds) return run_here(count, body, &function);
  const nanobind::gil_scoped_release release;
  run_tasks(count, unit, body, &function);
}

}  // namespace temp0
