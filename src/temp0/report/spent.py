"""What a run took, in words: how long it lasted, and the tokens that servers counted.

A sum that does not stand for every request says for how many it does, and what nobody told is a dash.
"""

from __future__ import annotations

from temp0.core.cost import Cost, Tokens
from temp0.report.figure import UNKNOWN, some

_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


def duration(seconds: float | None) -> str:
    """A length of time in its two largest units, or to a tenth of a second; a dash where nobody knows it.

    >>> duration(0.04), duration(7.25), duration(72.4), duration(7_260), duration(90_000)
    ('0.04 s', '7.2 s', '1 min 12 s', '2 h 1 min', '1 d 1 h')
    """
    if seconds is None:
        return UNKNOWN
    if round(seconds, 1) < 60:
        return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds:.1g} s"
    parts: list[str] = []
    left = round(seconds)
    for unit, size in _UNITS:
        count, left = divmod(left, size)
        parts += [f"{count} {unit}"] if count or parts else []
    return " ".join(part for part in parts[:2] if not part.startswith("0 "))


def tokens(cost: Cost, requests: int) -> str:
    """The tokens of prompts and of answers, as far as they were told.

    >>> tokens(Cost(prompt=Tokens(sum=3_410, n=62), answer=Tokens(sum=4_096, n=64)), 64)
    '3,410 of prompts (62 of 64 requests), 4,096 of answers, as the server counted'
    """
    if not (cost.prompt.n or cost.answer.n):
        return f"{UNKNOWN} (the server told none)"
    told = ((cost.prompt, "of prompts"), (cost.answer, "of answers"))
    return f"{', '.join(_of(counted, what, requests) for counted, what in told)}, as the server counted"


def spent(cost: Cost, requests: int) -> str:
    """Both in one clause, as far as they are known.

    >>> spent(Cost(span=(0, 72)), 64)
    '64 requests in 1 min 12 s'
    """
    lasted = "" if cost.duration_s is None else f" in {duration(cost.duration_s)}"
    told = f", tokens: {tokens(cost, requests)}" if cost.prompt.n or cost.answer.n else ""
    return f"{some(requests, 'request')}{lasted}{told}"


def _of(counted: Tokens, what: str, requests: int) -> str:
    if not counted.n:
        return f"{UNKNOWN} {what}"
    of = f" ({counted.n:,} of {some(requests, 'request')})" if counted.n < requests else ""
    return f"{counted.sum:,} {what}{of}"
