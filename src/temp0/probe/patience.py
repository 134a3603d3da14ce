"""How long to wait before a question that was refused for the moment is asked again: as told, or ever longer.

A pure function of what the server said, of the time and of a seeded draw; nothing here waits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from random import Random

from temp0.core.run import Failure
from temp0.probe.dialect.dialect import Headers
from temp0.probe.endpoint import Again

PATIENCE_S = 60.0
"""A question waits no longer than this in all. Limits for each minute, which are usual, end within it."""

FIRST_WAIT_S, LONGEST_WAIT_S = 0.5, 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """A question that is asked again after so many seconds; `why` is the failure that is recorded of it."""

    seconds: float
    why: Failure


@dataclass(slots=True, kw_only=True)
class Patience:
    """What is left of the patience with one question.

    Source of the wait without a hint: exponential backoff with equal jitter, so that places that were refused together
    do not come back together.
    """

    left_s: float
    draw: Random
    tries: int = 0

    def pause_s(self, again: Again) -> float | None:
        """Seconds until the question is asked again; `None` where it is given up."""
        if again.is_rewritten:
            return 0.0
        told_s = again.after_s
        least_s = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2.0 ** min(self.tries, 16))
        if told_s is None:
            wait_s = least_s * (0.5 + 0.5 * self.draw.random())
        else:
            wait_s = max(told_s, least_s / 10 if self.tries else 0.0)  # "at once" again and again would never end
        self.tries += 1
        self.left_s -= wait_s
        return wait_s if self.left_s >= 0 else None


def told_wait(headers: Headers, now: Callable[[], float]) -> Again:
    """What Retry-After says, in seconds or as a date, or the header that has it in milliseconds; `now` is Unix time.

    What cannot be read counts as not said. Headers that tell when a limit is reset are not read: their forms differ
    from vendor to vendor (`6m0s`, a date, Unix seconds), and those who send them send Retry-After as well.
    """
    told = dict(headers)
    milliseconds = _seconds(told.get("retry-after-ms", ""))
    if milliseconds is not None:
        return Again(after_s=milliseconds / 1000)
    text = told.get("retry-after", "").strip()
    seconds = _seconds(text)
    return Again(after_s=_until(text, now) if seconds is None else seconds)


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if 0 <= seconds < math.inf else None


def _until(date: str, now: Callable[[], float]) -> float | None:
    try:
        moment = parsedate_to_datetime(date)
    except (ValueError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, moment.timestamp() - now())
