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
    """Copy weight[N,K] into panels of 16 outputs and whole groups of 32 inputs.

    Rounded to nearest even where `dtype` is bf16. ValueError for an empty matrix or another dtype.
    """
    return _native.pack(weight, dtype)


def linear(x: Floats, weight: PackedLinear, out: Floats, *, rounded: bool = False) -> None:
    """Write x[M,K] times the transpose of weight[N,K] to out[M,N], which must not share memory with `x`.

    Order: inputs in groups of 32; in each, one chain of fused multiply-adds from 0 over the even inputs and one over
    the odd; the two are added, and groups are added in order to a total from 0. Subnormal numbers count as 0. That is
    the order of the tile unit (AMX, TDPBF16PS), which takes rows that hold bf16 numbers; any other processor, and any
    other row, takes it too. With `rounded` the sums are then rounded to the nearest bf16, ties to even.

    Error against float64, as a fraction of |x| |w|: at most 8e-8, and 1.3e-8 in the root mean square, for K from 64 to
    16,384 (3e-8 and 4e-9 from 1,536 on). A NaN or infinity in a row of x spoils that row of out only.
    """
    _native.linear(x, weight, out, rounded)
