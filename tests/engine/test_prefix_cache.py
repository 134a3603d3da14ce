"""What is in the prefix cache changes how much is computed, and not one bit of what comes out."""

from __future__ import annotations

from contextlib import AbstractContextManager

import numpy as np
import pytest
from engine_client import (
    CHECKPOINT,
    all_free,
    alone,
    answered,
    assert_same_bits,
    invariant,
    invariant_engine,
    run_out,
    submitted,
    text,
    tiny_engine,
    watched,
)
from float64_model import reference_greedy

from temp0.engine import Request
from temp0.engine.arithmetic import Linear
from temp0.engine.checkpoint import Array

PROMPT = text(40)
EXPECTED = alone(watched(PROMPT))


class BreakingArithmetic:
    """Invariant arithmetic that, once `breaks_after` more products are done, spoils the numbers and then raises."""

    name = "invariant"
    rounded = True

    def __init__(self) -> None:
        self._invariant = invariant()
        self.breaks_after: int | None = None

    def linear(self, weight: Array) -> Linear:
        right = self._invariant.linear(weight)

        def multiply(rows: Array, out: Array, *, rounded: bool = False) -> None:
            right(rows, out, rounded=rounded)
            if self.breaks_after is None:
                return
            out[:] = np.nan
            self.breaks_after -= 1
            if self.breaks_after < 0:
                raise FloatingPointError("the multiplier burnt")

        return multiply

    def limited(self) -> AbstractContextManager[object]:
        return self._invariant.limited()


def test_a_warm_prompt_has_the_bits_of_a_cold_one() -> None:
    engine = invariant_engine()
    cold, warm, warmer = (answered(engine, watched(PROMPT)) for _ in range(3))
    assert [client.cached for client in (cold, warm, warmer)] == [0, 32, 32]
    for client in (cold, warm, warmer):
        assert_same_bits(client, EXPECTED)


@pytest.mark.parametrize(("max_tokens", "cached"), [(24, 48), (25, 64)])
def test_an_answer_is_kept_like_a_prompt_but_for_its_last_token(max_tokens: int, cached: int) -> None:
    engine = invariant_engine()
    first = answered(engine, watched(PROMPT, max_tokens=max_tokens))
    onwards = watched((*PROMPT, *first.tokens, 7, 8, 9))
    second = answered(engine, onwards)
    assert second.cached == cached
    assert_same_bits(second, alone(onwards))


@pytest.mark.parametrize("length", [1, 15, 16, 17, 32, 33])
def test_the_last_token_is_computed_even_where_the_whole_prompt_is_known(length: int) -> None:
    engine = invariant_engine()
    answered(engine, watched(PROMPT))
    client = answered(engine, watched(PROMPT[:length]))
    assert client.cached == (length - 1) // 16 * 16
    assert_same_bits(client, alone(watched(PROMPT[:length])))


def test_texts_that_begin_alike_share_while_they_run() -> None:
    engine = invariant_engine(prefix_cache=True)
    requests = [watched((*text(36), *text(5 + seed, seed=seed)), max_tokens=20) for seed in range(1, 5)]
    clients = []
    for request in requests:
        clients.append(submitted(engine, request))
        engine.step()
        engine.step()
    assert engine.running == 4
    run_out(engine)
    assert [client.cached for client in clients] == [0, 32, 32, 32]
    for client, request in zip(clients, requests, strict=True):
        assert_same_bits(client, alone(request))
    assert all_free(engine, capacity=512)


def test_equal_requests_at_once_hold_one_copy_of_what_they_share() -> None:
    engine = invariant_engine(chunk_tokens=200)
    clients = [submitted(engine, watched(PROMPT, max_tokens=30)) for _ in range(4)]
    for _ in range(26):
        engine.step()
    held = (512 - engine.free_tokens) // 16
    assert held == 4 + 4, "the four full pages of all, and one page of each"
    clients.append(submitted(engine, watched(PROMPT, max_tokens=30)))
    run_out(engine)
    assert [client.cached for client in clients] == [0, 0, 0, 0, 32]
    for client in clients:
        assert_same_bits(client, alone(watched(PROMPT, max_tokens=30)))


@pytest.mark.parametrize("chunk_tokens", [1, 5, 15, 16, 17, 64])
def test_a_prompt_read_beside_another_that_begins_alike_has_the_same_bits_at_any_chunk(chunk_tokens: int) -> None:
    engine = invariant_engine(chunk_tokens=chunk_tokens)
    clients = [submitted(engine, watched(PROMPT)), submitted(engine, watched(PROMPT))]
    run_out(engine)
    for client in clients:
        assert_same_bits(client, EXPECTED)
    assert clients[0].cached == 0 < clients[1].cached


def test_bits_stay_the_same_while_prefixes_are_evicted() -> None:
    """A cache of 8 pages sees 9 texts of 3 to 5 pages, twice; texts of one seed begin alike."""
    engine = invariant_engine(kv_tokens=128)
    requests = [watched(text(length, seed=seed)) for length in (40, 55, 70) for seed in range(3)] * 2
    clients = [submitted(engine, request) for request in requests]
    run_out(engine)
    for client, request in zip(clients, requests, strict=True):
        assert_same_bits(client, alone(request))
    cached = [client.cached for client in clients]
    assert any(cached)
    assert cached.count(0) > 3, "more than the first of each seed found nothing"
    assert all_free(engine, capacity=128)


def test_a_cold_request_is_computed_anew_and_feeds_nobody() -> None:
    engine = invariant_engine()
    cold = watched(PROMPT, use_prefix_cache=False)
    assert [answered(engine, cold).cached for _ in range(2)] == [0, 0]
    assert engine.kept_tokens == 0
    answered(engine, watched(PROMPT))
    client = answered(engine, cold)
    assert client.cached == 0
    assert_same_bits(client, EXPECTED)


def test_after_a_reset_prompts_are_cold_and_those_that_run_go_on() -> None:
    engine = invariant_engine()
    running = submitted(engine, watched(PROMPT, max_tokens=40))
    for _ in range(20):
        engine.step()
    engine.reset_prefix_cache()
    assert answered(engine, watched(PROMPT)).cached == 0
    assert answered(engine, watched(PROMPT)).cached == 32
    assert_same_bits(running, alone(watched(PROMPT, max_tokens=40)))
    engine.reset_prefix_cache()
    assert engine.kept_tokens == 0
    assert all_free(engine, capacity=512)


@pytest.mark.parametrize("breaks_after", [0, 3, 7])
def test_a_step_that_fails_leaves_nothing_behind(breaks_after: int) -> None:
    arithmetic = BreakingArithmetic()
    engine = tiny_engine(arithmetic=arithmetic, kv_tokens=512, chunk_tokens=40)
    spoilt = submitted(engine, watched(PROMPT))
    arithmetic.breaks_after = breaks_after
    with pytest.raises(FloatingPointError):
        engine.step()
    arithmetic.breaks_after = None
    assert "the multiplier burnt" in str(spoilt.failures[0])
    assert (engine.kept_tokens, engine.free_tokens) == (0, 512)
    client = answered(engine, watched(PROMPT))
    assert client.cached == 0
    assert_same_bits(client, EXPECTED)


def test_a_request_that_leaves_while_it_reads_leaves_what_was_computed() -> None:
    engine = invariant_engine(chunk_tokens=20)
    gone = submitted(engine, watched(PROMPT))
    engine.step()
    engine.cancel(gone.ticket)
    assert (engine.kept_tokens, engine.free_tokens) == (16, 512)
    client = answered(engine, watched(PROMPT))
    assert client.cached == 16
    assert_same_bits(client, EXPECTED)


def test_what_was_read_and_what_was_cached_are_counted_once_a_prompt() -> None:
    engine = invariant_engine()
    for _ in range(3):
        client = answered(engine, watched(PROMPT))
        assert {emission.cached_tokens for emission in client.emissions} == {client.cached}
    assert (engine.prompt_tokens, engine.cached_tokens) == (3 * 40, 2 * 32)


def test_the_prefix_cache_is_on_in_invariant_and_off_in_stock_unless_stated() -> None:
    defaults = (invariant_engine(), tiny_engine())
    assert [engine.prefix_cache for engine in defaults] == [True, False]
    stated = (invariant_engine(prefix_cache=False), tiny_engine(prefix_cache=True))
    found = []
    for engine in (*defaults, *stated):
        answered(engine, watched(PROMPT))
        found.append((answered(engine, watched(PROMPT)).cached, engine.kept_tokens > 0))
    assert found == [(32, True), (0, False), (0, False), (32, True)]


def test_stock_answers_from_the_prefix_cache_are_right() -> None:
    engine = tiny_engine(prefix_cache=True)
    expected = reference_greedy(CHECKPOINT, PROMPT, 8)
    assert [answered(engine, watched(PROMPT)).tokens for _ in range(3)] == [expected] * 3
    assert engine.cached_tokens == 64


def test_logits_are_a_copy_for_who_asks_and_nothing_for_others() -> None:
    engine = invariant_engine(chunk_tokens=200)
    asking, hot = submitted(engine, watched(PROMPT)), submitted(engine, watched(PROMPT, temperature=1.0))
    plain = submitted(engine, Request(tokens=PROMPT, max_tokens=8))
    engine.step()
    first = asking.emissions[0].logits
    assert first is not None
    before = first.copy()
    run_out(engine)
    np.testing.assert_array_equal(first, before)
    np.testing.assert_array_equal(first, hot.emissions[0].logits)
    assert (first.dtype, first.shape, first.base) == (np.float32, (300,), None)
    assert all(emission.logits.argmax() == emission.token for emission in asking.emissions)
    assert not any(emission.logits is not None for emission in plain.emissions)
