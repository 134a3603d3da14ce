"""A request that had to give way goes on, bit for bit, as if nothing had happened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from engine_client import (
    Client,
    all_free,
    alone,
    answered,
    assert_same_bits,
    invariant_engine,
    run_out,
    submitted,
    text,
    tiny_engine,
    watched,
)
from float64_model import reference_greedy, tiny_checkpoint

from temp0.engine import Engine, Request
from temp0.errors import QueueFullError

WITH_AND_WITHOUT_PREFIXES = pytest.mark.parametrize("prefix_cache", [True, False])


@dataclass
class Play:
    """Requests that run together, and after each step how much each has said."""

    clients: list[Client]
    said: list[tuple[int, ...]]

    def speaks_without_a_pause(self, place: int) -> bool:
        counts = [said[place] for said in self.said]
        growing = counts[counts.index(1) : counts.index(max(counts)) + 1]
        return growing == list(range(1, len(growing) + 1))


def played(engine: Engine, requests: Sequence[Request]) -> Play:
    play = Play(clients=[submitted(engine, request) for request in requests], said=[])
    while engine.step():
        play.said.append(tuple(len(client.emissions) for client in play.clients))
    return play


def requests_of(*sizes: tuple[int, int], **options: object) -> list[Request]:
    """Requests of so many prompt tokens and so many of the answer; their texts have nothing in common."""
    return [watched(text(length, seed=seed), max_tokens=most, **options) for seed, (length, most) in enumerate(sizes)]


@WITH_AND_WITHOUT_PREFIXES
def test_a_request_preempted_once_has_the_bits_it_has_alone(prefix_cache: bool) -> None:
    engine = invariant_engine(kv_tokens=64, prefix_cache=prefix_cache)
    requests = requests_of((16, 34), (16, 34))
    play = played(engine, requests)
    assert engine.preemptions == 1
    assert play.speaks_without_a_pause(0)
    assert not play.speaks_without_a_pause(1)
    for client, request in zip(play.clients, requests, strict=True):
        assert_same_bits(client, alone(request))
    assert all_free(engine, capacity=64)


@WITH_AND_WITHOUT_PREFIXES
def test_a_request_preempted_twice_has_the_bits_it_has_alone(prefix_cache: bool) -> None:
    engine = invariant_engine(kv_tokens=128, prefix_cache=prefix_cache)
    requests = requests_of((16, 20), (16, 80), (16, 80))
    play = played(engine, requests)
    assert engine.preemptions == 2
    assert [play.speaks_without_a_pause(place) for place in range(3)] == [True, True, False]
    for client, request in zip(play.clients, requests, strict=True):
        assert_same_bits(client, alone(request))


def test_a_request_preempted_while_it_reads_has_the_bits_it_has_alone() -> None:
    engine = invariant_engine(kv_tokens=80, chunk_tokens=1)
    requests = requests_of((1, 79), (40, 8))
    play = played(engine, requests)
    assert engine.preemptions == 1
    while_second_was_silent = [said[0] for said in play.said if said[1] == 0]
    assert while_second_was_silent[-1] > 48, "the first took pages that the second was reading into"
    for client, request in zip(play.clients, requests, strict=True):
        assert_same_bits(client, alone(request))


def test_a_request_that_comes_back_finds_its_own_pages_and_still_says_it_was_cold() -> None:
    engine = invariant_engine(kv_tokens=128, chunk_tokens=8)
    requests = requests_of((16, 20), (16, 80), (16, 80))
    with_prefixes = played(engine, requests)
    assert engine.preemptions
    assert [client.cached for client in with_prefixes.clients] == [0, 0, 0]
    without = played(invariant_engine(kv_tokens=128, chunk_tokens=8, prefix_cache=False), requests)
    assert len(with_prefixes.said) < len(without.said)


@pytest.mark.parametrize("temperature", [0.7, 1.5])
def test_a_seeded_text_goes_on_where_it_was_interrupted(temperature: float) -> None:
    requests = requests_of((16, 20), (16, 80), (16, 80), temperature=temperature, seed=11)
    engine = invariant_engine(kv_tokens=128)
    play = played(engine, requests)
    assert engine.preemptions == 2
    for client, request in zip(play.clients, requests, strict=True):
        assert_same_bits(client, alone(request))


def test_many_requests_in_a_small_cache_all_have_the_bits_they_have_alone() -> None:
    engine = invariant_engine(kv_tokens=160, max_running=6, chunk_tokens=24)
    requests = requests_of(*((3 + 5 * place % 14, 50 + 7 * place % 23) for place in range(10)))
    play = played(engine, requests)
    assert engine.preemptions > 3
    for client, request in zip(play.clients, requests, strict=True):
        assert_same_bits(client, alone(request))
    assert all_free(engine, capacity=160)


def test_stock_answers_are_right_after_preemption_too() -> None:
    engine = tiny_engine(kv_tokens=64, chunk_tokens=40)
    requests = requests_of((16, 34), (16, 34))
    play = played(engine, requests)
    assert engine.preemptions == 1
    for client, request in zip(play.clients, requests, strict=True):
        assert client.tokens == reference_greedy(tiny_checkpoint(), request.tokens, 34)


def test_who_was_preempted_waits_beside_a_full_queue_and_is_never_dropped() -> None:
    engine = invariant_engine(kv_tokens=64, queue=2)
    requests = requests_of((16, 34), (16, 34), (5, 4), (5, 4))
    clients = [submitted(engine, request) for request in requests[:2]]
    while not engine.preemptions:
        engine.step()
    clients += [submitted(engine, request) for request in requests[2:]]
    assert engine.waiting == 3
    with pytest.raises(QueueFullError, match="holds 2 requests"):
        submitted(engine, requests[0])
    run_out(engine)
    for client, request in zip(clients, requests, strict=True):
        assert_same_bits(client, alone(request))


def test_a_preempted_request_can_be_cancelled_and_leaves_nothing_held() -> None:
    engine = invariant_engine(kv_tokens=64)
    staying, gone = (submitted(engine, request) for request in requests_of((16, 34), (16, 34)))
    while not engine.preemptions:
        engine.step()
    said = len(gone.emissions)
    engine.cancel(gone.ticket)
    run_out(engine)
    assert (len(gone.emissions), gone.failures) == (said, [])
    assert staying.has_ended
    assert all_free(engine, capacity=64)


def test_closing_fails_a_preempted_request_too() -> None:
    engine = invariant_engine(kv_tokens=64)
    clients = [submitted(engine, request) for request in requests_of((16, 34), (16, 34))]
    while not engine.preemptions:
        engine.step()
    engine.close()
    assert ["closed" in str(client.failures[0]) for client in clients] == [True, True]
    assert all_free(engine, capacity=64)


def test_a_request_that_fills_the_cache_alone_is_answered() -> None:
    engine = invariant_engine(kv_tokens=64, chunk_tokens=64)
    request = watched(text(56), max_tokens=8)
    assert_same_bits(answered(engine, request), alone(request))
    assert engine.preemptions == 0
