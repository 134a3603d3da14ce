"""Trees known by construction, and kernels that add along them: written apart from the replay that temp0 uses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from temp0.core.reduction_tree import ReductionTree, reduction_tree
from temp0.lab.kernel import Kernel
from temp0.lab.precision import Dtype, Floats, precision

Nested = int | tuple["Nested", ...]


def tree_of(nested: Nested) -> ReductionTree:
    """A tree written in brackets; without recursion, since a chain is as deep as it is long."""
    found: list[tuple[Nested, ...]] = []
    waiting, leaves = [nested], 0
    while waiting:
        one = waiting.pop()
        if isinstance(one, int):
            leaves += 1
        else:
            found.append(one)
            waiting.extend(one)
    number = {id(one): leaves + place for place, one in enumerate(reversed(found))}
    return reduction_tree(
        leaves, [[child if isinstance(child, int) else number[id(child)] for child in one] for one in reversed(found)]
    )


def chain_of(parts: Sequence[Nested]) -> Nested:
    total, *others = parts
    for part in others:
        total = (total, part)
    return total


def chain(count: int) -> ReductionTree:
    return reduction_tree(count, [(0, 1), *((count + place, place + 2) for place in range(count - 2))])


def backwards(count: int) -> ReductionTree:
    return reduction_tree(
        count, [(count - 2, count - 1), *((count + place, count - 3 - place) for place in range(count - 2))]
    )


def blocks(count: int, size: int) -> ReductionTree:
    return tree_of(chain_of([chain_of(range(start, start + size)) for start in range(0, count * size, size)]))


def lanes(count: int, size: int, join: Callable[[Sequence[Nested]], Nested]) -> ReductionTree:
    return tree_of(join([chain_of(range(lane, count * size, count)) for lane in range(count)]))


def halving(parts: Sequence[Nested]) -> Nested:
    """Part i with part i + half, again and again."""
    while len(parts) > 1:
        half = len(parts) // 2
        parts = [(parts[i], parts[i + half]) for i in range(half)]
    return parts[0]


def in_pairs(parts: Sequence[Nested]) -> Nested:
    """Neighbours, then pairs of neighbours."""
    while len(parts) > 1:
        parts = [(parts[i], parts[i + 1]) for i in range(0, len(parts), 2)]
    return parts[0]


def steps_of(count: int, at_once: int) -> ReductionTree:
    """A total that takes several summands with each addition."""
    total: tuple[Nested, ...] = tuple(range(at_once))
    for start in range(at_once, count, at_once):
        total = (total, *range(start, start + at_once))
    return tree_of(total)


@st.composite
def random_trees(draw: st.DrawFn, most: int = 40, ways: int = 2) -> ReductionTree:
    leaves = draw(st.integers(1, most))
    loose, nodes = list(range(leaves)), list[list[int]]()
    while len(loose) > 1:
        taken = min(draw(st.integers(2, ways)), len(loose))
        nodes.append([loose.pop(draw(st.integers(0, len(loose) - 1))) for _ in range(taken)])
        loose.append(leaves + len(nodes) - 1)
    return reduction_tree(leaves, nodes)


def fused(a: float, b: float, c: float) -> np.float32:
    """a * b + c by exact fractions, rounded once to float32."""
    return nearest(Fraction(a) * Fraction(b) + Fraction(c))


def nearest(exact: Fraction) -> np.float32:
    """The nearest float32 of an exact number, ties to even: the two neighbours are compared as fractions."""
    guess = np.float32(float(exact))
    around = [np.nextafter(guess, np.float32(-np.inf)), guess, np.nextafter(guess, np.float32(np.inf))]
    return min(around, key=lambda one: (abs(Fraction(float(one)) - exact), int(one.view(np.uint32)) & 1))


def added(tree: ReductionTree, a: Floats, b: Floats, is_fused: Callable[[int], bool]) -> np.float32:
    """One sum of products in float32 along a two-way tree, one rounding at a time."""
    values = [np.float32(x) * np.float32(y) for x, y in zip(a, b, strict=True)]
    for first, second in tree.nodes:
        if second < tree.leaves and is_fused(second):
            values.append(fused(float(a[second]), float(b[second]), float(values[first])))
        elif first < tree.leaves <= second and is_fused(first):
            values.append(fused(float(a[first]), float(b[first]), float(values[second])))
        else:
            values.append(np.float32(values[first] + values[second]))
    return np.float32(values[-1])


def truncated(terms: Floats) -> Floats:
    """terms[T, P] added at once as matrix units do: aligned to the largest, cut 30 bits below it, rounded once."""
    largest = np.maximum(np.abs(terms).max(axis=0), 1e-300)
    unit = np.exp2(np.floor(np.log2(largest)) - 30)
    return np.asarray((np.trunc(terms / unit) * unit).sum(axis=0))


def adding(
    tree_at: Callable[[int, int, int], ReductionTree], dtype: Dtype = "float32", result: Dtype | None = None
) -> Kernel:
    """A kernel whose place (row, column) in a batch of M rows adds along `tree_at(M, row, column)`, in float32."""

    def multiply(rows: Floats, weights: Floats) -> Floats:
        out = np.empty((len(rows), len(weights)), np.float64)
        for row in range(len(rows)):
            for column in range(len(weights)):
                tree = tree_at(len(rows), row, column)
                values = list((rows[row].astype(np.float32) * weights[column].astype(np.float32)).astype(np.float64))
                for node in tree.nodes:
                    terms = np.array([values[child] for child in node])
                    total = terms.sum() if len(node) == 2 else truncated(terms[:, None])[0]
                    values.append(np.float64(np.float32(total)))
                out[row, column] = values[-1]
        return precision(result or dtype).rounded(out)

    return Kernel(name="fake", dtype=dtype, result=result or dtype, multiply=multiply)


def adding_rows(tree: ReductionTree, dtype: Dtype = "float32", result: Dtype | None = None) -> Kernel:
    """A sum of rows along one tree, all rows at once: quick enough for many summands."""

    def multiply(rows: Floats, _: Floats) -> Floats:
        values = list(rows.T.astype(np.float64))
        for node in tree.nodes:
            terms = np.stack([values[child] for child in node])
            total = terms.sum(axis=0) if len(node) == 2 else truncated(terms)
            values.append(total.astype(np.float32).astype(np.float64))
        return precision(result or dtype).rounded(values[-1][:, None])

    return Kernel(name="fake", dtype=dtype, result=result or dtype, multiply=multiply, is_sum=True)
