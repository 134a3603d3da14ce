"""The part of a fork tree that a person can take in: the largest branches, to a bounded depth.

Nothing vanishes: what is not shown is counted where it was left out.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count

from temp0.core.analysis import Branch, Finish, Fork
from temp0.report.word import Span, marked

_MOST_ROWS = 24
_MOST_BRANCHES = 12
_MOST_DEPTH = 8
_CONTEXT = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Limb:
    """A branch as shown: `spans` are its text with the differing words marked, `folded` the forks it hides.

    `repeated` says how many characters at the end of its first span the words of the next fork repeat.
    """

    count: int
    sha256: tuple[str, ...]
    spans: tuple[Span, ...]
    repeated: int
    finishes: tuple[Finish, ...]
    is_end: bool
    fork: Outline | None
    folded: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """A fork as shown; `others` counts the branches left out, `others_count` their completions.

    `lead` says how many of the characters before the fork its branches repeat, to show whole words.
    """

    fork: Fork
    lead: int
    limbs: tuple[Limb, ...]
    others: int
    others_count: int

    @property
    def rows(self) -> int:
        """How many rows it takes: one for each leaf shown, and one for what was left out."""
        below = sum(limb.fork.rows if limb.fork else 1 for limb in self.limbs)
        return below + (1 if self.others else 0)


def outline(root: Fork, before: str) -> Outline:
    """The shown part of the tree that begins at `root`; `before` is the text all completions share."""
    return _drawn(root, before[-_CONTEXT:], _opened(root))


def fork_of_each(root: Fork) -> Iterator[tuple[str, Fork, Branch]]:
    """For each distinct text by its hash, the last fork on its way and the branch it took there."""
    waiting = [root]
    while waiting:
        fork = waiting.pop()
        for branch in fork.branches:
            if branch.fork:
                waiting.append(branch.fork)
            else:
                yield from ((sha256, fork, branch) for sha256 in branch.sha256)


def _opened(root: Fork) -> set[int]:
    """The forks to show, by identity: the most completions first, until the rows are used up."""
    opened, rows, order = {id(root)}, _height(root), count()
    waiting = [(-b.count, next(order), 1, b.fork) for b in root.branches[:_MOST_BRANCHES] if b.fork]
    heapq.heapify(waiting)
    while waiting:
        _, _, depth, fork = heapq.heappop(waiting)
        if depth >= _MOST_DEPTH or rows - 1 + _height(fork) > _MOST_ROWS:
            continue
        opened.add(id(fork))
        rows += _height(fork) - 1
        for branch in fork.branches[:_MOST_BRANCHES]:
            if branch.fork:
                heapq.heappush(waiting, (-branch.count, next(order), depth + 1, branch.fork))
    return opened


def _height(fork: Fork) -> int:
    return min(len(fork.branches), _MOST_BRANCHES + 1)


def _drawn(fork: Fork, before: str, opened: set[int]) -> Outline:
    shown, hidden = fork.branches[:_MOST_BRANCHES], fork.branches[_MOST_BRANCHES:]
    lead, spans = marked(before, [branch.text for branch in shown])
    return Outline(
        fork=fork,
        lead=lead,
        limbs=tuple(_limb(branch, marks, before, opened) for branch, marks in zip(shown, spans, strict=True)),
        others=len(hidden),
        others_count=sum(branch.count for branch in hidden),
    )


def _limb(branch: Branch, spans: tuple[Span, ...], before: str, opened: set[int]) -> Limb:
    is_opened = branch.fork is not None and id(branch.fork) in opened
    below = branch.fork if is_opened else None
    fork = _drawn(below, (before + branch.text[-_CONTEXT:])[-_CONTEXT:], opened) if below else None
    kept, repeated = _without_end(spans, fork.lead) if fork else (spans, 0)
    return Limb(
        count=branch.count,
        sha256=branch.sha256,
        spans=kept,
        repeated=repeated,
        finishes=branch.finishes,
        is_end=not branch.text,
        fork=fork,
        folded=branch.fork is not None and not is_opened,
    )


def _without_end(spans: tuple[Span, ...], length: int) -> tuple[tuple[Span, ...], int]:
    """The spans without their last characters, which the next fork's words repeat, and how many of those are left.

    The first span stays whole, since it names the branch.
    """
    kept = list(spans)
    while length and len(kept) > 1:
        last = kept.pop()
        if len(last.text) > length:
            kept.append(replace(last, text=last.text[:-length]))
        length = max(0, length - len(last.text))
    return tuple(kept), min(length, len(kept[0].text))
