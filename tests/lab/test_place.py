"""Places that add alike are found together, wherever they are, and places that mix are noticed."""

from __future__ import annotations

import numpy as np
import pytest
import tree_samples as samples

from temp0.core.reduction_tree import ReductionTree
from temp0.lab.kernel import Kernel
from temp0.lab.place import Rectangle, place_classes, places_are_independent
from temp0.lab.precision import Dtype, Floats
from temp0.lab.probe import Shape

CHAIN, HALVES = samples.chain(16), samples.tree_of(samples.halving(range(16)))
SHAPE = Shape(rows=5, columns=7, summands=16)


def edge(_: int, row: int, column: int) -> ReductionTree:
    """The last row and the last two columns have an order of their own, as remainders of tiles do."""
    return HALVES if row == 4 and column < 5 else CHAIN


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_places_are_sorted_by_how_they_add(dtype: Dtype) -> None:
    chains, halves = place_classes(samples.adding(edge, dtype, "float32"), SHAPE)
    assert chains.rectangles == (
        Rectangle(rows=(0, 1, 2, 3), columns=tuple(range(7))),
        Rectangle(rows=(4,), columns=(5, 6)),
    )
    assert halves.rectangles == (Rectangle(rows=(4,), columns=tuple(range(5))),)
    assert chains.bits != halves.bits


def test_the_same_order_has_the_same_digest_at_every_batch_size() -> None:
    seen = [place_classes(samples.adding(edge), Shape(rows=rows, columns=2, summands=16)) for rows in (1, 4, 5)]
    assert seen[0][0].bits == seen[1][0].bits == seen[2][0].bits
    assert len(seen[2]) == 2


def test_an_order_that_is_the_same_everywhere_is_one_class() -> None:
    (everywhere,) = place_classes(samples.adding(lambda *_: HALVES), SHAPE)
    assert everywhere.rectangles == (Rectangle(rows=tuple(range(5)), columns=tuple(range(7))),)


def test_places_that_do_not_mix_are_independent() -> None:
    assert places_are_independent(samples.adding(edge), SHAPE)
    assert places_are_independent(samples.adding(edge), Shape(rows=1, columns=1, summands=16))


@pytest.mark.parametrize("looks_at", ["the row before", "the next column", "the largest number"])
def test_a_place_that_looks_at_another_is_noticed(looks_at: str) -> None:
    def multiply(rows: Floats, weights: Floats) -> Floats:
        out = (rows @ weights.T).astype(np.float32)
        if looks_at == "the row before":
            return np.where(np.roll(out, 1, axis=0) == 0, 0, out)
        if looks_at == "the next column":
            return out + np.roll(out, -1, axis=1)
        return out / np.abs(out).max()

    kernel = Kernel(name="mixing", dtype="float32", result="float32", multiply=multiply)
    with np.errstate(all="ignore"):
        assert not places_are_independent(kernel, SHAPE)
