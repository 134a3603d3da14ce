// The instruction-set path of this process.
//
// Invariant: chosen once, at the first kernel call: the widest that the processor has, or what TEMP0_ISA names.
#pragma once

#include "kernel_table.hpp"

namespace temp0 {

// Throws UsageProblem where TEMP0_ISA names a path that is unknown or cannot run here.
const KernelTable& kernels();

}  // namespace temp0
