"""Junctions: the positions of an answer by how nearly tied their tokens were, and whether answers parted there.

It tests the public claim that a prompt is safe exactly when its answer passes no junction of near-tied tokens: margins
come from attempts with logprobs, forks from the plain ones.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from os.path import commonprefix

from temp0.core.analysis import Fork, ForkTree, PromptAnalysis
from temp0.core.detail import Position
from temp0.core.margin import CONFIDENT_ABOVE, NEAR_UP_TO, own_margin, token_text
from temp0.core.run import Completion
from temp0.core.text import utf8

BIN_EDGES = (0.0, 0.01, 0.03, 0.1, 0.25, NEAR_UP_TO, CONFIDENT_ABOVE, 2.0, 5.0)
"""Lower edges of the bins of margins (nats); exact ties have a bin of their own before them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarginBin:
    """Positions whose margin is at least `low` and below `high` (`None`: any above), and how many of them are forks.

    The bin of exact ties has 0 for both.
    """

    low: float
    high: float | None
    positions: int
    forks: int


def walk(tree: ForkTree) -> Iterator[tuple[str, Fork]]:
    """Every fork with the text that all its branches share, the earliest first."""
    waiting = [(tree.text, tree.fork)] if tree.fork else []
    while waiting:
        prefix, fork = min(waiting, key=lambda one: (one[1].char, one[0]))
        waiting.remove((prefix, fork))
        yield prefix, fork
        waiting += [(prefix + branch.text, branch.fork) for branch in fork.branches if branch.fork]


def parting_bytes(prefix: str, fork: Fork, text: str) -> tuple[int, ...]:
    """Where `text`, which begins with `prefix`, leaves each other branch of the fork after it, in UTF-8 bytes.

    Two characters that differ may begin with the same bytes, and a token may end between these.
    """
    own = utf8(text[len(prefix) :][:1])
    heads = [utf8(branch.text[:1]) for branch in fork.branches]
    return tuple(len(utf8(prefix)) + len(commonprefix([own, head])) for head in heads if head != own)


def positions(
    prompt: PromptAnalysis, completions: Sequence[Completion], *, most: int | None = None
) -> tuple[Position, ...]:
    """The positions of the commonest text told with tokens, of equally common ones the first; none where none is.

    A token is a fork where plain answers that had its text so far part between its first character and its last.
    Positions whose margin cannot be read are left out, as are those after the first `most` tokens.
    """
    told = [one for one in completions if one.tokens]
    counts = Counter(one.text for one in told)
    if not told:
        return ()
    answer = max(told, key=lambda one: counts[one.text])
    passed = [one for one in walk(prompt.tree) if answer.text.startswith(one[0])] if prompt.tree else []
    forks = [byte for prefix, fork in passed for byte in parting_bytes(prefix, fork, answer.text)]
    whole = utf8(answer.text)
    found, begin = [], 0
    for place, token in enumerate((answer.tokens or ())[:most]):
        end = begin + len(token.bytes)
        own = own_margin(token)
        if isinstance(own, float):
            rivals = [one for one in token.top if one.bytes != token.bytes]
            rival = max(rivals, key=lambda one: one.logprob)
            found.append(
                Position(
                    prompt=prompt.id,
                    char=len(whole[:begin].decode("utf-8", "ignore")),
                    token=place,
                    text=token_text(token.bytes),
                    rival=token_text(rival.bytes),
                    margin=own,
                    has_forked=any(begin <= byte < max(end, begin + 1) for byte in forks),
                )
            )
        begin = end
    return tuple(found)


def bins(of: Iterable[Position]) -> tuple[MarginBin, ...]:
    """Positions counted by margin: exact ties, then from each edge to the next; those below 0 are left out."""
    known = [one for one in of if one.margin >= 0]
    edges = [math.nextafter(0, 1), *BIN_EDGES[1:], math.inf]
    return (
        _bin(0.0, 0.0, [one for one in known if one.margin == 0]),
        *(_bin(low, high, [one for one in known if low <= one.margin < high]) for low, high in pairwise(edges)),
    )


def _bin(low: float, high: float, inside: Sequence[Position]) -> MarginBin:
    return MarginBin(
        low=low if low in BIN_EDGES else 0.0,
        high=None if high == math.inf else high,
        positions=len(inside),
        forks=sum(one.has_forked for one in inside),
    )
