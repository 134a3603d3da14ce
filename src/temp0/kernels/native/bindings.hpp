// The parts of the module `temp0.kernels._native`.
#pragma once

#include <nanobind/nanobind.h>

namespace temp0 {

void bind_rows(nanobind::module_& module);
void bind_attention(nanobind::module_& module);
void bind_linear(nanobind::module_& module);

}  // namespace temp0
