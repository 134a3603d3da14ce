"""What the branches of a fork saw there, token beside token, so that it shows how far their logprobs moved.

A branch lists only its likeliest tokens; one that it does not list is left open, never 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from temp0.core.analysis import Distribution, Fork
from temp0.report.visible import beginning, visible

_TOKENS, _BRANCHES = 5, 6
_LONGEST = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One branch's logprob of a token; `None` where it did not list it. `is_chosen` where the branch took it."""

    logprob: float | None
    is_chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """A fork as its branches saw it: how many took each, and each token with its looks and how far these are apart.

    `None` in place of how far, where not every branch listed the token.
    """

    counts: tuple[int, ...]
    tokens: tuple[tuple[str, tuple[Look, ...], float | None], ...]
    others: int


def sight(fork: Fork) -> Sight | None:
    """The tokens that any branch took, and the likeliest others; `None` where the branches told none."""
    seen = fork.margin.distributions[:_BRANCHES]
    if len(fork.margin.distributions) != len(fork.branches):
        return None
    logprobs = [{choice.text: choice.logprob for choice in one.choices} for one in seen]
    likeliest = {text: max(one.get(text, -1e9) for one in logprobs) for one in logprobs for text in one}
    chosen = {one.chosen for one in seen}
    order = sorted(likeliest, key=lambda text: (text not in chosen, -likeliest[text], text))
    shown = sorted(order[: max(_TOKENS, len(chosen))], key=lambda text: (-likeliest[text], text))
    return Sight(
        counts=tuple(branch.count for branch in fork.branches[:_BRANCHES]),
        tokens=tuple(
            (token(text), _looks(text, seen), _moved([known.get(text) for known in logprobs])) for text in shown
        ),
        others=len(fork.branches) - len(seen),
    )


def _looks(text: str, seen: Sequence[Distribution]) -> tuple[Look, ...]:
    return tuple(
        Look(
            logprob=next((choice.logprob for choice in one.choices if choice.text == text), None),
            is_chosen=text == one.chosen,
        )
        for one in seen
    )


def _moved(logprobs: Sequence[float | None]) -> float | None:
    known = [logprob for logprob in logprobs if logprob is not None]
    return max(known) - min(known) if len(known) == len(logprobs) else None


def token(text: str) -> str:
    """A token made visible, its blanks as marks; an end token has no text."""
    return visible(beginning(text, _LONGEST), spaces=True) if text else "(end)"
