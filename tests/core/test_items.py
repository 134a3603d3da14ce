"""Scored items under two settings: flips, noise of repeats, noise of items."""

from __future__ import annotations

import numpy as np
import pytest

from temp0.core.items import Scored, items_pairing


def right(score: float, text: str = "") -> Scored:
    return Scored(text=text or str(score), score=score)


def single(scores):
    return {f"q{place:03}": [right(score)] for place, score in enumerate(scores)}


def case_38():
    """164 items, 52 right then 50: three flip up and five down."""
    before = [1] * 52 + [0] * 112
    after = [0] * 5 + [1] * 47 + [1] * 3 + [0] * 109
    return single(before), single(after)


def test_flips_are_counted_and_not_only_their_net():
    found = items_pairing(*case_38())
    assert (found.items, len(found.up), len(found.down)) == (164, 3, 5)
    assert (round(found.a.score, 4), round(found.b.score, 4)) == (0.3171, 0.3049)
    assert found.difference == pytest.approx(-2 / 164)


def test_a_change_inside_its_noise_is_no_evidence():
    found = items_pairing(*case_38())
    assert found.p_items == pytest.approx(0.727, abs=0.01)  # a sign test of 3 against 5
    assert not found.is_beyond_noise
    assert found.p_repeats is None


def test_a_change_beyond_its_noise_is_found():
    found = items_pairing(single([1] * 37 + [0] * 63), single([0] * 9 + [1] * 28 + [0] * 63))
    assert found.is_beyond_noise
    assert found.p_items == pytest.approx(2 / 2**9)


def test_repeats_tell_a_setting_that_only_wobbles_from_one_that_changed():
    noise = np.random.default_rng(3)
    wobbling = [
        {f"q{item}": [right(float(bit)) for bit in noise.integers(0, 2, 8)] for item in range(30)} for _ in "ab"
    ]
    assert items_pairing(*wobbling).p_repeats > 0.05
    changed = ({f"q{item}": [right(1.0)] * 4 for item in range(9)}, {f"q{item}": [right(0.0)] * 4 for item in range(9)})
    assert items_pairing(*changed).p_repeats < 0.001


def test_the_score_that_luck_could_give_lies_between_the_worst_and_the_best_answers():
    items = {"a": [right(1, "x"), right(0, "y")], "b": [right(1, "z"), right(1, "z")], "c": [right(0), right(0)]}
    side = items_pairing(items, items).a
    assert (side.lowest, side.score, side.highest) == (pytest.approx(1 / 3), 0.5, pytest.approx(2 / 3))
    assert (side.same_text, side.same_score) == (pytest.approx(2 / 3), pytest.approx(2 / 3))


def test_equal_scores_of_unlike_texts_are_told_apart():
    items = {"a": [right(1, "x"), right(1, "y")]}
    side = items_pairing(items, items).a
    assert (side.same_text, side.same_score) == (0.0, 1.0)


def test_two_equal_settings_have_no_change_at_all():
    found = items_pairing(single([1, 0, 1]), single([1, 0, 1]))
    assert (found.difference, found.p_items, found.up, found.down) == (0.0, 1.0, (), ())


def test_the_order_of_items_changes_nothing():
    a, b = case_38()
    turned = items_pairing(dict(reversed(a.items())), b)
    assert (turned.difference, turned.up, turned.down) == (
        items_pairing(a, b).difference,
        items_pairing(a, b).up,
        items_pairing(a, b).down,
    )
