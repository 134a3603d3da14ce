"""Who computes what in a step."""

from __future__ import annotations

import numpy as np
import pytest
from float64_model import SETTINGS
from hypothesis import given, settings
from hypothesis import strategies as st

from temp0.engine.kv_cache import PAGE_TOKENS, KvCache
from temp0.engine.request import Request
from temp0.engine.scheduler import Scheduler, Share, Ticket, batch_of
from temp0.errors import QueueFullError, UsageError


def ticket(number: int = 1, *, prompt: int = 4, max_tokens: int = 4) -> Ticket:
    request = Request(tokens=tuple(range(number, number + prompt)), max_tokens=max_tokens)
    return Ticket(number=number, request=request, on_emission=lambda _: None)


def scheduler(*, pages: int = 10, slots: int = 4, chunk_tokens: int = 8, queue: int = 10) -> tuple[Scheduler, KvCache]:
    cache = KvCache(SETTINGS, tokens=pages * PAGE_TOKENS, slots=slots)
    return Scheduler(cache, chunk_tokens=chunk_tokens, queue=queue), cache


def compute(shares: list[Share]) -> None:
    """Do as the engine does after a step; every token is 0."""
    for share in shares:
        is_last = share.is_last
        share.ticket.computed += share.count
        if is_last:
            share.ticket.tokens.append(0)


def seen(shares: list[Share]) -> list[tuple[int, int, int]]:
    return [(share.ticket.number, share.start, share.count) for share in shares]


def test_a_prompt_is_read_in_chunks_and_then_decoded_row_by_row() -> None:
    steps, _ = scheduler(chunk_tokens=3)
    steps.enqueue(ticket(prompt=7))
    rows = []
    for _ in range(5):
        shares = steps.next_shares()
        rows += seen(shares)
        compute(shares)
    assert rows == [(1, 0, 3), (1, 3, 3), (1, 6, 1), (1, 7, 1), (1, 8, 1)]


def test_those_who_decode_go_on_while_prompts_share_the_chunk_in_order() -> None:
    steps, _ = scheduler(chunk_tokens=6)
    steps.enqueue(ticket(1, prompt=2))
    compute(steps.next_shares())
    steps.enqueue(ticket(2, prompt=5))
    steps.enqueue(ticket(3, prompt=5))
    shares = steps.next_shares()
    assert seen(shares) == [(1, 2, 1), (2, 0, 5), (3, 0, 1)]
    assert [share.is_last for share in shares] == [True, True, False]


def test_nobody_overtakes_a_request_that_waits_for_pages() -> None:
    steps, _ = scheduler(pages=4)
    first = ticket(1, prompt=4, max_tokens=3 * PAGE_TOKENS - 4)
    for newcomer in (first, ticket(2, prompt=4, max_tokens=PAGE_TOKENS), ticket(3)):
        steps.enqueue(newcomer)
    assert seen(steps.next_shares()) == [(1, 0, 4)]
    assert (steps.running, steps.waiting) == (1, 2)
    steps.remove(first)
    assert [number for number, _, _ in seen(steps.next_shares())] == [2, 3]


def test_a_full_queue_refuses_and_a_place_freed_accepts() -> None:
    steps, _ = scheduler(queue=2)
    waiting = [ticket(1), ticket(2)]
    for newcomer in waiting:
        steps.enqueue(newcomer)
    with pytest.raises(QueueFullError, match="holds 2 requests already"):
        steps.enqueue(ticket(3))
    steps.remove(waiting[0])
    steps.enqueue(ticket(3))
    assert [one.number for one in steps.tickets] == [2, 3]


def test_removing_twice_is_removing_once() -> None:
    steps, cache = scheduler()
    gone = ticket(1)
    steps.enqueue(gone)
    steps.next_shares()
    steps.remove(gone)
    steps.remove(gone)
    assert (steps.running, steps.waiting, cache.free_tokens) == (0, 0, cache.capacity_tokens)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 40), st.integers(1, 9)), min_size=1, max_size=8),
    st.integers(1, 20),
    st.integers(1, 4),
)
def test_every_request_computes_each_of_its_positions_once(
    sizes: list[tuple[int, int]], chunk_tokens: int, slots: int
) -> None:
    steps, cache = scheduler(slots=slots, chunk_tokens=chunk_tokens)
    tickets = [ticket(index, prompt=prompt, max_tokens=most) for index, (prompt, most) in enumerate(sizes)]
    for newcomer in tickets:
        steps.enqueue(newcomer)
    computed: dict[int, list[int]] = {one.number: [] for one in tickets}
    while shares := steps.next_shares():
        assert len(shares) <= slots
        assert sum(share.count for share in shares if not share.ticket.emitted) <= chunk_tokens
        for number, start, count in seen(shares):
            computed[number] += range(start, start + count)
        compute(shares)
        for share in shares:
            if share.ticket.emitted == share.ticket.request.max_tokens:
                steps.remove(share.ticket)
    # The last token emitted is never fed back.
    assert computed == {index: list(range(prompt + most - 1)) for index, (prompt, most) in enumerate(sizes)}
    assert cache.free_tokens == cache.capacity_tokens


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
