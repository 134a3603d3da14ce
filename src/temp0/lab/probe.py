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

_TWO_MASKS = ((0, 1), (1, 1), (-2, -1), (-1, -1))
"""Places and signs of a huge number and a smaller one, met one inside the other from whichever end."""


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
                survivors[some] += _counts(self._results(asked, 1.0), takes.unit, summands)
        return summands - survivors

    def check_units(self) -> None:
        """Ask for a sum of units and nothing else. Raises `NoTreeError` where it is not their number."""
        asked = np.zeros((1, self._shape.summands), self._kernel.takes.carrier)
        units = min(self._shape.summands, self._kernel.gives.exact_count)
        asked[:, :units] = self._kernel.takes.unit
        seen = float(self._results(asked, 1.0)[0]) / self._kernel.takes.unit
        if seen != units:
            raise NoTreeError(f"a sum of {units:,} units gave {seen!r} of them, so this is no sum, or it loses some")

    def is_exact(self) -> bool:
        """Whether a unit outlives two huge numbers of different size, which a compensated sum does not hold at once."""
        takes, summands = self._kernel.takes, self._shape.summands
        if summands < len(_TWO_MASKS):
            return True
        asked = np.zeros((1, summands), takes.carrier)
        smaller = 2.0 ** (np.log2(takes.mask * takes.unit) // 2)
        for place, sign in _TWO_MASKS:
            asked[0, place] = sign * (smaller if place in {1, -2} else takes.mask)
        asked[0, 2] = takes.unit
        return float(self._results(asked, 1.0)[0]) == takes.unit

    def rounded_products(self, tree: ReductionTree) -> NDArray[np.bool_]:
        """For each summand, whether its product is rounded before it is added to its sibling in the tree.

        The product of 1 + h with itself needs one bit more than the format has; beside minus (1 + h) that bit stays in
        the result only where it was never rounded away.
        """
        step = 2.0 ** -((self._kernel.takes.bits + 1) // 2)
        siblings = _siblings(tree)
        rounded = np.ones(tree.leaves, np.bool_)
        asked = [((one, 1 + step), (sibling, -1.0)) for one, sibling in siblings.items()]
        seen = self._placed(asked, 1 + step)
        rounded[list(siblings)] = seen != step + step * step  # exact in float64, where the square of 1 + step is not
        return rounded

    def wide_nodes(self, tree: ReductionTree) -> NDArray[np.bool_]:
        """For each node, whether its sum is kept in more bits than the format has, until it is added to its sibling.

        One and next to nothing are added in the node, and minus one is next: what is left tells. The whole sum is not
        asked for, since it is rounded to the result; it counts as wide where a part of it is.
        """
        lowest = lowest_summands(tree)
        nothing = 2.0 ** -(self._kernel.takes.bits + 4)
        above = {
            child: next(lowest[other] for other in node if other != child)
            for node in tree.nodes
            if len(node) == 2
            for child in node
        }
        asked = {
            place: ((lowest[node[0]], 1.0), (lowest[node[1]], nothing), (above[tree.leaves + place], -1.0))
            for place, node in enumerate(tree.nodes)
            if tree.leaves + place in above
        }
        wide = np.zeros(len(tree.nodes), np.bool_)
        wide[list(asked)] = self._placed(list(asked.values()), 1.0) == nothing
        wide[-1:] = any(wide[child - tree.leaves] for node in tree.nodes[-1:] for child in node if child >= tree.leaves)
        return wide

    def _placed(self, asked: Sequence[Sequence[tuple[int, float]]], other_factor: float) -> NDArray[np.float64]:
        """What comes of numbers at some summands, all others 0, for each question."""
        seen = np.zeros(len(asked), np.float64)
        for at in range(0, len(asked), len(self._lanes)):
            some = asked[at : at + len(self._lanes)]
            filled = np.zeros((len(some), self._shape.summands), self._kernel.takes.carrier)
            for lane, numbers in enumerate(some):
                for summand, number in numbers:
                    filled[lane, summand] = number
            seen[at : at + len(some)] = self._results(filled, other_factor).astype(np.float64)
        return seen

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


def _counts(seen: Floats, unit: float, most: int) -> Integers:
    counts = seen.astype(np.float64) / unit
    is_count = (counts == np.rint(counts)) & (counts >= 0) & (counts <= most)
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
