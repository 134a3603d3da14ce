"""Scored items under two settings: flips, noise of repeats, noise of items."""

from __future__ import annotations

from itertools import product

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


def answers(*texts: str, parsed=None):
    return [Scored(text=text, score=float(text == "right"), parsed=parsed and parsed(text)) for text in texts]


def test_the_rates_of_total_agreement_are_those_of_their_paper_counted_by_hand():
    """arXiv 2408.04667: the share of questions whose N answers are all one string, raw (r) or as parsed (a)."""
    items = {
        "all one text": answers("It is 4.", "It is 4.", "It is 4.", parsed=lambda text: "4"),
        "other words, one answer": answers("It is 4.", "4", "Four: 4", parsed=lambda text: "4"),
        "two answers": answers("It is 4.", "It is 4.", "It is 5.", parsed=lambda text: text[-2]),
    }
    side = items_pairing(items, items).a
    assert side.repeats == 3
    assert side.same_text == pytest.approx(1 / 3)
    assert side.same_parsed == pytest.approx(2 / 3)
    assert side.same_score == 1.0


def test_an_item_with_more_answers_than_the_others_is_not_held_to_all_of_them():
    items = {"two": answers("a", "a"), "four": answers("b", "b", "b", "c")}
    side = items_pairing(items, items).a
    assert (side.repeats, side.same_text) == (2, pytest.approx((1 + 3 / 6) / 2))


def test_an_item_with_one_answer_tells_nothing_about_repeats():
    side = items_pairing(*[{"one": answers("a"), "three": answers("b", "b", "b")}] * 2).a
    assert (side.repeats, side.same_text) == (3, 1.0)


def test_one_score_for_all_answers_of_an_item_says_nothing_of_each():
    item = [Scored(text="a", score=1.0), Scored(text="b", score=None)]
    found = items_pairing({"q": item}, {"q": item})
    assert (found.a.score, found.a.same_text, found.a.same_score, found.p_repeats) == (1.0, 0.0, None, None)


def test_items_without_a_score_on_one_side_are_left_out_and_named():
    found = items_pairing({"q1": answers("right"), "q2": answers("right")}, {"q1": answers("right"), "q2": []})
    assert (found.items, found.left_out) == (1, ("q2",))
    assert items_pairing({"q1": answers("a")}, {"q1": []}) is None


def test_few_changes_are_tested_exactly_whatever_their_sizes():
    before = single([0.0, 0.0, 0.0, 0.0])
    after = single([0.5, 0.5, 1.0, 1.0])
    assert items_pairing(before, after).p_items == pytest.approx(2 / 16)
    mixed = single([0.5, -0.5, 1.0, 0.0])
    assert items_pairing(before, mixed).p_items == pytest.approx(6 / 8)  # of the 8 sums of 0.5, 0.5, 1, six are not 0


def simulated(seed: int, *, shift: float = 0.0, items: int = 40, repeats: int = 3):
    noise = np.random.default_rng(seed)
    chances = noise.beta(0.4, 0.4, items)
    sides = (chances, np.minimum(1, chances + shift))
    return [
        {
            f"q{place}": [right(float(bit)) for bit in noise.random(repeats) < chance]
            for place, chance in enumerate(side)
        }
        for side in sides
    ]


def test_noise_alone_is_taken_for_a_change_no_more_often_than_stated():
    """Of 300 pairs without any change 15 are expected at 5 %; more than 24 has a chance of 1 %."""
    found = [items_pairing(*simulated(seed), seed=seed) for seed in range(300)]
    assert sum(one.is_beyond_noise for one in found) <= 24
    assert sum(one.p_repeats <= 0.05 for one in found) <= 24


def test_a_change_of_the_detectable_size_is_found_about_four_times_of_five():
    found = [items_pairing(*simulated(seed, shift=0.3), seed=seed) for seed in range(60)]
    sizes = [one.difference / one.detectable for one in found]
    assert 0.8 < np.mean(sizes) < 2.0
    assert np.mean([one.is_beyond_noise for one in found]) > 0.8


def test_one_model_whose_batch_sways_its_score_by_nine_points_has_not_changed():
    """The public finding: accuracy swayed by up to 9 % and length by thousands with batch and precision alone."""
    noise = np.random.default_rng(57)
    chances = noise.choice([0.0, 0.5, 1.0], size=60, p=[0.2, 0.6, 0.2])  # six of ten items at the edge, as in reasoning
    one_each = [
        {
            f"q{place}": [right(float(bit), "x" * int(size))]
            for place, (bit, size) in enumerate(zip(*drawn, strict=True))
        }
        for drawn in ((noise.random(60) < chances, noise.lognormal(8.5, 0.5, 60)) for _ in range(12))
    ]
    scores = [items_pairing(one, one).a.score for one in one_each]
    low, high = np.argmin(scores), np.argmax(scores)
    found = items_pairing(one_each[low], one_each[high])
    assert found.difference > 0.09
    repeated = {name: [one[name][0] for one in one_each] for name in one_each[0]}
    side = items_pairing(repeated, repeated).a
    assert side.highest - side.lowest > 0.5
    halves = [{name: own[:6] for name, own in repeated.items()}, {name: own[6:] for name, own in repeated.items()}]
    judged = items_pairing(*halves)
    assert not judged.is_beyond_noise
    assert judged.p_repeats > 0.05
    assert side.length.max - side.length.min > 9_000


def test_many_changes_of_unlike_sizes_are_drawn_and_come_near_the_exact_chance():
    sizes = np.arange(1, 15) / 16  # 2 to the 14 signs are more than are enumerated
    changes = sizes * np.where(np.arange(14) % 3, 1, -1)
    signs = np.array(list(product((-1, 1), repeat=14)))
    exact = np.mean(np.abs(signs @ sizes) >= changes.sum() - 1e-9)
    found = items_pairing(single([0.0] * 14), single(changes))
    assert 0.05 < exact < 0.5
    assert found.p_items == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 9_999))
