"""The argmax that flips: what the formats of serving make of two nearly equal logits.

A format is only its significand: numbers are rounded to nearest, ties to even, and the exponent is unlimited.
That is exact for logits, which are neither huge nor tiny.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from temp0.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A binary floating-point format with `bits` of significand, the hidden one included."""

    name: str
    bits: int

    def unit(self, value: float) -> float:
        """Return the unit in the last place at `value`: the distance between neighbours in its binade.

        >>> BF16.unit(-2.7391)
        0.015625
        """
        return math.ldexp(1.0, math.frexp(value)[1] - self.bits)

    def rounded(self, value: float) -> float:
        """Return the number of this format that is nearest to `value`.

        >>> BF16.rounded(21.33), BF16.rounded(21.40)
        (21.375, 21.375)
        """
        unit = self.unit(value)
        return round(value / unit) * unit


FP32 = Format(name="fp32", bits=24)
FP16 = Format(name="fp16", bits=11)
BF16 = Format(name="bf16", bits=8)
FORMATS = (FP32, FP16, BF16)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPair:
    """Two logits as one format stores them.

    `flip` is the size of the smallest change to one of the logits *before* rounding beyond which argmax
    chooses the second token. A tie goes to the first token, as numpy's argmax has it.
    """

    format: str
    unit: float
    first: float
    second: float
    flip: float

    @property
    def units_apart(self) -> float:
        """The stored difference in units in the last place."""
        return (self.first - self.second) / self.unit

    @property
    def flip_units(self) -> float:
        """The change that flips the argmax, in units in the last place: rounding errors come in this size."""
        return self.flip / self.unit

    @property
    def is_tie(self) -> bool:
        """Whether the two logits became the same number, so that a tie-break rule chooses the token."""
        return self.first == self.second


def stored_pair(first: float, second: float, stored_in: Format) -> StoredPair:
    """Store two logits, `first` the larger and both finite, and find how little flips their argmax.

    The second token wins once the second logit rounds above the stored first one, or the first below the
    stored second one; each happens at the border half way to the next number. Raises `UsageError` where
    `first` is not the larger.
    """
    if not second < first:
        raise UsageError(f"the first logit must be the larger, but got {first} and {second}")
    high, low = stored_in.rounded(first), stored_in.rounded(second)
    raise_second = high + _half_step(high, stored_in, upward=True) - second
    lower_first = first - (low - _half_step(low, stored_in, upward=False))
    return StoredPair(
        format=stored_in.name,
        unit=stored_in.unit(first),
        first=high,
        second=low,
        flip=min(raise_second, lower_first),
    )


def _half_step(value: float, stored_in: Format, *, upward: bool) -> float:
    """Half the way to the neighbour; toward zero a power of two has its neighbour at half the unit."""
    unit = stored_in.unit(value)
    is_toward_zero = upward == (value < 0)
    is_power_of_two = abs(math.frexp(value)[0]) == 0.5
    return unit / 4 if is_toward_zero and is_power_of_two else unit / 2
