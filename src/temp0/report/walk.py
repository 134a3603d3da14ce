"""The fork tree to be walked: every branch with its counts and its words, to be opened one by one.

It goes deeper than the picture and is bounded all the same: what is left out is counted where it was left out.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from temp0.core.analysis import Branch, Fork, PromptAnalysis
from temp0.report.visible import elided
from temp0.report.word import from_word

_MOST_BRANCHES, _MOST_OF_A_FORK, _MOST_DEPTH = 80, 12, 24
_LONGEST, _SHORTEST, _HEAD = 4_000, 80, 100

Conditions = Mapping[str, tuple[tuple[str, int], ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One branch: its words up to the next fork, and the branches from there; `head` begins with its first whole word.

    `folded` says that it forks again in ways that are not shown; `sha256` is its text's where it is the only one.
    `others` branches beside `below`, with `others_count` completions, are left out.
    """

    count: int
    head: str
    text: str
    conditions: tuple[tuple[str, int], ...]
    sha256: str | None
    finish: str
    char: int | None
    below: tuple[Step, ...]
    others: int
    others_count: int
    folded: bool


def walk(prompt: PromptAnalysis, room: int) -> Step | None:
    """The tree from its root, whose text all share; about `room` characters in all. `None` where answers never part."""
    tree = prompt.tree
    if tree is None or tree.fork is None:
        return None
    opened = _opened(tree.fork)
    shown = 1 + sum(min(len(fork.branches), _MOST_OF_A_FORK) for fork in opened.values())
    limit = max(_SHORTEST, min(_LONGEST, room // shown))
    conditions = {text.sha256: text.conditions for text in prompt.texts}
    names = [one.name for one in prompt.conditions]
    root = Branch(text=tree.text, count=tree.count, sha256=tuple(conditions), finishes=(), fork=tree.fork)
    return _step(root, opened, conditions, names, limit)


def _opened(root: Fork) -> dict[int, Fork]:
    """The forks that are shown, by identity: those with the most completions first."""
    opened, shown, order = dict[int, Fork](), 0, count()
    waiting = [(-sum(branch.count for branch in root.branches), next(order), 1, root)]
    while waiting:
        _, _, depth, fork = heapq.heappop(waiting)
        branches = fork.branches[:_MOST_OF_A_FORK]
        if depth > _MOST_DEPTH or shown + len(branches) > _MOST_BRANCHES:
            continue
        opened[id(fork)] = fork
        shown += len(branches)
        for branch in branches:
            if branch.fork:
                heapq.heappush(waiting, (-branch.count, next(order), depth + 1, branch.fork))
    return opened


def _step(
    branch: Branch,
    opened: Mapping[int, Fork],
    conditions: Conditions,
    names: Sequence[str],
    limit: int,
    before: str = "",
) -> Step:
    """A branch, `before` being the end of what comes before it."""
    fork = branch.fork if branch.fork and id(branch.fork) in opened else None
    branches, hidden = (fork.branches[:_MOST_OF_A_FORK], fork.branches[_MOST_OF_A_FORK:]) if fork else ((), ())
    whole, counts = before + branch.text, Counter[str]()
    for sha256 in branch.sha256:
        counts.update(dict(conditions[sha256]))
    return Step(
        count=branch.count,
        head=from_word(before + branch.text[:_HEAD], len(before)) if branch.text else "",
        text=elided(branch.text, limit),
        conditions=tuple((name, counts[name]) for name in names if counts[name]),
        sha256=branch.sha256[0] if len(branch.sha256) == 1 else None,
        finish=", ".join(one.reason for one in branch.finishes[:3] if one.reason),
        char=fork.char if fork else None,
        below=tuple(_step(one, opened, conditions, names, limit, whole[-_HEAD:]) for one in branches),
        others=len(hidden),
        others_count=sum(one.count for one in hidden),
        folded=branch.fork is not None and fork is None,
    )
