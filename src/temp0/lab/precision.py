"""The number formats of kernels: what a number becomes in each, and what a kernel's masks and units can be in it.

Rounding is to nearest, ties to even. numpy has no bfloat16, so its numbers are carried as float32.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

from temp0.errors import UsageError

Floats = NDArray[np.floating[Any]]
Dtype = Literal["float64", "float32", "bfloat16", "float16"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Precision:
    """A format with `bits` of significand, the hidden one included, carried in arrays of numpy's `carrier`.

    `mask` is a number of the format so large that `mask + n * unit` is `mask` again for every count n up to
    `exact_count`, in an accumulator of float64 or less (float16: of float32 or less).
    """

    name: Dtype
    bits: int
    carrier: DTypeLike
    mask: float
    unit: float

    @property
    def exact_count(self) -> int:
        """How many units can be counted without rounding."""
        return int(2**self.bits)

    def rounded(self, values: Floats) -> Floats:
        """The nearest numbers of this format; from float64, or exact ones of less."""
        if self.name != "bfloat16":
            return values.astype(self.carrier)
        single = np.ascontiguousarray(_to_odd(values))
        bits = single.view(np.uint32)
        kept = (bits + np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))) & np.uint32(0xFFFF0000)
        return np.where(np.isnan(single), single, kept.view(np.float32))


def _to_odd(values: Floats) -> NDArray[np.float32]:
    """float32 by rounding to odd, so that rounding once more to fewer bits rounds as if at once."""
    single = values.astype(np.float32)
    if values.dtype != np.float64:
        return single
    back = single.astype(np.float64)
    bits = single.view(np.int32)
    toward = np.where((values > back) == (back >= 0), 1, -1).astype(np.int32)
    is_off = (back != values) & (bits & 1 == 0) & np.isfinite(values)
    return np.where(is_off, bits + toward, bits).astype(np.int32).view(np.float32)


# The masks are far from overflow even when a million of them met. The units of float16 are its smallest number, so
# that a float32 accumulator, which holds 24 bits, still absorbs 2,048 of them beside the largest power of two.
_PRECISIONS = (
    Precision(name="float64", bits=53, carrier=np.float64, mask=2.0**900, unit=1.0),
    Precision(name="float32", bits=24, carrier=np.float32, mask=2.0**100, unit=1.0),
    Precision(name="bfloat16", bits=8, carrier=np.float32, mask=2.0**100, unit=1.0),
    Precision(name="float16", bits=11, carrier=np.float16, mask=2.0**15, unit=2.0**-24),
)
PRECISIONS: dict[str, Precision] = {one.name: one for one in _PRECISIONS}


def precision(name: str) -> Precision:
    """The format of that name; UsageError says what there is."""
    if name not in PRECISIONS:
        raise UsageError(f"dtype is {name!r}, expected one of: {', '.join(PRECISIONS)}")
    return PRECISIONS[name]
