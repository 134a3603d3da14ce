"""Adds along a reduction tree in software, one rounding at a time: whether a claimed tree gives a kernel's bits.

A tree says what is added to what, not whether a product is rounded before it is added, nor in which format a partial
sum is kept. What was measured of both, product by product and sum by sum, is tried first, then the usual ways.

A fused multiply-add is emulated: the product as a sum of two float64 (Dekker 1971), added to the third number with the
error kept (Knuth), and rounded to odd before the one rounding that counts (Boldo and Melquiond, "Emulation of a FMA and
correctly rounded sums: proved algorithms using rounding to odd", 2008). Exact as long as nothing over- or underflows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from temp0.core.reduction_tree import ReductionTree
from temp0.lab.precision import PRECISIONS, Floats, Precision

Rounded = NDArray[np.bool_]
"""For each summand, whether its product is rounded before it is added."""
Wide = NDArray[np.bool_]
"""For each node, whether its sum is kept in float64."""
Doubles = NDArray[np.float64]
_SPLITTER = float(2**27 + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """A way of adding along a tree that gave every bit: `accumulator` is the format of its partial sums.

    `fused` where every addition of a product takes one unrounded, `separate` where none does, `mixed` otherwise;
    `either` where it makes no difference, as where every product is exact. `rounded` has the products that are rounded
    where only some are, and `product` is the format that they are rounded to. `wide` has the partial sums that are kept
    in float64, where only some are.
    """

    way: Literal["separate", "fused", "either", "mixed"]
    accumulator: Precision
    rounded: Rounded | None = None
    product: Precision | None = None
    wide: Wide | None = None


def matching_replay(
    tree: ReductionTree,
    rows: Floats,
    weights: Floats | None,
    seen: Floats,
    *,
    gives: Precision,
    takes: Precision,
    measured: Callable[[], tuple[Rounded, Wide]] | None = None,
) -> Replay | None:
    """The first way that turns rows[P, K] (times weights[P, K]) into the bits of seen[P], or `None`.

    `measured` tells which products the kernel rounds and which sums it keeps wide. It goes before any guess, since sums
    that would betray one rounding among many are rare; it says nothing where factors have fewer bits than float32.
    """
    left = np.ascontiguousarray(rows.T, np.float64)
    right = None if weights is None else np.ascontiguousarray(weights.T, np.float64)

    def gives_bits(way: Replay, rounded: Rounded) -> bool:
        sums = replayed(
            tree, left, right, rounded=rounded, accumulator=way.accumulator, product=way.product, wide=way.wide
        )
        return bool((gives.rounded(sums).astype(np.float64) == seen.astype(np.float64)).all())

    if measured is not None and takes.bits >= PRECISIONS["float32"].bits:
        known, wide = measured()
        if gives_bits(way := _measured_way(tree, known, wide, takes, is_sum=right is None), known):
            return way
    every, fewest = np.ones(tree.leaves, np.bool_), first_of_each_chain(tree)
    for accumulator in _accumulators(takes):
        separate = Replay(way="separate", accumulator=accumulator, product=accumulator)
        fused = Replay(way="fused", accumulator=accumulator, rounded=fewest, product=accumulator)
        is_separate, is_fused = gives_bits(separate, every), right is not None and gives_bits(fused, fewest)
        if is_separate and (is_fused or right is None):
            return Replay(way="either", accumulator=accumulator)
        if is_separate or is_fused:
            return separate if is_separate else fused
        narrow = Replay(way="separate", accumulator=accumulator, product=takes)
        if right is not None and accumulator.bits > takes.bits and gives_bits(narrow, every):
            return narrow
    return None


def _measured_way(tree: ReductionTree, rounded: Rounded, wide: Wide, takes: Precision, *, is_sum: bool) -> Replay:
    all_wide = bool(len(wide) and wide.all())
    accumulator = PRECISIONS["float64"] if all_wide else takes
    some_wide = wide if wide.any() and not all_wide else None
    if is_sum or (all_wide and not rounded.any()):
        return Replay(way="either", accumulator=accumulator, wide=some_wide)
    return Replay(
        way=_way(tree, rounded),
        accumulator=accumulator,
        rounded=None if rounded.all() else rounded,
        product=takes,
        wide=some_wide,
    )


def _way(tree: ReductionTree, rounded: Rounded) -> Literal["separate", "fused", "mixed"]:
    if rounded.all():
        return "separate"
    taking = (node for node in tree.nodes if len(node) == 2 and min(node) < tree.leaves)
    is_fused = (any(child < tree.leaves and not rounded[child] for child in node) for node in taking)
    return "fused" if all(is_fused) else "mixed"


def first_of_each_chain(tree: ReductionTree) -> Rounded:
    """Which products must be rounded even where all are fused that can be: where two meet, the first of them."""
    rounded = np.zeros(tree.leaves, np.bool_)
    for node in tree.nodes:
        if len(node) > 2:
            rounded[[child for child in node if child < tree.leaves]] = True
        elif max(node) < tree.leaves:
            rounded[node[0]] = True
    return rounded


def replayed(
    tree: ReductionTree,
    left: Doubles,
    right: Doubles | None,
    *,
    rounded: Rounded,
    accumulator: Precision,
    product: Precision | None = None,
    wide: Wide | None = None,
) -> Doubles:
    """The sums of left[K, P] (times right[K, P]) along the tree, every partial sum rounded to `accumulator`.

    Partial sums that are `wide` are rounded to float64. A product that is not `rounded` is added by a fused
    multiply-add; one that is becomes a number of `product`, by default of the accumulator's format. More than two terms
    of one addition are added exactly and rounded once, which not every machine does.
    """
    products = left
    if right is not None:
        whole = left * right
        products = np.where(rounded[:, None], (product or accumulator).rounded(whole).astype(np.float64), whole)
    values: list[Doubles | None] = list(products)
    for place, node in enumerate(tree.nodes):
        kept = PRECISIONS["float64"] if wide is not None and wide[place] else accumulator
        factors = [child for child in node if child < tree.leaves and not rounded[child]] if len(node) == 2 else []
        terms = [_taken(values, child) for child in node]
        if len(node) > 2:
            value = _exact_sum(terms)
        elif right is not None and factors:
            factor = factors[-1]
            value = fused(left[factor], right[factor], terms[1 - node.index(factor)], kept)
        else:
            value = terms[0] + terms[1]
        values.append(kept.rounded(value).astype(np.float64))
        for child in node:
            values[child] = None
    return _taken(values, tree.root)


def fused(a: Doubles, b: Doubles, c: Doubles, accumulator: Precision) -> Doubles:
    """The sum a * b + c in float64, such that rounding it to `accumulator` gives what a fused multiply-add gives.

    The product of a format of at most 24 bits is exact in float64, and its sum with `c` is rounded to odd.
    """
    high = a * b
    if accumulator.bits < PRECISIONS["float64"].bits:
        return _sum_to_odd(high, c)
    part, part_error = _two_sum(c, _product_error(a, b, high))
    top, top_error = _two_sum(high, part)
    total: Doubles = top + _sum_to_odd(top_error, part_error)
    return total


def _accumulators(takes: Precision) -> Iterator[Precision]:
    """The formats in which partial sums may be kept, the likeliest first."""
    if takes.bits < PRECISIONS["float32"].bits:
        yield PRECISIONS["float32"]
    yield takes
    if takes.bits < PRECISIONS["float64"].bits:
        yield PRECISIONS["float64"]


def _taken(values: list[Doubles | None], child: int) -> Doubles:
    value = values[child]
    assert value is not None
    return value


def _exact_sum(terms: list[Doubles]) -> Doubles:
    return np.array([math.fsum(each) for each in np.stack(terms, axis=1).tolist()])


def _two_sum(a: Doubles, b: Doubles) -> tuple[Doubles, Doubles]:
    total = a + b
    other = total - a
    return total, (a - (total - other)) + (b - other)


def _sum_to_odd(a: Doubles, b: Doubles) -> Doubles:
    """The sum a + b rounded to odd: where it is inexact, of the two neighbours the one whose last bit is 1."""
    total, error = _two_sum(a, b)
    bits = total.view(np.int64)
    toward = np.where((error > 0) == (total > 0), 1, -1)
    return np.where((error != 0) & (bits & 1 == 0), bits + toward, bits).view(np.float64)


def _product_error(a: Doubles, b: Doubles, product: Doubles) -> Doubles:
    a_high, b_high = (one * _SPLITTER - (one * _SPLITTER - one) for one in (a, b))
    a_low, b_low = a - a_high, b - b_high
    return a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)
