"""Decides which rows the next step computes: who is admitted, who decodes, how much of a text is read, who gives way.

First come, first served, throughout. Those who run and those who wait are always in order of arrival; a request that
runs out of pages takes those of the last to arrive, never of an earlier one. So the first of all always moves on, and
every request ends. Not thread-safe by itself; the engine holds its lock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np

from temp0.engine.kv_cache import KvCache
from temp0.engine.model import Batch
from temp0.engine.ticket import Share, Ticket
from temp0.errors import QueueFullError, UsageError


class Scheduler:
    """The requests that run, those that were preempted, and a bounded queue: in this order, by arrival.

    A preempted request keeps its tokens and its generator; it is read again from its tokens, whatever the prefix
    cache still has of them, and takes no place in the queue.
    """

    def __init__(self, cache: KvCache, *, chunk_tokens: int, queue: int, prefix_cache: bool = False) -> None:
        if chunk_tokens < 1:
            raise UsageError(f"chunk_tokens is {chunk_tokens}, expected at least 1")
        if chunk_tokens > cache.capacity_tokens:
            raise UsageError(
                f"chunk_tokens is {chunk_tokens}, more than the {cache.capacity_tokens} tokens the KV cache holds: "
                "lower chunk_tokens or raise kv_tokens"
            )
        if queue < 1:
            raise UsageError(f"queue is {queue}, expected at least 1")
        self._cache = cache
        self._chunk_tokens = chunk_tokens
        self._queue = queue
        self._prefix_cache = prefix_cache
        self._running: list[Ticket] = []
        self._preempted: deque[Ticket] = deque()
        self._waiting: deque[Ticket] = deque()
        self.preemptions = 0

    @property
    def running(self) -> int:
        """Requests that hold a slot."""
        return len(self._running)

    @property
    def waiting(self) -> int:
        """Requests that wait for a slot, preempted ones included."""
        return len(self._preempted) + len(self._waiting)

    @property
    def tickets(self) -> list[Ticket]:
        """All requests, in order of arrival: those that run come first."""
        return [*self._running, *self._preempted, *self._waiting]

    def enqueue(self, ticket: Ticket) -> None:
        """Append to the queue; QueueFullError when it has no room, even once those are admitted who can be."""
        if len(self._waiting) >= self._queue:
            self._admit()
        if len(self._waiting) >= self._queue:
            raise QueueFullError(f"the queue holds {self._queue} requests already; try again later")
        self._waiting.append(ticket)

    def remove(self, ticket: Ticket) -> None:
        """Take a request out, wherever it is, and free what it holds; one that is gone already stays gone."""
        for place in (self._running, self._preempted, self._waiting):
            if ticket in place:
                place.remove(ticket)
        self._give_back(ticket)

    def next_shares(self) -> list[Share]:
        """Admit whom there is room for, then share out the step.

        Each request that decodes has one row; those that read share `chunk_tokens` rows in order of arrival. Empty
        only when there is nothing to do.
        """
        self._admit()
        shares = []
        room = self._chunk_tokens
        for ticket in self._running:  # which preemption shortens from its end, never before the ticket at hand
            share = self._share(ticket, room)
            if share is not None:
                shares.append(share)
                room -= 0 if ticket.is_decoding else share.count
        return shares

    def complete(self, shares: Sequence[Share]) -> None:
        """Note that shares were computed, which opens their full pages to others; those removed since are left out."""
        for share in shares:
            ticket = share.ticket
            if ticket.slot is not None:
                ticket.computed += share.count
                self._cache.publish(ticket.slot, ticket.tokens, ticket.computed)

    def _admit(self) -> None:
        """Admit in order of arrival while a slot is free, and pages for all that is known and a little more.

        Every request that runs, and the newcomer, must be able to read all its tokens and grow by one page more. So
        nobody is admitted only to be preempted at once, and a preempted request comes back only after another has
        given pages back: those it lost are in use by then.
        """
        promised = sum(self._promised(ticket) for ticket in self._running)
        while queue := self._preempted or self._waiting:
            ticket = queue[0]
            shares = self._prefix_cache and not ticket.request.is_cold
            if not self._cache.can_hold(ticket.soon, text=ticket.tokens if shares else (), beside=promised):
                return
            ticket.slot = self._cache.hold(shares=shares)
            self._adopt(ticket)
            self._running.append(queue.popleft())
            promised += self._promised(ticket)

    def _promised(self, ticket: Ticket) -> int:
        return 0 if ticket.slot is None else self._cache.lacking(ticket.slot, ticket.soon)

    def _adopt(self, ticket: Ticket) -> None:
        """Skip what the prefix cache has of a text that is being read."""
        assert ticket.slot is not None
        known = self._cache.adopt(ticket.slot, ticket.tokens)
        if known > ticket.computed:
            ticket.cached_tokens += 0 if ticket.emitted else known - ticket.computed
            ticket.computed = known

    def _share(self, ticket: Ticket, room: int) -> Share | None:
        """The ticket's part of the step, with pages to write to; None without room, or when it had to give way."""
        if not ticket.is_decoding:
            self._adopt(ticket)
        wanted = 1 if ticket.is_decoding else min(ticket.pending, room)
        while wanted and ticket.slot is not None:
            end = min(ticket.computed + wanted, self._cache.reach(ticket.slot))
            if end > ticket.computed:
                self._cache.grow(ticket.slot, end)
                return Share(ticket=ticket, slot=ticket.slot, start=ticket.computed, count=end - ticket.computed)
            self._preempt_last()
        return None

    def _preempt_last(self) -> None:
        ticket = self._running.pop()
        self._give_back(ticket)
        ticket.computed = 0
        if not ticket.emitted:
            ticket.cached_tokens = 0
        self._preempted.appendleft(ticket)
        self.preemptions += 1

    def _give_back(self, ticket: Ticket) -> None:
        if ticket.slot is not None:
            self._cache.release(ticket.slot)
            ticket.slot = None


def batch_of(shares: Sequence[Share]) -> Batch:
    """The rows of all shares, share after share.

    Logits are wanted where a share reaches its newest token, share after share, then of what scores a prompt.
    """
    counts = np.array([share.count for share in shares])
    ends = np.cumsum(counts)
    shifts = np.array([share.start for share in shares]) - (ends - counts)
    tokens = [token for share in shares for token in share.ticket.tokens[share.start : share.start + share.count]]
    newest = ends[[share.is_last for share in shares]] - 1
    scored = [position - shift for share, shift in zip(shares, shifts, strict=True) for position in share.scored]
    return Batch(
        tokens=np.array(tokens, dtype=np.int32),
        positions=(np.arange(len(tokens)) + np.repeat(shifts, counts)).astype(np.int32),
        slots=np.repeat(np.array([share.slot for share in shares], dtype=np.int32), counts),
        wanted=np.append(newest, scored).astype(np.intp) if scored else newest,
    )
