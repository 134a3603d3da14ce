"""A server with so many slots: requests wait their turn, share the machine while they run, and end.

It knows requests and times, and nothing of texts: what an answer says is drawn elsewhere, so that no delay can depend
on it unless a truth wants that.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Protocol

from simulation.agenda import Agenda
from simulation.crowd import Crowd
from simulation.delay import Delay
from temp0.core.plan import Condition, Prompt
from temp0.core.run import Completion, Failure, Role

Outcome = Completion | Failure
WORDS = 40
"""The usual number of words of a text; an answer cut shorter takes its share of the time."""


@dataclass(slots=True, kw_only=True, eq=False)
class Request:
    """One request of ours, as the server meets it, and what happened to it there.

    `progress` is the share of the plan's judged attempts that had left before it. `peak` is the largest number of our
    requests that the server worked on at once while it worked on this one, `place` this one's among them as it began.
    """

    prompt: Prompt
    condition: Condition
    block: int
    role: Role
    order: int
    progress: float
    predecessor: str | None
    started_s: float
    in_flight: int
    began_s: float = 0.0
    peak: int = 0
    place: int = 0
    strangers: float = 0.0
    replica: int = 0
    is_warm: bool = False

    @property
    def is_alone(self) -> bool:
        """Whether the server worked on no other request of ours meanwhile."""
        return self.peak == 1


class Service(Protocol):
    """Something that takes a request and calls back with its outcome."""

    def submit(self, request: Request, done: Callable[[Outcome], None]) -> None:
        """Take a request."""


class Answering(Protocol):
    """What a server says: decided in part as it begins with a request, in part as it ends."""

    def begin(self, request: Request) -> None:
        """The server begins to work on a request."""

    def answer(self, request: Request, now_s: float) -> Outcome:
        """What it says in the end."""


@dataclass(slots=True, kw_only=True)
class Server:
    """`slots` is how many requests run together; each one beside another makes all slower by `slowdown`."""

    agenda: Agenda
    answering: Answering
    crowd: Crowd
    delay: Delay
    random: Random
    slots: int = 64
    slowdown: float = 0.03
    _running: list[Request] = field(default_factory=list)
    _queue: deque[tuple[Request, Callable[[Outcome], None]]] = field(default_factory=deque)

    @property
    def running(self) -> float:
        """How many requests the server works on now, strangers' included; those that queue are not."""
        return len(self._running) + self.crowd.at(self.agenda.now_s)

    def submit(self, request: Request, done: Callable[[Outcome], None]) -> None:
        """Begin with a request if a slot is free, else let it wait."""
        self._queue.append((request, done))
        self._admit()

    def _admit(self) -> None:
        while self._queue and len(self._running) < self.slots:
            self._begin(*self._queue.popleft())

    def _begin(self, request: Request, done: Callable[[Outcome], None]) -> None:
        self._running.append(request)
        request.place = len(self._running) - 1
        request.began_s = self.agenda.now_s
        request.strangers = self.crowd.at(self.agenda.now_s)
        for one in self._running:
            one.peak = max(one.peak, len(self._running))
        self.answering.begin(request)
        self.agenda.after(self._seconds(request), lambda: self._end(request, done))

    def _seconds(self, request: Request) -> float:
        share = min(1.0, request.prompt.max_tokens / WORDS)
        return share * self.delay.draw(self.random) * (1 + self.slowdown * (self.running - 1))

    def _end(self, request: Request, done: Callable[[Outcome], None]) -> None:
        self._running.remove(request)
        self._admit()
        done(self.answering.answer(request, self.agenda.now_s))
