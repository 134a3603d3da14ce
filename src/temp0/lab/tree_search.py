"""Builds a reduction tree from the one thing that can be measured: in how large a subtree two summands meet.

Every count is checked against the tree it builds, so that what adds in no tree, or in another one from call to call,
is refused rather than drawn.

Source: "FPRev: Revealing the Order of Floating-Point Summation in Numerical Libraries", USENIX ATC 2025. There the
first summand is compared with all others, and each group of equal counts is solved again by itself. Here the summand is
drawn at random, so that no shape of tree needs more than about n log2(n) comparisons (a chain 2 n); and all groups of a
round are measured together, so that a product of many outputs answers many questions at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from temp0.core.reduction_tree import ReductionTree, reduction_tree

Integers = NDArray[np.integer[Any]]
MeetingSizes = Callable[[Integers, Integers], Integers]
"""For pairs of different summands, how many summands the smallest subtree holds that holds both."""


class NoTreeError(Exception):
    """What was counted fits no tree; `is_exact` where every pair met alone, as if nothing were ever rounded away."""

    def __init__(self, message: str, *, is_exact: bool = False) -> None:
        super().__init__(message)
        self.is_exact = is_exact


@dataclass(slots=True)
class _Node:
    """A node under construction; `children` are summands or nodes."""

    children: list[int | _Node] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Group:
    """Summands whose subtrees all become children of the node `into`, which holds `bound` summands."""

    members: Integers
    bound: int
    into: _Node


def revealed_tree(
    meeting_sizes: MeetingSizes,
    summands: int,
    *,
    seed: int = 0,
    most_pairs: int | None = None,
    on_round: Callable[[int], None] | None = None,
) -> ReductionTree:
    """The tree over `summands` (at least 1), from pairs that are asked for in rounds of at most one pair a summand.

    `most_pairs` (by default 200 per summand, far more than any tree of two-way additions needs) ends the search.
    `on_round` is told how many summands have found their place. Raises `NoTreeError` where the counts fit no tree.
    """
    random = np.random.default_rng(seed)
    left = 200 * summands if most_pairs is None else most_pairs
    top = _Node()
    groups = [_Group(members=np.arange(summands), bound=summands + 1, into=top)]
    while groups:
        pivots = [int(random.choice(group.members)) for group in groups]
        others = [group.members[group.members != pivot] for group, pivot in zip(groups, pivots, strict=True)]
        pairs = sum(len(one) for one in others)
        if pairs > left:
            raise NoTreeError(f"the search was given up: {left:,} more pairs did not suffice")
        left -= pairs
        first = np.repeat(np.array(pivots), [len(one) for one in others])
        counted = meeting_sizes(first, np.concatenate(others)) if pairs else np.zeros(0, np.int64)
        parts = np.split(counted, np.cumsum([len(one) for one in others])[:-1])
        if summands > 2 and len(groups) == 1 and len(groups[0].members) == summands:
            _refuse_exact(counted)
        solved = zip(groups, pivots, others, parts, strict=True)
        groups = [rest for one in solved for rest in _grown(*one)]
        if on_round:
            on_round(summands - sum(len(group.members) for group in groups))
    return _numbered(top.children[0], summands)


def _grown(group: _Group, pivot: int, others: Integers, counts: Integers) -> Iterator[_Group]:
    """Climb from the pivot: each count is one node above it; who shares a count is solved below that node."""
    stem: int | _Node = pivot
    below = 1
    for count in np.unique(counts):
        members = others[counts == count]
        if count == group.bound:
            yield _Group(members=members, bound=group.bound, into=group.into)
            break
        below += len(members)
        if count != below or count > group.bound:
            raise NoTreeError(
                f"summand {pivot} and {len(members)} others met among {int(count)}, where a tree would have {below}"
            )
        node = _Node([stem])
        yield _Group(members=members, bound=int(count), into=node)
        stem = node
    group.into.children.append(stem)


def _refuse_exact(counts: Integers) -> None:
    if (counts == 2).all():
        raise NoTreeError("no summand was ever rounded away beside a huge one", is_exact=True)


def _numbered(root: int | _Node, summands: int) -> ReductionTree:
    """The canonical tree; a walk without recursion, since a chain is as deep as it is long."""
    order: list[_Node] = []
    waiting = [root]
    while waiting:
        one = waiting.pop()
        if isinstance(one, _Node):
            order.append(one)
            waiting.extend(one.children)
    order.reverse()
    number = {id(node): summands + place for place, node in enumerate(order)}
    return reduction_tree(
        summands,
        [[number[id(child)] if isinstance(child, _Node) else child for child in node.children] for node in order],
    )
