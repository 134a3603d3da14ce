"""The places of one pool, of which some may be waiting: who is in flight, and for whom company is still wanted.

While every judged attempt that is awaited waits to be asked again, a filler would keep company to nobody.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from temp0.probe.line import Job, Line, Primers


class Pool:
    """The places that share one line of jobs; `over` is set once nothing more will be sent, so that nobody waits."""

    def __init__(self, line: Line | Primers) -> None:
        self.line = line
        self.judged = 0  # in flight
        self.over = asyncio.Event()
        self._waiting = 0
        self._wanted = asyncio.Event()
        self._wanted.set()

    @contextmanager
    def in_flight(self, job: Job) -> Iterator[None]:
        """A request of ours is out."""
        self.judged += job.role == "judged"
        self._look()
        try:
            yield
        finally:
            self.judged -= job.role == "judged"
            self._look()

    @contextmanager
    def waiting(self, job: Job) -> Iterator[None]:
        """A job is waiting to be asked again."""
        self._waiting += job.role == "judged"
        self._look()
        try:
            yield
        finally:
            self._waiting -= job.role == "judged"
            self._look()

    async def company_wanted(self) -> None:
        """Return once a filler would keep company to somebody, or there is something else to send."""
        while self.line.is_filling and not self._wanted.is_set():
            await self._wanted.wait()

    def end(self) -> None:
        """Nothing more will be sent."""
        self.over.set()
        self._wanted.set()

    def _look(self) -> None:
        if self.judged or not self._waiting or self.over.is_set():
            self._wanted.set()
        else:
            self._wanted.clear()
