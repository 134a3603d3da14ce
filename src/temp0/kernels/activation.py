"""Rounding to bf16, RMS norm and SiLU, each row or element by itself.

What a kernel writes with `rounded` has the bits that `round_bf16` would make of it afterwards.

Sums are taken over 16 lanes: lane j adds elements j, j+16, j+32, ... one after another, each by a fused
multiply-add, and the lanes meet in a halving tree (lane i + lane i+8, then i+4, i+2, i+1). The exponential is the
Taylor polynomial of degree 7 after reduction by ln 2, in fused multiply-adds, within 1 ulp of exact.
"""

from temp0.kernels import _native
from temp0.kernels.array import Floats


def round_bf16(x: Floats) -> None:
    """Round `x`, of up to four dimensions, in place to the nearest bf16, ties to even.

    NaN stays NaN; a finite number beyond the largest bf16 becomes infinity.
    """
    _native.round_bf16(x)


def rms_norm(x: Floats, weight: Floats, eps: float, out: Floats, *, rounded: bool = False) -> None:
    """Write x[M,D] / sqrt(mean of squares + eps) * weight[D] to out[M,D], which may be `x` itself.

    Order: the sum of squares in the lanes and tree above; divided by D, eps added, square root and reciprocal, each
    rounded once; then (x * that) * weight. Within 4 ulp of float64 for D up to 4,096, and 6 for 16,384. A NaN makes
    its row NaN.
    Source: Zhang and Sennrich, "Root Mean Square Layer Normalization", 2019.
    """
    _native.rms_norm(x, weight, eps, out, rounded)


def add_rms_norm(x: Floats, added: Floats, weight: Floats, eps: float, out: Floats, *, rounded: bool = False) -> None:
    """Add added[M,D] to x[M,D], and write the RMS norm of the sums to out[M,D]; the three share no memory.

    Order: x + added, rounded once, and to bf16 as well where `rounded`; then as `rms_norm`, from those sums.
    """
    _native.add_rms_norm(x, added, weight, eps, out, rounded)


def silu_multiply(gate_up: Floats, out: Floats, *, rounded: bool = False) -> None:
    """Write silu(gate) * up to out[M,F], where gate_up[M,2F] holds gate in its first F columns and up in the rest.

    Order: (gate / (1 + exp(-gate))) * up, each step rounded once. Within 3 ulp of float64 where the result is a
    normal number. A gate of minus infinity gives NaN. Source: Shazeer, "GLU Variants Improve Transformer", 2020.
    """
    _native.silu_multiply(gate_up, out, rounded)
