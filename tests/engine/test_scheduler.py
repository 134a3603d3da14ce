"""Who computes what in a step."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from float64_model import SETTINGS
from ghost_memory import GhostMemory
from hypothesis import given, settings
from hypothesis import strategies as st

from temp0.engine.kv_cache import KvCache
from temp0.engine.page import PAGE_TOKENS
from temp0.engine.request import Request
from temp0.engine.scheduler import Scheduler, batch_of
from temp0.engine.ticket import Share, Ticket
from temp0.errors import QueueFullError, UsageError


def ticket(number: int = 1, *, prompt: int = 4, max_tokens: int = 4) -> Ticket:
    request = Request(tokens=tuple(range(number, number + prompt)), max_tokens=max_tokens)
    return Ticket(number=number, request=request, on_emission=lambda _: None)


def scheduler(
    *, pages: int = 10, slots: int = 4, chunk_tokens: int = 8, queue: int = 10, prefix_cache: bool = False
) -> tuple[Scheduler, KvCache]:
    cache = KvCache(SETTINGS, tokens=pages * PAGE_TOKENS, slots=slots)
    return Scheduler(cache, chunk_tokens=chunk_tokens, queue=queue, prefix_cache=prefix_cache), cache


def compute(steps: Scheduler, shares: list[Share]) -> None:
    """Do as the engine does after a step; every token is 0."""
    steps.complete(shares)
    for share in shares:
        if not share.ticket.pending:
            share.ticket.tokens.append(0)


def step(steps: Scheduler) -> list[tuple[int, int, int]]:
    """One step, and what was computed in it; who has all tokens leaves."""
    shares = steps.next_shares()
    rows = seen(shares)
    compute(steps, shares)
    for share in shares:
        if share.ticket.emitted == share.ticket.request.max_tokens:
            steps.remove(share.ticket)
    return rows


def seen(shares: list[Share]) -> list[tuple[int, int, int]]:
    return [(share.ticket.number, share.start, share.count) for share in shares]


def test_a_prompt_is_read_in_chunks_and_then_decoded_row_by_row() -> None:
    steps, _ = scheduler(chunk_tokens=3)
    steps.enqueue(ticket(prompt=7))
    rows = [row for _ in range(5) for row in step(steps)]
    assert rows == [(1, 0, 3), (1, 3, 3), (1, 6, 1), (1, 7, 1), (1, 8, 1)]


def test_those_who_decode_go_on_while_prompts_share_the_chunk_in_order() -> None:
    steps, _ = scheduler(chunk_tokens=6)
    steps.enqueue(ticket(1, prompt=2))
    step(steps)
    steps.enqueue(ticket(2, prompt=5))
    steps.enqueue(ticket(3, prompt=5))
    shares = steps.next_shares()
    assert seen(shares) == [(1, 2, 1), (2, 0, 5), (3, 0, 1)]
    assert [share.is_last for share in shares] == [True, True, False]


def test_nobody_overtakes_a_request_that_waits_for_pages() -> None:
    steps, _ = scheduler(pages=4)
    first = ticket(1, prompt=2 * PAGE_TOKENS)
    for newcomer in (first, ticket(2, prompt=2 * PAGE_TOKENS), ticket(3)):
        steps.enqueue(newcomer)
    assert step(steps) == [(1, 0, 8)]
    assert (steps.running, steps.waiting) == (1, 2)
    steps.remove(first)
    assert [number for number, _, _ in step(steps)] == [2]
    assert (steps.running, steps.waiting) == (2, 0)


def test_a_newcomer_is_admitted_beside_what_the_others_have_still_to_read_and_one_page_more() -> None:
    """Nine pages are promised to the first three: 3 + 1, 1 + 1 and 2 + 1. Eight of them are not taken yet."""
    steps, cache = scheduler(pages=9, chunk_tokens=1)
    for number, prompt in enumerate((40, 4, 20), start=1):
        steps.enqueue(ticket(number, prompt=prompt, max_tokens=60))
    steps.enqueue(ticket(4, prompt=1, max_tokens=1))
    step(steps)
    assert (steps.running, steps.waiting) == (3, 1)
    assert cache.free_tokens == 8 * PAGE_TOKENS


def test_a_request_as_large_as_the_cache_is_admitted_alone() -> None:
    steps, _ = scheduler(pages=3)
    steps.enqueue(ticket(1, prompt=3 * PAGE_TOKENS - 1, max_tokens=1))
    assert step(steps) == [(1, 0, 8)]


def crowded(*, queue: int = 10) -> tuple[Scheduler, KvCache]:
    """Two requests of up to four pages in a cache of four, at the step in which the second had to give way."""
    steps, cache = scheduler(pages=4, slots=2, chunk_tokens=32, queue=queue)
    for number in (1, 2):
        steps.enqueue(ticket(number, prompt=16, max_tokens=34))
    rows = [step(steps) for _ in range(18)]
    assert rows[16:] == [[(1, 31, 1), (2, 31, 1)], [(1, 32, 1)]]
    assert (steps.running, steps.waiting, steps.preemptions) == (1, 1, 1)
    return steps, cache


def test_the_last_to_arrive_gives_way_keeps_its_tokens_and_comes_back_first() -> None:
    steps, _ = crowded()
    steps.enqueue(ticket(3))
    assert [(one.number, len(one.tokens)) for one in steps.tickets] == [(1, 34), (2, 33), (3, 4)]
    rows = [step(steps) for _ in range(18)]
    assert rows[15] == [(1, 48, 1)], "nobody comes back before pages do"
    assert rows[16:] == [[(2, 0, 32)], [(2, 32, 1)]], "its prompt and its own tokens are read again in chunks"


def test_a_preempted_request_takes_no_place_in_the_queue() -> None:
    steps, _ = crowded(queue=2)
    for number in (3, 4):
        steps.enqueue(ticket(number))
    with pytest.raises(QueueFullError):
        steps.enqueue(ticket(5))
    assert [one.number for one in steps.tickets] == [1, 2, 3, 4]


def test_a_preempted_request_can_be_removed() -> None:
    steps, cache = crowded()
    for one in steps.tickets:
        steps.remove(one)
    assert (steps.tickets, cache.free_tokens) == ([], cache.capacity_tokens)


def test_a_share_is_cut_to_the_pages_there_are_before_anybody_gives_way() -> None:
    steps, cache = scheduler(pages=10, chunk_tokens=64)
    for number in (1, 2):
        steps.enqueue(ticket(number, prompt=64, max_tokens=2))
    assert step(steps) == [(1, 0, 64)]
    cache.hold(4 * PAGE_TOKENS)
    assert step(steps) == [(1, 64, 1), (2, 0, 16)]
    assert steps.preemptions == 0


def test_who_reads_what_another_reads_ahead_of_them_skips_it() -> None:
    steps, cache = scheduler(chunk_tokens=32, prefix_cache=True)
    for _ in range(2):
        steps.enqueue(ticket(1, prompt=64))
    assert step(steps) == [(1, 0, 32)]
    assert step(steps) == [(1, 32, 32)]
    assert step(steps) == [(1, 64, 1), (1, 48, 16)]
    assert [one.cached_tokens for one in steps.tickets] == [0, 48]
    assert cache.free_tokens == (10 - 5) * PAGE_TOKENS, "four pages are shared, one is the first's own"


def test_a_cold_request_computes_every_position_itself() -> None:
    steps, _ = scheduler(chunk_tokens=64, prefix_cache=True)
    warm, cold = ticket(1, prompt=33), ticket(1, prompt=33)
    cold.request = replace(cold.request, use_prefix_cache=False)
    for newcomer in (warm, cold):
        steps.enqueue(newcomer)
        while newcomer.emitted < 3:
            step(steps)
    assert (warm.cached_tokens, cold.cached_tokens) == (0, 0)
    assert cold.computed == 35


def test_a_step_that_was_not_completed_shares_nothing() -> None:
    steps, cache = scheduler(chunk_tokens=64, prefix_cache=True)
    failed = ticket(1, prompt=40)
    steps.enqueue(failed)
    steps.next_shares()
    steps.remove(failed)
    assert (cache.kept_tokens, cache.free_tokens) == (0, cache.capacity_tokens)


def test_shares_of_a_request_removed_meanwhile_are_left_out() -> None:
    steps, cache = scheduler(chunk_tokens=64, prefix_cache=True)
    gone = ticket(1, prompt=40)
    steps.enqueue(gone)
    shares = steps.next_shares()
    steps.remove(gone)
    steps.complete(shares)
    assert (gone.computed, cache.kept_tokens, cache.free_tokens) == (0, 0, cache.capacity_tokens)


def test_a_full_queue_refuses_and_a_place_freed_accepts() -> None:
    steps, _ = scheduler(queue=2, slots=1)
    waiting = [ticket(1), ticket(2), ticket(3)]
    for newcomer in waiting:
        steps.enqueue(newcomer)
    assert (steps.running, steps.waiting) == (1, 2)
    with pytest.raises(QueueFullError, match="holds 2 requests already"):
        steps.enqueue(ticket(4))
    steps.remove(waiting[1])
    steps.enqueue(ticket(4))
    assert [one.number for one in steps.tickets] == [1, 3, 4]


def test_removing_twice_is_removing_once() -> None:
    steps, cache = scheduler()
    gone = ticket(1)
    steps.enqueue(gone)
    steps.next_shares()
    steps.remove(gone)
    steps.remove(gone)
    assert (steps.running, steps.waiting, cache.free_tokens) == (0, 0, cache.capacity_tokens)


def next_token(text: Sequence[int]) -> int:
    """Stands in for a model: any token of a text decides what follows. Two letters, so that texts meet again."""
    return zlib.crc32(bytes(text)) % 2


def carry_out(steps: Scheduler, memory: GhostMemory) -> None:
    """Compute a step in ghost memory; who has all tokens leaves."""
    shares = steps.next_shares()
    assert shares
    for share in shares:
        memory.compute(share.slot, share.ticket.tokens, start=share.start, end=share.start + share.count)
    steps.complete(shares)
    for share in shares:
        if not share.ticket.pending:
            assert memory.has(share.slot, share.ticket.tokens)
            share.ticket.tokens.append(next_token(share.ticket.tokens))
        if share.ticket.emitted == share.ticket.request.max_tokens:
            steps.remove(share.ticket)


@dataclass(frozen=True)
class Arrival:
    """A request of `length` equal letters; it comes after `steps` steps, and somebody leaves then if `leaves`."""

    letter: int
    length: int
    max_tokens: int
    is_cold: bool
    steps: int
    leaves: bool


ARRIVALS = st.builds(
    Arrival,
    letter=st.integers(0, 1),
    length=st.integers(1, 50),
    max_tokens=st.integers(1, 30),
    is_cold=st.sampled_from([False, False, True]),
    steps=st.integers(0, 6),
    leaves=st.sampled_from([False, False, False, True]),
)


@settings(max_examples=120, deadline=None)
@given(st.lists(ARRIVALS, min_size=1, max_size=10), st.integers(1, 40), st.integers(1, 4), st.booleans())
def test_every_request_that_stays_ends_with_the_text_it_has_alone(
    arrivals: list[Arrival], chunk_tokens: int, slots: int, prefix_cache: bool
) -> None:
    """Five pages for up to four requests of up to five pages each: much is preempted, shared, evicted."""
    steps, cache = scheduler(pages=5, slots=slots, chunk_tokens=chunk_tokens, prefix_cache=prefix_cache)
    memory = GhostMemory(cache)
    tickets = []
    for number, arrival in enumerate(arrivals):
        request = Request(
            tokens=(arrival.letter,) * arrival.length,
            max_tokens=arrival.max_tokens,
            use_prefix_cache=not arrival.is_cold,
        )
        tickets.append(Ticket(number=number, request=request, on_emission=lambda _: None))
        steps.enqueue(tickets[-1])
        for _ in range(arrival.steps):
            if steps.tickets:
                carry_out(steps, memory)
        if arrival.leaves and steps.tickets:
            gone = steps.tickets[number % len(steps.tickets)]
            steps.remove(gone)
            tickets.remove(gone)
        numbers = [one.number for one in steps.tickets]
        assert numbers == sorted(numbers)
    while steps.tickets:  # ends, since the first of all moves on in every step
        first = steps.tickets[0]
        before = (first.emitted, first.computed)
        carry_out(steps, memory)
        assert (first.emitted, first.computed) > before
    assert [one.tokens for one in tickets] == [alone(one.request) for one in tickets]
    assert cache.free_tokens == cache.capacity_tokens
    assert prefix_cache or not cache.kept_tokens


def alone(request: Request) -> list[int]:
    text = list(request.tokens)
    for _ in range(request.max_tokens):
        text.append(next_token(text))
    return text


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 40), st.integers(1, 9)), min_size=1, max_size=8),
    st.integers(1, 20),
    st.integers(1, 4),
)
def test_with_room_for_all_every_request_computes_each_of_its_positions_once(
    sizes: list[tuple[int, int]], chunk_tokens: int, slots: int
) -> None:
    steps, cache = scheduler(pages=4 * slots, slots=slots, chunk_tokens=chunk_tokens)
    tickets = [ticket(index, prompt=prompt, max_tokens=most) for index, (prompt, most) in enumerate(sizes)]
    computed: dict[int, list[int]] = {one.number: [] for one in tickets}
    for newcomer in tickets:
        steps.enqueue(newcomer)
    while rows := step(steps):
        assert len(rows) <= slots
        assert sum(count for _, _, count in rows if count > 1) <= chunk_tokens
        for number, start, count in rows:
            computed[number] += range(start, start + count)
    # The last token emitted is never fed back.
    assert computed == {index: list(range(prompt + most - 1)) for index, (prompt, most) in enumerate(sizes)}
    assert (steps.preemptions, cache.free_tokens) == (0, cache.capacity_tokens)


def test_a_batch_holds_the_rows_of_every_share() -> None:
    first, second = ticket(10, prompt=6), ticket(20, prompt=3)
    shares = [
        Share(ticket=first, slot=2, start=2, count=3),
        Share(ticket=second, slot=0, start=0, count=3),
    ]
    batch = batch_of(shares)
    np.testing.assert_array_equal(batch.tokens, [12, 13, 14, 20, 21, 22])
    np.testing.assert_array_equal(batch.positions, [2, 3, 4, 0, 1, 2])
    np.testing.assert_array_equal(batch.slots, [2, 2, 2, 0, 0, 0])
    np.testing.assert_array_equal(batch.wanted, [5])


@pytest.mark.parametrize(("limits", "name"), [({"chunk_tokens": 0}, "chunk_tokens"), ({"queue": 0}, "queue")])
def test_limits_that_could_never_move_are_refused(limits: dict[str, int], name: str) -> None:
    with pytest.raises(UsageError, match=f"{name} is 0, expected at least 1"):
        scheduler(**limits)


def test_a_chunk_larger_than_the_cache_is_refused() -> None:
    scheduler(pages=2, chunk_tokens=2 * PAGE_TOKENS)
    with pytest.raises(UsageError, match="chunk_tokens is 33, more than the 32 tokens the KV cache holds: lower"):
        scheduler(pages=2, chunk_tokens=33)
