"""Products of rows with packed weights, in one order whatever the number of rows.

An output's bits depend on its own row and its own weights: never on the other rows, the row's place, threads, or
the width of the processor's registers.
"""

from typing import Literal

from temp0.kernels import _native
from temp0.kernels._native import PackedLinear
from temp0.kernels.array import Floats

__all__ = ["PackedLinear", "linear", "pack"]


def pack(weight: Floats, *, dtype: Literal["bf16", "fp32"] = "bf16") -> PackedLinear:
    """Copy weight[N,K] into panels of 16 outputs, rounded to nearest even where `dtype` is bf16.

    ValueError for an empty matrix or another dtype.
    """
    return _native.pack(weight, dtype)


def linear(x: Floats, weight: PackedLinear, out: Floats) -> None:
    """Write x[M,K] times the transpose of weight[N,K] to out[M,N], which must not share memory with `x`.

    Order: inputs in blocks of 256; in each, one chain of fused multiply-adds from 0 by input; blocks added in order.
    Error against float64, as a fraction of |x| |w|: at most 2e-7, and 2e-8 in the root mean square, for K from 64 to
    16,384 (2e-8 and 3e-9 at 16,384). A NaN or infinity in a row of x spoils that row of out only.
    """
    _native.linear(x, weight, out)
