"""What only a drawing needs of a prompt: the margins along its answer, and when each attempt ran.

Values only, kept where a run is small enough to draw; no verdict and no document rests on them.
"""

from __future__ import annotations

from dataclasses import dataclass

DRAWN_PROMPTS, DRAWN_ATTEMPTS, DRAWN_TOKENS = 40, 400, 400
"""What a person can take in as a drawing: larger runs keep no timelines and no margins along answers in memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """One token of a prompt's answer: where it begins, what it writes, and how far ahead of its rival it was (nats).

    `char` counts code points of the text from 0, `token` tokens. A margin below 0 says that the rival was likelier.
    """

    prompt: str
    char: int
    token: int
    text: str
    rival: str
    margin: float
    has_forked: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineEntry:
    """One judged attempt in time: seconds since the run was created, and the text it gave.

    `sha256` is `None` where it failed, and `failure` then has the reason; `is_excluded` where its completion does not
    count. `in_flight` is how many requests of ours were in flight as it left.
    """

    started_s: float
    ended_s: float
    condition: str
    sha256: str | None
    failure: str | None
    is_excluded: bool
    in_flight: int
