"""Equal parts of a reduction tree: subtrees of one shape that together hold every summand, such as blocks and lanes.

Two subtrees have one shape where one is the other with every summand moved by the same distance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from temp0.core.reduction_tree import ReductionTree, contracted, lowest_summands, sizes, subtree, summands


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """A tree as `count` equal parts and what joins them.

    Part p begins at the summand `starts[p]`; `part` is one of them with its summands numbered from 0, and `joining` has
    the parts as its summands. `nodes` are the ids of the parts in the whole tree. `stride` is the distance between
    neighbours inside a part, or `None` where it is not the same everywhere.
    """

    nodes: tuple[int, ...]
    starts: tuple[int, ...]
    part: ReductionTree
    joining: ReductionTree
    stride: int | None

    @property
    def count(self) -> int:
        """How many parts there are."""
        return len(self.nodes)

    @property
    def are_lanes(self) -> bool:
        """Whether part p takes every `count`-th summand from the p-th on."""
        return self.stride == self.count and self.starts == tuple(range(self.count))


def equal_parts(tree: ReductionTree) -> Iterator[Parts]:
    """Every way to see a tree as two or more equal parts of two or more summands, at even distances; most parts first.

    A tree whose parts are nested has several ways: 8 blocks of 72 are also 4 of 144 and 2 of 288.
    """
    by_shape: dict[int, list[int]] = {}
    lowest = lowest_summands(tree)
    for node, shape in enumerate(_shapes(tree, lowest)):
        if node >= tree.leaves:
            by_shape.setdefault(shape, []).append(node)
    count = sizes(tree)
    for nodes in sorted(by_shape.values(), key=len, reverse=True):
        ordered = sorted(nodes, key=lowest.__getitem__)
        starts = tuple(lowest[node] for node in ordered)
        if len(nodes) > 1 and len(nodes) * count[nodes[0]] == tree.leaves and even_step(starts) is not None:
            yield Parts(
                nodes=tuple(ordered),
                starts=starts,
                part=subtree(tree, ordered[0]),
                joining=contracted(tree, ordered),
                stride=even_step(summands(tree, ordered[0])),
            )


def chains(tree: ReductionTree) -> list[tuple[int, range]]:
    """The largest subtrees that take summands at even distances one by one, upwards, as id and summands, in order.

    Together they hold every summand; one that is in no chain is there alone.
    """
    taken: list[range | None] = [range(leaf, leaf + 1) for leaf in range(tree.leaves)]
    for first, *others in tree.nodes:
        chain = taken[first]
        is_one_by_one = len(others) == 1 and others[0] < tree.leaves
        taken.append(_longer(chain, others[0]) if chain is not None and is_one_by_one else None)
    found, waiting = [], [tree.root]
    while waiting:
        one = waiting.pop()
        chain = taken[one]
        if chain is not None:
            found.append((one, chain))
        else:
            waiting.extend(tree.children(one))
    return sorted(found, key=lambda part: part[1].start)


def _longer(chain: range, summand: int) -> range | None:
    step = summand - chain[-1] if len(chain) == 1 else chain.step
    return range(chain.start, summand + 1, step) if summand == chain[-1] + step else None


def even_step(numbers: Sequence[int]) -> int | None:
    """The distance between neighbours where it is the same everywhere.

    >>> even_step([0, 8, 16]), even_step([0, 1, 3])
    (8, None)
    """
    steps = {later - earlier for earlier, later in pairwise(numbers)}
    return steps.pop() if len(steps) == 1 else None


def _shapes(tree: ReductionTree, lowest: Sequence[int]) -> list[int]:
    """A number for each id, the same for ids of one shape."""
    known: dict[tuple[tuple[int, int], ...], int] = {}
    shapes = [0] * tree.leaves
    for node in tree.nodes:
        start = lowest[node[0]]
        key = tuple((shapes[child], lowest[child] - start) for child in node)
        shapes.append(known.setdefault(key, len(known) + 1))
    return shapes
