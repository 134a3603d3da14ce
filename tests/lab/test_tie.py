"""The argmax that flips: formats round as the hardware does, and `flip` is where the other token wins."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from temp0.errors import UsageError
from temp0.lab.tie import BF16, FORMATS, FP16, FP32, Format, stored_pair

logits = st.floats(-100, 100, allow_nan=False).filter(lambda value: abs(value) > 1e-3)
formats = st.sampled_from(FORMATS)


@given(value=logits)
def test_fp32_and_fp16_round_as_numpy_does(value: float) -> None:
    assert FP32.rounded(value) == float(np.float32(value))
    assert FP16.rounded(value) == float(np.float16(value))


@given(value=logits)
def test_bf16_is_the_nearest_of_the_numbers_with_16_low_bits_clear(value: float) -> None:
    below = np.array(np.float32(value).view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32).item()
    above = below + math.copysign(BF16.unit(below), below)
    nearest = min(abs(below - value), abs(above - value))
    assert abs(BF16.rounded(value) - value) <= nearest
    assert np.float32(BF16.rounded(value)).view(np.uint32) & 0xFFFF == 0


@pytest.mark.parametrize(("value", "unit"), [(16.0, 0.125), (21.4, 0.125), (40.0, 0.25), (64.0, 0.5)])
def test_the_unit_in_the_last_place_grows_with_magnitude(value: float, unit: float) -> None:
    assert BF16.unit(value) == unit
    assert BF16.unit(-value) == unit


def test_bf16_makes_a_tie_of_logits_that_differ() -> None:
    pair = stored_pair(21.40, 21.33, BF16)
    assert (pair.first, pair.second, pair.is_tie) == (21.375, 21.375, True)


def test_the_public_pair_is_two_numbers_in_fp32_and_one_in_16_bits() -> None:
    pairs = {stored_in.name: stored_pair(-2.7391, -2.7392, stored_in) for stored_in in FORMATS}
    assert {name: pair.is_tie for name, pair in pairs.items()} == {"fp32": False, "fp16": True, "bf16": True}
    assert pairs["fp32"].units_apart == 420
    assert pairs["bf16"].unit == 2**-6


def test_one_rounding_flips_a_tie_and_hundreds_are_needed_in_fp32() -> None:
    flips = {stored_in.name: stored_pair(-2.7391, -2.7392, stored_in).flip_units for stored_in in FORMATS}
    assert flips["fp32"] > 400
    assert 0 < flips["fp16"] < 1
    assert 0 < flips["bf16"] < 1


@given(first=logits, second=logits, stored_in=formats)
def test_a_change_beyond_flip_lets_the_other_token_win_and_a_smaller_one_does_not(
    first: float, second: float, stored_in: Format
) -> None:
    assume(first > second)
    flip = stored_pair(first, second, stored_in).flip

    def second_wins(change: float) -> bool:
        raised = stored_in.rounded(second + change) > stored_in.rounded(first)
        lowered = stored_in.rounded(first - change) < stored_in.rounded(second)
        return raised or lowered

    slack = stored_in.unit(max(abs(first), abs(second))) * 2**-8
    assert second_wins(flip + slack)
    assert flip < slack or not second_wins(flip - slack)


@pytest.mark.parametrize(("first", "second"), [(1.0, 2.0), (1.0, 1.0), (math.nan, 1.0)])
def test_a_first_logit_that_is_not_the_larger_is_refused(first: float, second: float) -> None:
    with pytest.raises(UsageError, match="the first logit must be the larger"):
        stored_pair(first, second, BF16)
