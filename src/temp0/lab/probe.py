"""Asks a kernel, at one batch size and its real K and N, in how large a subtree two summands of a place meet.

Summand i is huge, summand j its negative, all others are one unit. Whatever is added to a huge number is rounded away;
once the two have met, what comes later survives. So K minus the units that survive is the size of the smallest subtree
that holds both. Other places of the same product carry other pairs only where their content was shown not to matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from temp0.core.reduction_tree import ReductionTree, lowest_summands
from temp0.lab.kernel import Kernel
from temp0.lab.precision import Floats
from temp0.lab.tree_search import Integers, NoTreeError


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The size of a product: `rows` in the batch, `summands` of each result, and `columns` of results."""

    rows: int
    columns: int
    summands: int


class PlaceProbe:
    """Questions to one class of places, which are known to add alike: `rows` by `columns` of a product.

    Questions are spread over the columns, or over the rows where there are more of them; over neither where places are
    not `independent`.
    """

    def __init__(
        self, kernel: Kernel, shape: Shape, rows: Sequence[int], columns: Sequence[int], *, independent: bool
    ) -> None:
        self._kernel, self._shape = kernel, shape
        self._first = rows[0], columns[0]
        self._along_rows = kernel.is_sum or len(rows) > len(columns)
        self._lanes = np.array((rows if self._along_rows else columns)[: None if independent else 1])
        self.products = 0

    def meeting_sizes(self, first: Integers, second: Integers) -> Integers:
        """How many summands the smallest subtree holds that holds `first[p]` and `second[p]`, for each pair p.

        Where a result cannot hold a count of K units, only some summands are units at a time, and the others zero.
        Raises `NoTreeError` where what comes back is no count: the kernel loses units, or has no room for the masks.
        """
        takes, summands, most = self._kernel.takes, self._shape.summands, self._kernel.gives.exact_count
        survivors = np.zeros(len(first), np.int64)
        for at in range(0, len(first), len(self._lanes)):
            some = slice(at, at + len(self._lanes))
            pair = np.arange(len(first[some]))
            for start in range(0, summands, most):
                asked = np.zeros((len(pair), summands), takes.carrier)
                asked[:, start : start + most] = takes.unit
                asked[pair, first[some]], asked[pair, second[some]] = takes.mask, -takes.mask
                survivors[some] += _counts(self._results(asked, 1.0), takes.unit)
        return summands - survivors

    def rounded_products(self, tree: ReductionTree) -> NDArray[np.bool_]:
        """For each summand, whether its product is rounded before it is added to its sibling in the tree.

        The product of 1 + h with itself needs one bit more than the format has; beside minus (1 + h) that bit stays in
        the result only where it was never rounded away.
        """
        takes = self._kernel.takes
        siblings = _siblings(tree)
        asked_for = np.array(sorted(siblings))
        factor = 1.0 + 2.0 ** -((takes.bits + 1) // 2)
        rounded = np.ones(tree.leaves, np.bool_)
        for at in range(0, len(asked_for), len(self._lanes)):
            some = asked_for[at : at + len(self._lanes)]
            asked = np.zeros((len(some), tree.leaves), takes.carrier)
            lane = np.arange(len(some))
            asked[lane, some], asked[lane, [siblings[one] for one in some.tolist()]] = factor, -1.0
            rounded[some] = self._results(asked, factor).astype(np.float64) != factor * factor - factor
        return rounded

    def _results(self, asked: Floats, other_factor: float) -> Floats:
        """What the places of the first questions give, one question a lane; lanes without one repeat the first."""
        self.products += 1
        lanes = self._lanes[: len(asked)]
        sides = (self._shape.rows, self._shape.columns)
        filled = np.repeat(asked[:1], sides[0 if self._along_rows else 1], axis=0)
        filled[lanes] = asked
        others = np.full((sides[1 if self._along_rows else 0], asked.shape[1]), other_factor, asked.dtype)
        row, column = self._first
        factors = (filled, others) if self._along_rows else (others, filled)
        out = self._kernel.multiply(*factors)
        seen: Floats = out[lanes, column] if self._along_rows else out[row, lanes]
        return seen


def _counts(seen: Floats, unit: float) -> Integers:
    counts = seen.astype(np.float64) / unit
    is_count = np.isfinite(counts) & (counts == np.rint(counts)) & (counts >= 0)
    if not is_count.all():
        raise NoTreeError(f"{float(seen[~is_count][0])!r} came back where a count of units was expected")
    return counts.astype(np.int64)


def _siblings(tree: ReductionTree) -> dict[int, int]:
    """For each summand of a two-way addition, the lowest summand on the other side of it."""
    lowest = lowest_summands(tree)
    return {
        child: lowest[node[1 - place]]
        for node in tree.nodes
        if len(node) == 2
        for place, child in enumerate(node)
        if child < tree.leaves
    }
