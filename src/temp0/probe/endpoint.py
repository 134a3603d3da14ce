"""The seam to the outside: one question in, one answer out.

An endpoint never raises for what a server did: a refusal, a time-out or nonsense is a `Failure` in the answer.
The fake endpoint stands on the same footing as the real ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from temp0.core.run import Address, Completion, Failure, Question


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came of one question; `first_byte_s` counts from the moment it was sent."""

    outcome: Completion | Failure
    first_byte_s: float | None = None


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

    async def close(self) -> None:
        """Give back connections."""
