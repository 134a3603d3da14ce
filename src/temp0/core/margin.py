"""How nearly tied the tokens were where completions fork, from the branches' own logprobs.

A margin is a difference of logprobs, so it equals the difference of the logits; their magnitude stays unknown. The
limits are ours: forks were seen in the field at margins of 0.003 to 0.125, and positions that never forked as low
as 0.007. Logprobs that contradict themselves, or say nothing, give a reason in place of a number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from temp0.core.analysis import Choice, Distribution, Margin
from temp0.core.run import Token
from temp0.core.text import from_utf8

NEAR_UP_TO = 0.5
CONFIDENT_ABOVE = 1.0

FLOOR = -100.0
"""At or below, a logprob is what servers write for none: -100, -9999 or minus infinity."""

SAME_WITHIN = 0.01
"""A token's own logprob and its entry among the alternatives are one number; further apart, they are of two tokens."""

NOT_ASKED = "no logprobs on every branch; --logprobs both asks for them"
CUT = "one branch was cut by the token limit here, which is no choice"
NO_TOKEN = "no branch has a token here"
NOT_GREEDY = "a branch's token is not its most likely one: not greedy there"


@dataclass(frozen=True, slots=True, kw_only=True)
class Deficit:
    """How far (nats) a chosen token lies below its most likely alternative, and which token (from 0) that is."""

    nats: float
    token: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """What one branch saw at a fork: its token, its own margin, and the logprobs above the floor by bytes."""

    chosen: bytes
    margin: float
    logprobs: Mapping[bytes, float]


def deficit(tokens: Sequence[Token]) -> Deficit | None:
    """The largest deficit of a completion, the earliest of equal ones; 0 where every token is the top one, or tied.

    Only tokens whose logprobs can be read count; `None` where there is none.
    """
    worst: Deficit | None = None
    for place, token in enumerate(tokens):
        own = own_margin(token)
        if isinstance(own, float) and (worst is None or -own > worst.nats):
            worst = Deficit(nats=max(0.0, -own), token=place)
    return worst


def margin(branches: Sequence[Sequence[Token]], *, is_cut: bool = False) -> Margin:
    """The margin at a fork, given each branch's tokens there: one for each of its completions that told them.

    The value is the smallest of the branches' margins, each its chosen token's logprob minus the best other. Where
    completions of one branch disagree, the one of median margin (the lower of two) speaks for it. Rounding does not
    explain a fork where every branch is confident of its own token.

    A branch that ended without an end token in its list has no tokens here. The smallest margin is then at most that
    of the others: near or tied it stands, else it is unknown, as it is where the token limit cut the branch (`is_cut`).
    Distributions are given where every branch has one.
    """
    read = [_typical(tokens) for tokens in branches if tokens]
    seen = [one for one in read if not isinstance(one, str)]
    if not seen or len(seen) < len(read):
        return Margin(value=None, kind="unknown", reason=_telling([one for one in read if isinstance(one, str)]))
    value = min(one.margin for one in seen)
    is_whole = len(seen) == len(branches)
    doubt = _doubt(value, is_whole=is_whole, is_cut=is_cut)
    return Margin(
        value=None if doubt else value,
        kind="unknown" if doubt else _kind(value),
        reason=doubt,
        shift=_shift(seen) if is_whole else None,
        distributions=tuple(map(_distribution, seen)) if is_whole else (),
    )


def _kind(value: float) -> Literal["exact-tie", "near", "unclear", "confident"]:
    if value == 0:
        return "exact-tie"
    if value <= NEAR_UP_TO:
        return "near"
    return "confident" if value > CONFIDENT_ABOVE else "unclear"


def _doubt(value: float, *, is_whole: bool, is_cut: bool) -> str | None:
    """Why the smallest margin that was seen is not the margin of the fork."""
    if value < 0:
        return NOT_GREEDY
    if is_whole:
        return None
    if is_cut:
        return CUT
    if value > NEAR_UP_TO:
        return f"one branch ended here without a token to weigh, and no other was in doubt: {value:.2f} or more ahead"
    return None


def _typical(tokens: Sequence[Token]) -> _Seen | str:
    """The token of median margin among those of one branch, or why none can be read.

    Of several with that margin the least speaks, whatever their order.
    """
    known = {id(token): (token, own_margin(token)) for token in tokens}
    margins = sorted(own for token in tokens if isinstance(own := known[id(token)][1], float))
    if not margins:
        return _telling([own for _, own in known.values() if isinstance(own, str)])
    middle = margins[(len(margins) - 1) // 2]
    seen = [
        _Seen(chosen=token.bytes, margin=own, logprobs=_logprobs(token))
        for token, own in known.values()
        if own == middle
    ]
    return min(seen, key=lambda one: (one.chosen, _ordered(one.logprobs)))


def _telling(reasons: Sequence[str]) -> str:
    """The first reason that says more than that nobody asked."""
    return next((reason for reason in reasons if reason != NOT_ASKED), NOT_ASKED if reasons else NO_TOKEN)


def own_margin(token: Token) -> float | str:
    """A token's logprob minus that of the best other, below 0 where that one is likelier; or why it is unknown."""
    chosen = token.logprob
    if chosen is None or not token.top:
        return NOT_ASKED
    told = _own_and_best_other(token)
    if told is None or not chosen <= 0:
        return "a logprob above 0, or one that is no number"
    own, best = told
    if not own:
        return "a branch's token is not among its own alternatives"
    if chosen <= FLOOR:
        return "a floor in place of a branch's logprob"
    if all(abs(logprob - chosen) > SAME_WITHIN for logprob in own):
        return "a branch's token has another logprob among its own alternatives"
    if best <= FLOOR:
        return "no second alternative with a logprob above the floor"
    if chosen == best == 0:
        return "the logprobs are all zero, which says nothing"
    return chosen - best


def _own_and_best_other(token: Token) -> tuple[list[float], float] | None:
    """What a token has among its alternatives, and the best of the others; `None` where one is above 0 or no number."""
    own: list[float] = []
    best = -math.inf
    for one in token.top:
        logprob = one.logprob
        if not logprob <= 0:
            return None
        if one.bytes == token.bytes:
            own.append(logprob)
        elif logprob > best:
            best = logprob
    return own, best


def _logprobs(token: Token) -> dict[bytes, float]:
    """What is above the floor, by bytes; of two entries with the same bytes the likelier."""
    above = sorted((one.logprob, one.bytes) for one in token.top if one.logprob > FLOOR)
    return {data: logprob for logprob, data in above}


def _ordered(logprobs: Mapping[bytes, float]) -> list[tuple[float, bytes]]:
    """The likeliest first, tied ones by their bytes."""
    return sorted((-logprob, data) for data, logprob in logprobs.items())


def _distribution(seen: _Seen) -> Distribution:
    choices = tuple(Choice(text=token_text(data), logprob=-negative) for negative, data in _ordered(seen.logprobs))
    return Distribution(chosen=token_text(seen.chosen), margin=seen.margin, choices=choices)


def token_text(data: bytes) -> str:
    r"""A token as text, `""` for one without bytes, as an end token is; a part of a character as `\xf0\x9f`."""
    try:
        return from_utf8(data)
    except UnicodeDecodeError:
        return data.decode("utf-8", "backslashreplace")


def _shift(seen: Sequence[_Seen]) -> float | None:
    """The largest difference in the logprob of one token between two branches; at least that, where lists differ.

    A token that a branch does not list is at most as likely there as the last one it lists, so that another branch's
    logprob above that one bounds the difference from below. `None` where no token can be compared.
    """
    lowest = [min(logprob for data, logprob in one.logprobs.items() if data != one.chosen) for one in seen]
    differences = []
    for data in dict.fromkeys(data for one in seen for data in one.logprobs):
        listed = [one.logprobs[data] for one in seen if data in one.logprobs]
        at_most = [low for one, low in zip(seen, lowest, strict=True) if data not in one.logprobs]
        difference = max(listed) - min(listed + at_most)
        if len(listed) > 1 or difference > 0:
            differences.append(difference)
    return max(differences, default=None)
