"""The seam to the outside: one question in, one answer out.

An endpoint never raises for what a server did: a refusal, a time-out or nonsense is a `Failure` in the answer.
The fake endpoint stands on the same footing as the real ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from temp0.core.run import Address, Completion, Failure, Question


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """That the same question is worth asking again: after so many seconds, or `None` where the server names no time.

    `is_rewritten`: it will go out as another body, so that asking takes no patience.
    """

    after_s: float | None = None
    is_rewritten: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came of one question; `first_byte_s` counts from the moment it was sent.

    `sent` is the exact body of the question and `received` the raw one that came back, where it is kept; a key is in
    neither. `again` says that a failure may pass, `stop` that no question like it can be answered, and what to do.
    """

    outcome: Completion | Failure
    first_byte_s: float | None = None
    sent: bytes | None = None
    received: bytes | None = None
    again: Again | None = None
    stop: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColdMeans:
    """How a server answers as if it had never read a prompt; `by` says it in a few words.

    A means that `is_reset` empties the cache of the whole server, so that it comes before a block and only what is
    read first after it is surely cold. Any other goes with each question.
    """

    server: str
    by: str
    is_reset: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NoColdMeans:
    """That no means is known, and why, in words that can follow "since"."""

    why: str


class Endpoint(Protocol):
    """Something that completes prompts."""

    @property
    def address(self) -> Address:
        """Where this endpoint is, without any key."""

    @property
    def can_logprobs(self) -> bool:
        """Whether its dialect can ask for logprobs at all."""

    async def complete(self, question: Question) -> Answer:
        """Send one request, once, and read its answer."""

    async def running(self) -> float | None:
        """The server's own count of requests it is working on now, or `None` where it does not tell."""

    async def cold_means(self) -> ColdMeans | NoColdMeans:
        """How the server's prefix cache can be made cold; asked of the server once, before any cold question."""

    async def make_cold(self) -> Failure | None:
        """Empty the server's prefix cache where that is the means; a failure where the server would not."""

    async def close(self) -> None:
        """Give back connections."""
