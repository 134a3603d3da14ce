"""Words that evidence is told in: counts with their noun, and probabilities with their pooled test."""

from __future__ import annotations

from temp0.core.cause.evidence import Labelled
from temp0.core.cause.finding import PooledTest

SHOWN = 4
"""Values told one by one; more are counted."""
_LEAST = 0.0001


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """A count with its noun: `1 block`, `1,024 blocks`.

    >>> counted(1, "block"), counted(1024, "block"), counted(2, "reply", "replies")
    ('1 block', '1,024 blocks', '2 replies')
    """
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


def probability(p: float) -> str:
    """A p value for a person: two digits, and never 0.

    >>> probability(0.04321), probability(0.00001)
    ('p = 0.043', 'p < 0.0001')
    """
    return f"p = {p:.2g}" if p >= _LEAST else "p < 0.0001"


def tested(test: PooledTest) -> str:
    """A test with what it rests on: `p = 0.0044 over 12 blocks`."""
    too_few = "" if test.can_tell else ", which so few blocks cannot bring to 0.05"
    return f"{probability(test.p)} over {counted(test.n, 'block')}{too_few}"


def groups(labelled: Labelled) -> str:
    """What each value of a label gave: `f1: one text in 12, f2: 2 texts in 8`."""
    told = [
        f"{group.value}: {'one text' if group.texts == 1 else f'{group.texts} texts'} in {group.attempts}"
        for group in labelled.groups[:SHOWN]
    ]
    more = len(labelled.groups) - SHOWN
    return ", ".join(told) + (f" and {counted(more, 'more value')}" if more > 0 else "")
