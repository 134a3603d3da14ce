"""A tree known by construction comes back exactly, and what is no tree is refused rather than drawn."""

from __future__ import annotations

import math

import numpy as np
import pytest
import tree_samples as samples
from hypothesis import given, settings
from hypothesis import strategies as st

from temp0.core.reduction_tree import ReductionTree
from temp0.lab.kernel import Kernel
from temp0.lab.precision import Dtype, Floats
from temp0.lab.probe import PlaceProbe, Shape
from temp0.lab.tree_search import Integers, NoTreeError, revealed_tree

KNOWN = {
    "blocks of 192": samples.blocks(3, 192),
    "8 lanes, halving": samples.lanes(8, 12, samples.halving),
    "8 lanes, neighbours in pairs": samples.lanes(8, 12, samples.in_pairs),
    "halving": samples.tree_of(samples.halving(range(64))),
    "pairs": samples.tree_of(samples.in_pairs(range(64))),
    "a chain": samples.chain(300),
    "a chain from the end": samples.backwards(300),
    "4 at a time": samples.steps_of(64, 4),
    "16 at a time": samples.steps_of(64, 16),
    "two": samples.chain(2),
    "one": samples.tree_of(0),
}


def seen_through(kernel: Kernel, summands: int, *, rows: int = 16, seed: int = 0) -> ReductionTree:
    shape = Shape(rows=rows, columns=1, summands=summands)
    probe = PlaceProbe(kernel, shape, range(rows), (0,), independent=True)
    return revealed_tree(probe.meeting_sizes, summands, seed=seed)


@pytest.mark.parametrize("name", KNOWN)
def test_a_tree_known_by_construction_comes_back_exactly(name: str) -> None:
    tree = KNOWN[name]
    assert seen_through(samples.adding_rows(tree), tree.leaves) == tree


@given(samples.random_trees(ways=2), st.integers(0, 5))
@settings(max_examples=60, deadline=None)
def test_any_tree_of_two_way_additions_comes_back(tree: ReductionTree, seed: int) -> None:
    assert seen_through(samples.adding_rows(tree), tree.leaves, seed=seed) == tree


@given(samples.random_trees(ways=6))
@settings(max_examples=60, deadline=None)
def test_any_tree_with_additions_of_many_terms_comes_back(tree: ReductionTree) -> None:
    assert seen_through(samples.adding_rows(tree), tree.leaves) == tree


@pytest.mark.parametrize(
    ("dtype", "result", "size"),
    [("float16", "float16", 520), ("bfloat16", "bfloat16", 70), ("bfloat16", "float32", 70)],
)
def test_narrow_results_count_block_by_block(dtype: Dtype, result: Dtype, size: int) -> None:
    tree = samples.blocks(5, size)  # 2,600 and 350 summands: float16 counts 2,048 exactly, bfloat16 256
    assert seen_through(samples.adding_rows(tree, dtype, result), tree.leaves, rows=512) == tree


@pytest.mark.parametrize("tree", [samples.chain(1000), samples.backwards(1000), KNOWN["blocks of 192"]])
def test_neither_end_of_a_chain_is_dear_to_find(tree: ReductionTree) -> None:
    asked = 0
    probe = PlaceProbe(
        samples.adding_rows(tree), Shape(rows=64, columns=1, summands=tree.leaves), range(64), (0,), independent=True
    )

    def counting(first: Integers, second: Integers) -> Integers:
        nonlocal asked
        asked += len(first)
        return probe.meeting_sizes(first, second)

    assert revealed_tree(counting, tree.leaves) == tree
    assert asked < 6 * tree.leaves


def test_an_exact_sum_has_no_tree_and_says_why() -> None:
    def exact(rows: Floats, _: Floats) -> Floats:
        return np.array([[math.fsum(row)] for row in rows.tolist()], np.float32)

    with pytest.raises(NoTreeError) as refused:
        seen_through(Kernel(name="exact", dtype="float32", result="float32", multiply=exact, is_sum=True), 20)
    assert refused.value.is_exact


def test_an_order_that_depends_on_the_numbers_is_refused() -> None:
    def drifting(rows: Floats, _: Floats) -> Floats:
        """The position of the huge number decides which half is added first, and how."""
        turned = [np.roll(row, 3 if np.argmax(row) % 2 else 0) for row in rows]
        return np.array([[np.add.accumulate(row)[-1]] for row in turned], np.float32)

    with pytest.raises(NoTreeError) as refused:
        seen_through(Kernel(name="drifting", dtype="float32", result="float32", multiply=drifting, is_sum=True), 40)
    assert not refused.value.is_exact


def test_a_result_that_is_no_count_is_refused() -> None:
    def halved(rows: Floats, _: Floats) -> Floats:
        return np.add.accumulate(rows, axis=1)[:, -1:] / 2

    def poisoned(rows: Floats, _: Floats) -> Floats:
        return np.full((len(rows), 1), np.nan, np.float32)

    for multiply in (halved, poisoned):
        with pytest.raises(NoTreeError, match="where a count of units was expected"):
            seen_through(Kernel(name="odd", dtype="float32", result="float32", multiply=multiply, is_sum=True), 9)


def test_a_search_without_end_is_given_up() -> None:
    tree = samples.tree_of(tuple(range(60)))
    probe = PlaceProbe(
        samples.adding_rows(tree), Shape(rows=8, columns=1, summands=60), range(8), (0,), independent=True
    )
    with pytest.raises(NoTreeError, match="given up"):
        revealed_tree(probe.meeting_sizes, 60, most_pairs=300)
