"""From logits to tokens: the first of equals, draws from the right distribution, and natural logarithms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from temp0.engine.request import Request
from temp0.engine.sampling import choose, generator_of, most_likely, sampled

GREEDY = Request(tokens=(1,), max_tokens=1)


def seeded(seed: int | None, *, temperature: float = 1.0) -> Request:
    return Request(tokens=(1,), max_tokens=1, temperature=temperature, seed=seed)


def logits_of(*rows: list[float]) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    return np.array(rows, np.float32)


def test_of_equal_logits_the_first_index_wins() -> None:
    rows = logits_of([0, 2, 1, 2], [3, 3, 3, 3], [-1, -2, -1, -0.5])
    assert [emission.token for emission in choose(rows, [GREEDY] * 3, [None] * 3)] == [1, 0, 3]


def test_a_greedy_row_beside_a_sampled_one_stays_greedy() -> None:
    rows = np.repeat(logits_of([0, 0.1, 0.2, 0.1]), 2, axis=0)
    hot = seeded(5, temperature=10)
    generator = generator_of(hot)
    chosen = [choose(rows, [hot, GREEDY], [generator, None]) for _ in range(50)]
    assert {emissions[1].token for emissions in chosen} == {2}
    assert {emissions[0].token for emissions in chosen} == {0, 1, 2, 3}


@pytest.mark.parametrize("asked", [GREEDY, seeded(5, temperature=0.8), replace(GREEDY, logprobs=True, top_logprobs=1)])
def test_no_token_is_chosen_from_a_row_without_a_finite_highest(asked: Request) -> None:
    infinity = np.inf
    rows = logits_of([0, 2], [0, np.nan], [infinity, 0], [-infinity, -infinity], [-infinity, 2])
    emissions = choose(rows, [asked] * 5, [generator_of(asked) for _ in range(5)])
    assert [emission is None for emission in emissions] == [False, True, True, True, False]


@pytest.mark.parametrize("seed", [3, -3, 2**70])
def test_an_equal_seed_draws_equally_and_another_does_not(seed: int) -> None:
    row = np.zeros(1000, np.float32)

    def draws(request: Request) -> list[int]:
        generator = generator_of(request)
        assert generator is not None
        return [sampled(row, 1.0, generator) for _ in range(5)]

    assert draws(seeded(seed)) == draws(seeded(seed))
    assert draws(seeded(seed)) != draws(seeded(seed + 1))
    assert draws(seeded(None)) != draws(seeded(None))


def test_draws_follow_the_softmax_at_the_temperature() -> None:
    logits = np.array([1.0, 0.0, 2.0, -np.inf], np.float32)
    weights = np.exp(logits.astype(np.float64) / 0.7)
    expected = weights / weights.sum()
    generator = np.random.default_rng(11)
    draws = np.array([sampled(logits, 0.7, generator) for _ in range(4000)])
    counts = np.bincount(draws, minlength=4)
    assert counts[3] == 0
    # Five standard deviations of a share in 4,000 draws.
    np.testing.assert_allclose(counts / 4000, expected, atol=5 * 0.5 / 4000**0.5)


def test_a_temperature_near_zero_neither_overflows_nor_leaves_the_top() -> None:
    generator = np.random.default_rng(0)
    logits = np.array([50.0, 80.0, -1e30], np.float32)
    assert {sampled(logits, 1e-300, generator) for _ in range(20)} == {1}


def test_logprobs_are_natural_logarithms_of_the_softmax() -> None:
    rows = np.random.default_rng(2).normal(0, 5, (3, 400)).astype(np.float32)
    asked = Request(tokens=(1,), max_tokens=1, logprobs=True, top_logprobs=4)
    emissions = choose(rows, [asked, GREEDY, asked], [None] * 3)
    exact = rows.astype(np.float64)
    exact -= np.log(np.exp(exact).sum(axis=1, keepdims=True))
    assert (emissions[1].logprob, emissions[1].top) == (None, ())
    for row in (0, 2):
        best = np.argsort(-exact[row])[:4]
        assert emissions[row].token == best[0]
        assert [token for token, _ in emissions[row].top] == best.tolist()
        np.testing.assert_allclose([logprob for _, logprob in emissions[row].top], exact[row, best], atol=1e-5)
        assert emissions[row].logprob == emissions[row].top[0][1]


@settings(max_examples=80, deadline=None)
@given(
    arrays(np.float32, st.integers(1, 30), elements=st.sampled_from([-4.0, -2.0, -1.0, -np.inf])), st.integers(0, 33)
)
def test_the_most_likely_are_sorted_with_the_lower_id_first_among_equals(
    logprobs: np.ndarray[tuple[int], np.dtype[np.float32]], count: int
) -> None:
    expected = sorted(enumerate(logprobs.tolist()), key=lambda pair: (-pair[1], pair[0]))[:count]
    assert most_likely(logprobs, count) == tuple(expected)
