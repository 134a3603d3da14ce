"""The fork tree: where completions of one prompt that began alike part.

Its leaves are the distinct completions, its counts sum to the completions, and no completion is privileged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from os.path import commonprefix

from temp0.core.analysis import Branch, Finish, Fork, ForkTree, Margin
from temp0.core.margin import NOT_ASKED, margin
from temp0.core.run import Token
from temp0.core.text import utf8


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """One distinct completion: its text and hash, who gave it, and its tokens where the server told them."""

    text: str
    sha256: str
    count: int
    finishes: tuple[Finish, ...]
    tokens: tuple[Token, ...] | None = None


@dataclass(slots=True)
class _Open:
    """A fork under construction: the leaves below it share `depth` characters."""

    depth: int
    ways: list[_Way] = field(default_factory=list)


@dataclass(slots=True)
class _Way:
    """A finished way on from a fork: its leaves, and how many characters they share."""

    leaves: list[Leaf]
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
        shared = len(commonprefix([before.text, leaf.text]))
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
    return _Way([leaf], len(leaf.text), None)


def _closed(fork: _Open, last: _Way) -> _Way:
    ways = [*fork.ways, last]
    leaves = [leaf for way in ways for leaf in way.leaves]
    return _Way(leaves, fork.depth, _fork(fork.depth, ways))


def _fork(char: int, ways: Sequence[_Way]) -> Fork:
    branches = sorted((_branch(char, way) for way in ways), key=lambda branch: (-branch.count, branch.text))
    ended = len(branches) == 2 and any(not branch.text for branch in branches)
    sequences = _token_sequences(ways)
    shared = None if sequences is None else _shared_tokens(sequences)
    return Fork(
        char=char,
        byte=len(utf8(ways[0].leaves[0].text[:char])),
        token=shared,
        kind="ended" if ended else "differs",
        branches=tuple(branches),
        margin=_margin(sequences, shared),
    )


def _branch(char: int, way: _Way) -> Branch:
    return Branch(
        text=way.leaves[0].text[char : way.depth],
        count=sum(leaf.count for leaf in way.leaves),
        sha256=tuple(leaf.sha256 for leaf in way.leaves),
        finishes=tally_finishes(way.leaves),
        fork=way.fork,
    )


def tally_finishes(leaves: Sequence[Leaf]) -> tuple[Finish, ...]:
    """The finish reasons of all completions below, the commonest first."""
    counts: Counter[str | None] = Counter()
    for leaf in leaves:
        counts.update({finish.reason: finish.count for finish in leaf.finishes})
    return finishes(counts)


def finishes(counts: Counter[str | None]) -> tuple[Finish, ...]:
    """Counted finish reasons in a stable order: the commonest first, then by name."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0] or ""))
    return tuple(Finish(reason=reason, count=count) for reason, count in ordered)


def _token_sequences(ways: Sequence[_Way]) -> list[tuple[Token, ...]] | None:
    """One completion's tokens for each branch, or `None` where a branch has no completion with tokens."""
    sequences = [next((leaf.tokens for leaf in way.leaves if leaf.tokens is not None), None) for way in ways]
    told = [sequence for sequence in sequences if sequence is not None]
    return told if len(told) == len(ways) else None


def _shared_tokens(sequences: Sequence[tuple[Token, ...]]) -> int:
    return len(commonprefix([[token.bytes for token in sequence] for sequence in sequences]))


def _margin(sequences: Sequence[tuple[Token, ...]] | None, at: int | None) -> Margin:
    if sequences is None or at is None:
        return Margin(value=None, kind="unknown", reason=NOT_ASKED)
    return margin([sequence[at] if at < len(sequence) else None for sequence in sequences])
