"""Estimates and tests against computations made here another way, and against simulated truth."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import comb
from statistics import mean, median

import numpy as np
import pytest
from building import ALONE, IN_COMPANY, REFUSED, Outcome, between, built_run, judged, under
from scipy import stats

from temp0.core.analysis import ConditionAnalysis
from temp0.core.estimate import agreement
from temp0.core.judgement import analysis
from temp0.core.plan import Condition

IN_PAIRS = Condition(company=2)


def alone(*texts: Outcome) -> ConditionAnalysis:
    return under(judged({ALONE: texts}), ALONE)


def pooled(*texts: Outcome, company: int = 8) -> ConditionAnalysis:
    condition = Condition(company=company)
    return under(judged({condition: texts}), condition)


# Agreement


@pytest.mark.parametrize("counts", [(9, 1), (5, 5), (3, 2, 1), (1, 1, 1, 1)])
def test_agreement_is_the_share_of_identical_pairs(counts: tuple[int, ...]) -> None:
    texts = [chr(97 + kind) for kind, count in enumerate(counts) for _ in range(count)]
    pairs = list(itertools.combinations(texts, 2))
    estimate = alone(*texts).agreement
    assert estimate is not None
    assert estimate.value == pytest.approx(mean(one == other for one, other in pairs))
    assert estimate.n == len(texts)


@pytest.mark.parametrize("n", [2, 10, 30])
def test_agreement_of_equal_texts_has_the_exact_lower_bound(n: int) -> None:
    estimate = alone(*["a"] * n).agreement
    assert estimate is not None
    assert (estimate.value, estimate.high, estimate.n, estimate.sides) == (1.0, 1.0, n, 1)
    assert estimate.low == pytest.approx(0.05 ** (2 / n))


def test_agreement_of_pools_counts_blocks() -> None:
    estimate = pooled(*["a"] * 30).agreement
    assert estimate is not None
    assert estimate.n == 4
    assert estimate.low == pytest.approx(0.05 ** (2 / 4))


def test_one_block_has_no_interval() -> None:
    estimate = pooled(*["a"] * 8).agreement
    assert estimate is not None
    assert (estimate.value, estimate.low, estimate.high, estimate.n) == (1.0, None, None, 1)
    assert pooled(*["a"] * 8).variant_rate_upper is None


def test_one_block_that_differs_has_no_interval_either() -> None:
    estimate = pooled(*"aaaaaaab").agreement
    assert estimate is not None
    assert estimate.value == pytest.approx(1 - 7 / 28)
    assert (estimate.low, estimate.high) == (None, None)


def test_one_completion_has_no_agreement() -> None:
    assert alone("a").agreement is None


def test_no_completion_has_no_estimate_at_all() -> None:
    found = alone(REFUSED, REFUSED)
    assert (found.agreement, found.modal_share, found.variant_rate_upper, found.length) == (None,) * 4


@pytest.mark.parametrize("texts", ["aaaaaaaaab", "aaaaabbbbb", "abcdefghij", "ab"])
def test_an_interval_holds_its_value_and_is_never_of_zero_width(texts: str) -> None:
    estimate = alone(*texts).agreement
    assert estimate is not None
    assert estimate.low is not None
    assert estimate.high is not None
    assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1
    assert estimate.low < estimate.high
    assert estimate.sides == 2


def test_the_same_run_gives_the_same_interval() -> None:
    run = built_run({"P": {ALONE: list("aaaabbbccd")}})
    assert analysis(run) == analysis(run)


def test_the_interval_of_agreement_covers_the_true_agreement() -> None:
    draw = random.Random(11)
    runs = {f"P{number}": {ALONE: draw.choices("ab", [0.7, 0.3], k=30)} for number in range(150)}
    truth = 0.7**2 + 0.3**2
    covered = 0
    for prompt in analysis(built_run(runs)).prompts:
        estimate = under(prompt, ALONE).agreement
        assert estimate is not None
        assert estimate.low is not None
        assert estimate.high is not None
        covered += estimate.low <= truth <= estimate.high
    assert covered >= 0.85 * len(runs)


def test_the_interval_of_agreement_covers_where_a_pool_shares_one_computation() -> None:
    draw = random.Random(12)
    runs = {
        f"P{number}": {IN_COMPANY: [text for text in draw.choices("ab", [0.7, 0.3], k=20) for _ in range(8)]}
        for number in range(100)
    }
    across_blocks = 0.7**2 + 0.3**2
    covered = 0
    for prompt in analysis(built_run(runs)).prompts:
        estimate = under(prompt, IN_COMPANY).agreement
        assert estimate is not None
        if estimate.low is None or estimate.high is None:
            continue
        truth = 7 / 159 + 152 / 159 * across_blocks
        covered += estimate.low <= truth <= estimate.high
    assert covered >= 0.85 * len(runs)


@pytest.mark.parametrize("pools", [2, 6])
def test_the_interval_of_agreement_covers_where_a_few_pools_compute_one_text_each(pools: int) -> None:
    draw, weights = random.Random(13), [1 / place for place in range(1, 21)]
    across_blocks = sum((weight / sum(weights)) ** 2 for weight in weights)
    same, pairs = pools * comb(8, 2), comb(8 * pools, 2)
    truth = (same + (pairs - same) * across_blocks) / pairs
    covered = 0
    for _ in range(200):
        table = np.zeros((pools, 20), dtype=np.int64)
        table[range(pools), draw.choices(range(20), weights, k=pools)] = 8
        estimate = agreement(table[:, table.any(axis=0)])
        assert estimate is not None
        covered += estimate.low <= truth <= estimate.high
    assert covered >= 0.95 * 200


# Variant rate


@pytest.mark.parametrize(("n", "percent"), [(10, 25.9), (30, 9.5), (100, 2.95), (299, 1.0)])
def test_nothing_seen_in_n_bounds_the_variant_rate(n: int, percent: float) -> None:
    upper = alone(*["a"] * n).variant_rate_upper
    assert upper == pytest.approx(1 - 0.05 ** (1 / n))
    assert upper == pytest.approx(percent / 100, abs=0.0005)


@pytest.mark.parametrize(("variants", "n"), [(1, 10), (3, 30), (4, 9), (12, 30)])
def test_the_variant_rate_is_bounded_as_clopper_and_pearson_do(variants: int, n: int) -> None:
    texts = ["a"] * (n - variants) + [f"v{number}" for number in range(variants)]
    exact = stats.binomtest(variants, n, alternative="less").proportion_ci(0.95, method="exact").high
    assert alone(*texts).variant_rate_upper == pytest.approx(exact)


def test_a_pool_counts_once_however_many_variants_it_holds() -> None:
    pools = ["a"] * 8 + list("aaaabbbb") + ["a"] * 8 + ["a"] * 8
    exact = stats.binomtest(1, 4, alternative="less").proportion_ci(0.95, method="exact").high
    assert pooled(*pools).variant_rate_upper == pytest.approx(exact)


@pytest.mark.parametrize("texts", ["aaaaabbbbb", "aaaabbbccc", "ab"])
def test_without_a_text_that_holds_more_than_half_there_is_no_bound(texts: str) -> None:
    assert alone(*texts).variant_rate_upper is None


def test_a_text_that_holds_one_more_than_half_has_a_bound() -> None:
    assert alone(*"aaaaaabbbb").variant_rate_upper is not None


def test_failures_count_in_no_estimate() -> None:
    found = alone(*["a"] * 10, *[REFUSED] * 5)
    assert found.variant_rate_upper == pytest.approx(1 - 0.05 ** (1 / 10))
    assert found.agreement is not None
    assert found.agreement.n == 10


def test_the_variant_rate_bound_holds_as_often_as_it_promises() -> None:
    draw = random.Random(13)
    runs = {f"P{number}": {ALONE: draw.choices("ab", [0.9, 0.1], k=20)} for number in range(200)}
    uppers = [under(prompt, ALONE).variant_rate_upper for prompt in analysis(built_run(runs)).prompts]
    held = sum(upper is not None and upper >= 0.1 for upper in uppers)
    assert held >= stats.binom.ppf(0.001, len(runs), 0.95)


# Other figures


def test_the_modal_share_and_the_lengths_are_those_of_the_completions() -> None:
    texts = ["é🙂", "é🙂", "abc", "é🙂", "abcdef"]
    found = alone(*texts)
    assert found.modal_share == pytest.approx(3 / 5)
    assert found.length is not None
    assert (found.length.min, found.length.median, found.length.max) == (2, median(map(len, texts)), 6)


def test_total_agreement_is_the_share_of_prompts_with_one_text() -> None:
    observed = {
        "A": {ALONE: ["a"] * 5},
        "B": {ALONE: ["b"] * 5},
        "C": {ALONE: ["c", "c", "c", "d"]},
    }
    found = analysis(built_run(observed)).total_agreement
    assert [(each.condition, each.n, each.prompts) for each in found] == [("alone", 4, 3)]
    assert found[0].value == pytest.approx(2 / 3)


def test_tokens_and_logprobs_that_nobody_told_are_not_measured() -> None:
    distinct = alone("a", "b").distinct
    assert (distinct.text, distinct.tokens, distinct.logprobs) == (2, None, None)


# Between conditions


def test_the_p_of_a_clean_split_is_exact() -> None:
    found = between(judged({ALONE: ["a"] * 4, IN_COMPANY: ["b"] * 24}), ALONE, IN_COMPANY)
    assert found.p == pytest.approx(1 / math.comb(7, 4))


def test_the_p_of_a_clean_split_is_doubled_where_the_sides_are_equal() -> None:
    found = between(judged({ALONE: ["a"] * 4, IN_COMPANY: ["b"] * 32}), ALONE, IN_COMPANY)
    assert found.p == pytest.approx(2 / math.comb(8, 4))
    assert found.p_adjusted == pytest.approx(2 / 70)


def test_the_p_of_sides_that_do_not_differ_is_one() -> None:
    assert between(judged({ALONE: ["a"] * 4, IN_COMPANY: ["a"] * 32}), ALONE, IN_COMPANY).p == 1.0


def test_a_side_without_completions_has_no_p() -> None:
    found = between(judged({ALONE: ["a"] * 4, IN_COMPANY: [REFUSED] * 16}), ALONE, IN_COMPANY)
    assert (found.p, found.p_adjusted) == (None, None)


def test_many_attempts_of_one_block_prove_no_more_than_one() -> None:
    found = between(judged({ALONE: ["a"] * 4, IN_COMPANY: ["b"] * 8}), ALONE, IN_COMPANY)
    assert found.p == pytest.approx(1 / 5)


def test_a_sampled_p_is_small_and_never_zero() -> None:
    found = between(judged({ALONE: ["a"] * 20, IN_PAIRS: ["b"] * 40}), ALONE, IN_PAIRS)
    assert found.p is not None
    assert 0 < found.p <= 0.002


def test_a_sampled_p_of_sides_that_do_not_differ_is_one() -> None:
    assert between(judged({ALONE: ["a"] * 20, IN_PAIRS: ["a"] * 40}), ALONE, IN_PAIRS).p == 1.0


def brute_force_p(one: Sequence[Sequence[str]], other: Sequence[Sequence[str]]) -> float:
    """Permute blocks: identity within sides minus identity across, every pair of blocks weighing equally."""
    blocks = [*one, *other]
    pairs = list(itertools.combinations(range(len(blocks)), 2))
    identity = {(i, j): mean(first == second for first in blocks[i] for second in blocks[j]) for i, j in pairs}

    def statistic(side: frozenset[int]) -> float:
        within = [identity[i, j] for i, j in pairs if (i in side) == (j in side)]
        across = [identity[i, j] for i, j in pairs if (i in side) != (j in side)]
        return mean(within) - mean(across)

    seen = statistic(frozenset(range(len(one))))
    all_sides = [frozenset(side) for side in itertools.combinations(range(len(blocks)), len(one))]
    return sum(statistic(side) >= seen - 1e-12 for side in all_sides) / len(all_sides)


@pytest.mark.parametrize("seed", range(8))
def test_p_equals_a_brute_force_permutation_of_blocks(seed: int) -> None:
    draw = random.Random(seed)
    singles = draw.choices("abc", [6, 2, 1], k=4)
    pairs = draw.choices("abc", [2, 6, 1], k=8)
    found = between(judged({ALONE: singles, IN_PAIRS: pairs}), ALONE, IN_PAIRS)
    blocks = [pairs[start : start + 2] for start in range(0, 8, 2)]
    assert found.p == pytest.approx(brute_force_p([[text] for text in singles], blocks))


def test_p_is_adjusted_by_holm_over_the_prompts() -> None:
    observed = {
        "A": {ALONE: ["a"] * 4, IN_PAIRS: ["b"] * 8},
        "B": {ALONE: list("aaab"), IN_PAIRS: ["b"] * 8},
        "C": {ALONE: list("aabb"), IN_PAIRS: list("aabbaabb")},
    }
    comparisons = [between(prompt, ALONE, IN_PAIRS) for prompt in analysis(built_run(observed)).prompts]
    values = [comparison.p for comparison in comparisons]
    assert None not in values
    ranked = sorted(p for p in values if p is not None)
    steps = itertools.accumulate((min(1.0, (3 - rank) * p) for rank, p in enumerate(ranked)), max)
    expected = dict(zip(ranked, steps, strict=True))
    assert [found.p_adjusted for found in comparisons] == [pytest.approx(expected[p]) for p in values if p is not None]


def test_blocks_that_share_one_computation_raise_no_false_alarms() -> None:
    draw = random.Random(14)
    pools = 300
    observed = {
        f"P{number}": {
            ALONE: draw.choices("ab", k=4),
            IN_COMPANY: [text for text in draw.choices("ab", k=4) for _ in range(8)],
        }
        for number in range(pools)
    }
    found = [between(prompt, ALONE, IN_COMPANY).p for prompt in analysis(built_run(observed)).prompts]
    alarms = sum(p is not None and p <= 0.05 for p in found)
    assert alarms <= stats.binom.ppf(0.999, pools, 0.05)


def test_a_simulated_endpoint_that_never_varies_is_never_diverged() -> None:
    for seed in range(10):
        run = built_run({"P": {ALONE: ["a"] * 5, IN_COMPANY: ["a"] * 16}}, seed=seed)
        assert analysis(run).exit_code == 0


def test_the_counts_of_two_prompts_do_not_mix() -> None:
    run = built_run({"A": {ALONE: ["a"] * 3}, "B": {ALONE: ["b"] * 3}})
    counts = [Counter({text.text: text.count for text in prompt.texts}) for prompt in analysis(run).prompts]
    assert counts == [Counter(a=3), Counter(b=3)]
    swapped = replace(run, attempts=run.attempts[::-1])
    assert analysis(swapped) == analysis(run)
