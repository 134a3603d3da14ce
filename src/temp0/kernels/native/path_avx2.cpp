// The avx2 path: every kernel compiled over the lanes of this instruction set, and nothing else exported.
//
// Invariant: no template or inline function of the standard library is instantiated here, since the linker would
// keep one copy for all paths.
#include <math.h>

#include "lanes_avx2.hpp"
// The kernels are written over those lanes.
#include "attention.hpp"
#include "elementwise.hpp"
#include "linear.hpp"
#include "qkv.hpp"
#include "row_reduction.hpp"

namespace temp0 {

extern const KernelTable avx2_kernels;
const KernelTable avx2_kernels = {
    "avx2", round_bf16, rms_norm, add_rms_norm, silu_multiply, rotate, place_qkv,
    argmax, softmax, log_softmax, attention, linear, nullptr,
};

}  // namespace temp0
