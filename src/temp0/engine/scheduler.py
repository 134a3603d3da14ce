"""Decides which rows the next step computes: who is admitted, who decodes, how much of a prompt is read.

First come, first served: a request is admitted only when every page it can need is free, and nobody overtakes it. It
then runs to its end without ever waiting for room. Not thread-safe by itself; the engine holds its lock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from temp0.engine.kv_cache import KvCache
from temp0.engine.model import Batch
from temp0.engine.request import Emission, Request
from temp0.engine.sampling import generator_of
from temp0.errors import QueueFullError, Temp0Error, UsageError


@dataclass(slots=True, kw_only=True, eq=False)
class Ticket:
    """A request on its way: its tokens so far, how many of them are in the cache, and its slot while it runs."""

    number: int
    request: Request
    on_emission: Callable[[Emission], None]
    on_failure: Callable[[Temp0Error], None] | None = None
    tokens: list[int] = field(init=False)
    generator: np.random.Generator | None = field(init=False)
    computed: int = 0
    slot: int | None = None

    def __post_init__(self) -> None:
        """Start from the prompt."""
        self.tokens = list(self.request.tokens)
        self.generator = generator_of(self.request)

    @property
    def emitted(self) -> int:
        """Tokens emitted so far."""
        return len(self.tokens) - len(self.request.tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What one request computes in a step: `count` positions from `start` on; the last of its tokens or not."""

    ticket: Ticket
    slot: int
    start: int
    count: int

    @property
    def is_last(self) -> bool:
        """Whether the share reaches the newest token, so that the next one can be chosen."""
        return self.start + self.count == len(self.ticket.tokens)


class Scheduler:
    """A bounded queue, and the requests that run, in order of admission."""

    def __init__(self, cache: KvCache, *, chunk_tokens: int, queue: int) -> None:
        if chunk_tokens < 1:
            raise UsageError(f"chunk_tokens is {chunk_tokens}, expected at least 1")
        if queue < 1:
            raise UsageError(f"queue is {queue}, expected at least 1")
        self._cache = cache
        self._chunk_tokens = chunk_tokens
        self._queue = queue
        self._waiting: deque[Ticket] = deque()
        self._running: list[Ticket] = []

    @property
    def running(self) -> int:
        """Requests that hold a slot."""
        return len(self._running)

    @property
    def waiting(self) -> int:
        """Requests in the queue."""
        return len(self._waiting)

    @property
    def tickets(self) -> list[Ticket]:
        """All requests, those that run first, each in order of arrival."""
        return [*self._running, *self._waiting]

    def enqueue(self, ticket: Ticket) -> None:
        """Append to the queue; QueueFullError when it has no room."""
        if len(self._waiting) >= self._queue:
            raise QueueFullError(f"the queue holds {self._queue} requests already; try again later")
        self._waiting.append(ticket)

    def remove(self, ticket: Ticket) -> None:
        """Take a request out, wherever it is, and free what it holds; one that is gone already stays gone."""
        if ticket in self._waiting:
            self._waiting.remove(ticket)
        if ticket.slot is not None:
            self._cache.release(ticket.slot)
            self._running.remove(ticket)
            ticket.slot = None

    def next_shares(self) -> list[Share]:
        """Admit whom there is room for, then share out the step.

        Each request that decodes has one row; prompts share `chunk_tokens` rows in order of admission. Empty only when
        there is nothing to do.
        """
        self._admit()
        shares = []
        room = self._chunk_tokens
        for ticket in self._running:
            pending = len(ticket.tokens) - ticket.computed
            count = pending if ticket.emitted else min(pending, room)
            room -= 0 if ticket.emitted else count
            if count and ticket.slot is not None:
                shares.append(Share(ticket=ticket, slot=ticket.slot, start=ticket.computed, count=count))
        return shares

    def _admit(self) -> None:
        while self._waiting and self._cache.can_hold(self._waiting[0].request.most_tokens):
            ticket = self._waiting.popleft()
            ticket.slot = self._cache.hold(ticket.request.most_tokens)
            self._running.append(ticket)


def batch_of(shares: Sequence[Share]) -> Batch:
    """The rows of all shares, share after share; logits are wanted where a share reaches its newest token."""
    counts = np.array([share.count for share in shares])
    ends = np.cumsum(counts)
    shifts = np.array([share.start for share in shares]) - (ends - counts)
    tokens = [token for share in shares for token in share.ticket.tokens[share.start : share.start + share.count]]
    return Batch(
        tokens=np.array(tokens, dtype=np.int32),
        positions=(np.arange(len(tokens)) + np.repeat(shifts, counts)).astype(np.int32),
        slots=np.repeat(np.array([share.slot for share in shares], dtype=np.int32), counts),
        wanted=ends[[share.is_last for share in shares]] - 1,
    )
