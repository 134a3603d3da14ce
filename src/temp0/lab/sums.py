"""The order of addition, by hand: the same numbers added in many orders under several reduction trees.

Every tree is a plain callable from rows of summands to their sums, so a reader can try one of their own. All
trees of an experiment see the same orders, so nothing but the tree differs between them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Precision = Literal["float32", "float64"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A reduction tree: `add` takes rows of summands, (orders, n), and gives the sum of each row, (orders,).

    `summands` is the precision to which the summands are rounded before they are added.
    """

    name: str
    add: Callable[[Floats], Floats]
    summands: Precision = "float32"


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeSums:
    """What one tree made of all orders: how many different sums (told apart by their bits), and their range.

    `exact` is the sum of the same summands, rounded to float64 once at the end.
    """

    tree: Tree
    exact: float
    distinct: int
    min: float
    max: float

    @property
    def spread(self) -> float:
        """The largest sum minus the smallest."""
        return self.max - self.min


@dataclass(frozen=True, slots=True, kw_only=True)
class SumsResult:
    """One experiment: what was added, in how many orders, and what each tree made of it."""

    summands: tuple[float, ...]
    orders: int
    seed: int
    trees: tuple[TreeSums, ...]


HAND_CALCULATION = (1e-8,) * 100 + (1.0, -1.0)


def one_by_one(rows: Floats) -> Floats:
    """Add from left to right, rounding after every addition to the summands' precision: n - 1 deep."""
    return _chain(rows, np.zeros(len(rows), dtype=rows.dtype))


def one_by_one_in_float64(rows: Floats) -> Floats:
    """Add from left to right in float64, whatever the summands' precision: a wider accumulator."""
    return _chain(rows, np.zeros(len(rows), dtype=np.float64))


def pairwise(rows: Floats) -> Floats:
    """Add with `np.sum`: up to 128 summands in eight interleaved chains, joined as a tree; more in halves."""
    return np.asarray(np.sum(np.ascontiguousarray(rows), axis=1))


def halving(rows: Floats) -> Floats:
    """Add the first half to the second, each summed in the same way: log2(n) deep, rounded up."""
    middle = rows.shape[1] // 2
    if middle == 0:
        return rows[:, 0]
    return np.asarray(halving(rows[:, :middle]) + halving(rows[:, middle:]))


def exact(rows: Floats) -> Floats:
    """Add with no rounding but the last, to float64 (Shewchuk 1997, as `math.fsum` does it)."""
    return np.array([math.fsum(row) for row in rows.tolist()], dtype=np.float64)


TREES = (
    Tree(name="float32, one by one", add=one_by_one),
    Tree(name="float32, numpy's pairwise", add=pairwise),
    Tree(name="float32, halving", add=halving),
    Tree(name="float32, float64 total", add=one_by_one_in_float64),
    Tree(name="float64, one by one", add=one_by_one, summands="float64"),
    Tree(name="float32, exact", add=exact),
)


def order_experiment(
    summands: Sequence[float] = HAND_CALCULATION,
    *,
    orders: int = 1000,
    seed: int = 0,
    trees: Sequence[Tree] = TREES,
) -> SumsResult:
    """Add one or more `summands` in `orders` (at least 1) random orders, the same ones under each tree."""
    tiled = np.tile(np.array(summands, dtype=np.float64), (orders, 1))
    rows = np.random.default_rng(seed).permuted(tiled, axis=1)
    return SumsResult(
        summands=tuple(summands),
        orders=orders,
        seed=seed,
        trees=tuple(_tree_sums(tree, rows.astype(tree.summands)) for tree in trees),
    )


def _chain(rows: Floats, total: Floats) -> Floats:
    for column in rows.T:
        total += column
    return total


def _tree_sums(tree: Tree, rows: Floats) -> TreeSums:
    sums = tree.add(rows)
    return TreeSums(
        tree=tree,
        exact=math.fsum(rows[0].tolist()),
        distinct=len({value.tobytes() for value in sums}),
        min=float(sums.min()),
        max=float(sums.max()),
    )
