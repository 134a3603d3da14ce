"""Tokens per second under each condition of a run, gathered attempt by attempt.

Tokens are the server's own count, and seconds those in which at least one request of the condition was in flight.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from temp0.core.run import Attempt, Completion


@dataclass(slots=True, kw_only=True)
class Rate:
    """What one condition took and gave so far: `spans` are the times from start to end of its attempts, in seconds."""

    spans: list[tuple[float, float]] = field(default_factory=list)
    tokens: int = 0
    is_counted: bool = True
    """Whether the server counted the tokens of each completion so far."""

    def add(self, attempts: Iterable[Attempt]) -> None:
        """Take more attempts, judged ones and fillers alike."""
        for attempt in attempts:
            self.spans.append((attempt.started_s, attempt.ended_s))
            if isinstance(attempt.outcome, Completion):
                count = attempt.outcome.usage.completion
                self.is_counted &= count is not None
                self.tokens += count or 0

    @property
    def tokens_per_s(self) -> float | None:
        """`None` where the server did not count each completion, or nothing completed in any time."""
        busy_s = self._busy_s()
        return self.tokens / busy_s if self.is_counted and self.tokens and busy_s > 0 else None

    def _busy_s(self) -> float:
        total, until = 0.0, 0.0
        for start, end in sorted(self.spans):
            total += max(0.0, end - max(start, until))
            until = max(until, end)
        return total
