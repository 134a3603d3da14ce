"""Rounding to each format: to nearest, ties to even, from float64 at once."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from temp0.errors import UsageError
from temp0.lab.precision import PRECISIONS, precision


def nearest(value: float, bits: int) -> float:
    """By exact fractions, for normal numbers: the multiple of the unit, ties to the even one."""
    exact = Fraction(value)
    exponent = np.frexp(value)[1]
    unit = Fraction(2) ** int(exponent - bits)
    return float(round(exact / unit) * unit)


@given(st.floats(1e-3, 1e4) | st.floats(-1e4, -1e-3))
@settings(max_examples=300, deadline=None)
def test_rounding_is_to_the_nearest_number_of_the_format(value: float) -> None:
    for one in PRECISIONS.values():
        assert float(one.rounded(np.array([value]))[0]) == nearest(value, one.bits)


@pytest.mark.parametrize("name", ["bfloat16", "float16", "float32"])
def test_a_tie_that_only_float64_can_tell_apart_is_not_rounded_twice(name: str) -> None:
    one = precision(name)
    half_way = 1 + 2.0**-one.bits
    assert one.rounded(np.array([half_way]))[0] == 1
    assert one.rounded(np.array([np.nextafter(half_way, 2)]))[0] == 1 + 2.0 ** (1 - one.bits)
    assert one.rounded(np.array([-np.nextafter(half_way, 2)]))[0] == -1 - 2.0 ** (1 - one.bits)


@pytest.mark.parametrize("name", PRECISIONS)
def test_a_mask_swallows_every_count_of_units_that_the_format_holds(name: str) -> None:
    one = precision(name)
    accumulator = np.float32 if one.bits < 24 else one.carrier
    mask, units = (np.array(number, accumulator) for number in (one.mask, one.exact_count * one.unit))
    assert mask + units == mask
    assert one.rounded(np.array([(one.exact_count - 1) * one.unit]))[0] == (one.exact_count - 1) * one.unit
    assert np.isfinite(np.array(one.mask, one.carrier))


def test_an_unknown_format_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError, match="expected one of: float64, float32, bfloat16, float16"):
        precision("fp8")
