"""The fork tree: where completions of one prompt that began alike part.

Its leaves are the distinct completions, its counts sum to the completions, and no completion is privileged. Forks
are found on characters; where a branch has tokens, they are looked at from the first one that the branches do not
share, which may begin before the character.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from temp0.core.analysis import Branch, Finish, Fork, ForkTree, Margin
from temp0.core.level import shared_length
from temp0.core.margin import NOT_ASKED, margin
from temp0.core.run import Completion
from temp0.core.spelling import Parting, Spelled, parting, spellings
from temp0.core.text import sha256, utf8

LENGTH_FINISHES = frozenset({"length", "limit", "max_output_tokens", "max_tokens"})
"""How the dialects say that an answer was cut by the token limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """One distinct completion: its text and hash, who gave it, and how it was spelled in tokens, where any told."""

    text: str
    sha256: str
    count: int
    finishes: tuple[Finish, ...]
    spelled: tuple[Spelled, ...] = ()

    @property
    def is_cut(self) -> bool:
        """Whether the token limit ended every one of its completions."""
        return bool(self.finishes) and all(finish.reason in LENGTH_FINISHES for finish in self.finishes)


def leaves_of(completions: Iterable[Completion]) -> list[Leaf]:
    """The distinct completions, in the order in which they first came."""
    by_text: dict[str, list[Completion]] = {}
    for completion in completions:
        by_text.setdefault(completion.text, []).append(completion)
    return [_leaf(text, same) for text, same in by_text.items()]


def _leaf(text: str, same: Sequence[Completion]) -> Leaf:
    return Leaf(
        text=text,
        sha256=sha256(text),
        count=len(same),
        finishes=finishes(Counter(one.finish for one in same)),
        spelled=spellings(one.tokens for one in same if one.tokens is not None),
    )


@dataclass(slots=True)
class _Open:
    """A fork under construction: the leaves below it share `depth` characters."""

    depth: int
    ways: list[_Way] = field(default_factory=list)


@dataclass(slots=True)
class _Way:
    """A finished way on from a fork: its leaves and spellings, and how many completions ended for which reason."""

    leaves: list[Leaf]
    spelled: list[Spelled]
    ended: Counter[str | None]
    count: int
    depth: int
    fork: Fork | None


def fork_tree(leaves: Sequence[Leaf]) -> ForkTree | None:
    """The tree of the distinct completions `leaves`, or `None` where there are none.

    Takes the leaves in the order of their texts, so that those sharing a prefix are neighbours, and closes a fork
    as soon as the next text leaves it. That needs no recursion, however deep the tree.
    """
    if not leaves:
        return None
    ordered = sorted(leaves, key=lambda leaf: leaf.text)
    open_forks: list[_Open] = []
    way = _leaf_way(ordered[0])
    for before, leaf in pairwise(ordered):
        shared = shared_length(before.text, leaf.text)
        while open_forks and open_forks[-1].depth > shared:
            way = _closed(open_forks.pop(), way)
        if not open_forks or open_forks[-1].depth < shared:
            open_forks.append(_Open(shared))
        open_forks[-1].ways.append(way)
        way = _leaf_way(leaf)
    while open_forks:
        way = _closed(open_forks.pop(), way)
    return ForkTree(text=ordered[0].text[: way.depth], count=sum(leaf.count for leaf in leaves), fork=way.fork)


def _leaf_way(leaf: Leaf) -> _Way:
    ended = Counter({finish.reason: finish.count for finish in leaf.finishes})
    return _Way([leaf], list(leaf.spelled), ended, leaf.count, len(leaf.text), None)


def _closed(fork: _Open, last: _Way) -> _Way:
    ways = [*fork.ways, last]
    joined = _Way([], [], Counter(), 0, fork.depth, _fork(fork.depth, ways))
    for way in ways:
        joined.leaves += way.leaves
        joined.spelled += way.spelled
        joined.count += way.count
        for reason, count in way.ended.items():
            joined.ended[reason] += count
    return joined


def _fork(char: int, ways: Sequence[_Way]) -> Fork:
    ways = sorted(ways, key=lambda way: (-way.count, way.leaves[0].text[char : char + 1]))
    branches = tuple(_branch(char, way) for way in ways)
    found = parting([way.spelled for way in ways])
    return Fork(
        char=char,
        byte=len(utf8(ways[0].leaves[0].text[:char])),
        token=found.token if found else None,
        kind="ended" if len(branches) == 2 and any(not branch.text for branch in branches) else "differs",
        branches=branches,
        margin=_margin(ways, found),
    )


def _branch(char: int, way: _Way) -> Branch:
    return Branch(
        text=way.leaves[0].text[char : way.depth],
        count=way.count,
        sha256=tuple(leaf.sha256 for leaf in way.leaves),
        finishes=finishes(way.ended),
        fork=way.fork,
    )


def _margin(ways: Sequence[_Way], found: Parting | None) -> Margin:
    if found is None:
        return Margin(value=None, kind="unknown", reason=NOT_ASKED)
    ended = [way for way, tokens in zip(ways, found.branches, strict=True) if not tokens]
    return margin(found.branches, is_cut=any(leaf.is_cut for way in ended for leaf in way.leaves))


def finishes(counts: Counter[str | None]) -> tuple[Finish, ...]:
    """Counted finish reasons in a stable order: the commonest first, then by name."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0] or ""))
    return tuple(Finish(reason=reason, count=count) for reason, count in ordered)
