"""Permutation tests: exact values by hand, margins fixed, no false alarms beyond their level."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest

from temp0.core.comparison import Stratum, across, change, holm, kinds, p_value, stratum


def two_sides(a: list[list[int]], b: list[list[int]]) -> Stratum | None:
    """Blocks of two conditions, each a row of counts by text."""
    return kinds(np.array([*a, *b])).stratum(np.array([0] * len(a) + [1] * len(b)))


def exact_by_hand(rows: np.ndarray, size: int) -> float:
    """The same p by visiting every relabelling of blocks, pairs across the sides one by one."""
    shares = rows / rows.sum(axis=1, keepdims=True)
    similar = shares @ shares.T

    def identity(side: tuple[int, ...]) -> float:
        others = [place for place in range(len(rows)) if place not in side]
        return float(sum(similar[i, j] for i in side for j in others))

    seen = identity(tuple(range(size)))
    labellings = list(combinations(range(len(rows)), size))
    return sum(identity(side) <= seen + 1e-9 for side in labellings) / len(labellings)


def test_one_text_alone_and_another_in_company_has_the_smallest_p_there_is() -> None:
    parted = two_sides([[1, 0]] * 4, [[0, 8]] * 2)
    assert parted is not None
    assert p_value([parted], seed=0) == pytest.approx(1 / comb(6, 2))
    assert parted.least_p == pytest.approx(1 / comb(6, 2))


def test_equal_sides_have_twice_the_smallest_p() -> None:
    parted = two_sides([[1, 0]] * 4, [[0, 8]] * 4)
    assert parted is not None
    assert p_value([parted], seed=0) == pytest.approx(2 / comb(8, 4))


@pytest.mark.parametrize("seed", range(8))
def test_tables_of_kinds_give_what_visiting_every_relabelling_gives(seed: int) -> None:
    rows = np.random.default_rng(seed).multinomial(4, [0.6, 0.3, 0.1], size=9)
    part = kinds(rows).stratum(np.array([0] * 4 + [1] * 5))
    expected = exact_by_hand(rows, 4)
    assert part is None or p_value([part], seed=0) == pytest.approx(expected)


def test_blocks_that_are_all_alike_or_all_unlike_have_nothing_to_permute() -> None:
    assert two_sides([[1, 0]] * 3, [[1, 0]] * 3) is None
    assert two_sides([[1, 0, 0, 0], [0, 1, 0, 0]], [[0, 0, 1, 0], [0, 0, 0, 1]]) is None


def test_a_label_that_all_blocks_share_has_nothing_to_permute() -> None:
    assert kinds(np.eye(2, dtype=np.int64)).stratum(np.array([0, 0])) is None


def test_texts_seen_once_are_one_kind_of_block() -> None:
    sorted_blocks = kinds(np.eye(500, dtype=np.int64))
    assert sorted_blocks.similar.shape == (1, 1)


def test_weak_signs_of_several_prompts_add_up() -> None:
    parted = two_sides([[1, 0]] * 4, [[0, 1]] * 2)
    assert parted is not None
    p = p_value([parted] * 3, seed=0)
    assert p is not None
    assert p < 0.01 < 1 / 15


def test_a_sampled_p_is_never_zero() -> None:
    parted = two_sides([[1, 0]] * 40, [[0, 1]] * 40)
    assert parted is not None
    p = p_value([parted] * 3, seed=0)
    assert p == pytest.approx(1 / 5000)


def test_no_strata_have_no_p() -> None:
    assert p_value([], seed=0) is None


def test_alarms_on_blocks_that_differ_in_nothing_keep_to_their_level() -> None:
    random = np.random.default_rng(7)
    alarms = 0
    for seed in range(400):
        rows = random.multinomial(8, [0.5, 0.3, 0.2], size=16)
        part = kinds(rows).stratum(np.array([0] * 8 + [1] * 8))
        p = p_value([part], seed=seed) if part else 1.0
        alarms += p is not None and p <= 0.05
    assert alarms <= 30  # 5 % of 400 is 20; 30 is the 98.5 % point of the binomial


def in_time(texts: str) -> Stratum:
    """One attempt after the other, each a stretch of time of its own."""
    columns = {text: place for place, text in enumerate(sorted(set(texts)))}
    rows = np.zeros((len(texts), len(columns)), dtype=np.int64)
    rows[np.arange(len(texts)), [columns[text] for text in texts]] = 1
    part = kinds(rows).stratum(np.arange(len(texts)))
    assert part is not None
    return part


def p_in_time(texts: str) -> float:
    p = p_value([in_time(texts)], seed=0, statistic=change)
    assert p is not None
    return p


def test_a_change_that_stays_is_told_from_one_that_comes_and_goes() -> None:
    assert p_in_time("A" * 15 + "B" * 15) < 0.001
    assert p_in_time("AABABBABABABBAABABABABBAABABAB") > 0.2


def test_a_rate_that_drifts_is_seen() -> None:
    assert p_in_time("AAAAAAAAAAAABAAAABAABABABBBBABBBBB") < 0.01


def test_time_alone_says_nothing_across_labels_of_one_block_each() -> None:
    part = in_time("AAAABBBB")
    assert across(part, part.counts[None].astype(float)).shape == (1,)
    assert p_value([part], seed=0, statistic=across) == 1.0


def test_a_stratum_leaves_out_kinds_that_no_label_has() -> None:
    part = stratum(np.array([[2, 0, 0], [0, 0, 2]]), np.eye(3))
    assert part is not None
    assert part.counts.tolist() == [[2, 0], [0, 2]]


def test_holm_keeps_the_order_given_and_what_was_not_tested() -> None:
    assert holm([0.04, None, 0.01]) == [0.04, None, 0.02]
