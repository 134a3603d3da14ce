"""How nearly tied the tokens were where completions fork, from the branches' own logprobs.

A margin is a difference of logprobs, so it equals the difference of the logits; their magnitude stays unknown. The
limits are ours: forks were seen in the field at margins of 0.003 to 0.125, and positions that never forked as low
as 0.007.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from temp0.core.analysis import Margin
from temp0.core.run import Token

NEAR_UP_TO = 0.5
CONFIDENT_ABOVE = 1.0

FLOOR = -100.0
"""At or below, a logprob is what servers write for none: -100, -9999 or minus infinity."""

NOT_ASKED = "no logprobs on every branch; --logprobs both asks for them"


def margin(tokens: Sequence[Token | None]) -> Margin:
    """The margin at a fork, given each branch's own token there (`None` where it has none).

    The value is the smallest of the branches' margins, each its chosen token's logprob minus the best other. Rounding
    does not explain a fork where every branch is confident of its own token.
    """
    margins = []
    for token in tokens:
        measured = _of(token)
        if isinstance(measured, str):
            return Margin(value=None, kind="unknown", reason=measured)
        margins.append(measured)
    smallest = min(margins)
    if smallest == 0:
        return Margin(value=0.0, kind="exact-tie")
    if smallest <= NEAR_UP_TO:
        return Margin(value=smallest, kind="near")
    return Margin(value=smallest, kind="confident" if smallest > CONFIDENT_ABOVE else "unclear")


def _of(token: Token | None) -> float | str:
    """One branch's margin, or why it is unknown."""
    if token is None:
        return "one branch ended here, so it has no token to weigh"
    if token.logprob is None or not token.top:
        return NOT_ASKED
    if token.bytes not in {one.bytes for one in token.top}:
        return "a branch's token is not among its own alternatives"
    others = [one.logprob for one in token.top if one.bytes != token.bytes]
    if not others or not math.isfinite(token.logprob) or not max(others) > FLOOR:
        return "no second alternative with a logprob above the floor"
    if token.logprob == 0 and max(others) == 0:
        return "the logprobs are all zero, which says nothing"
    if token.logprob < max(others):
        return "a branch's token is not its most likely one: not greedy there"
    return token.logprob - max(others)
