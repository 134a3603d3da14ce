"""A tree is replayed one rounding at a time, fused or not, and one that is wrong does not give the bits."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import tree_samples as samples
from hypothesis import given, settings
from hypothesis import strategies as st

from temp0.core.reduction_tree import ReductionTree
from temp0.lab.kernel import Kernel
from temp0.lab.precision import Floats, Precision, precision
from temp0.lab.probe import PlaceProbe, Shape
from temp0.lab.replay import Replay, fused, matching_replay

FLOAT32, FLOAT64 = precision("float32"), precision("float64")
LANES = samples.lanes(4, 6, samples.halving)
WAYS = {
    "fused": lambda leaf: True,
    "separate": lambda leaf: False,
    "mixed": lambda leaf: leaf % 3 == 0,
}
singles = st.floats(-1e3, 1e3, width=32).filter(lambda one: abs(one) > 1e-6)
doubles = st.floats(-1e3, 1e3).filter(lambda one: abs(one) > 1e-6)


def factors(summands: int, count: int = 40) -> tuple[Floats, Floats]:
    random = np.random.default_rng(3)
    a, b = random.standard_normal((2, count, summands)).astype(np.float32)
    return a, b


def sums(tree: ReductionTree, way: str, a: Floats, b: Floats) -> Floats:
    return np.array([samples.added(tree, x, y, WAYS[way]) for x, y in zip(a, b, strict=True)])


def replay(tree: ReductionTree, a: Floats, b: Floats | None, seen: Floats) -> Replay | None:
    return matching_replay(tree, a, b, seen, gives=FLOAT32, takes=FLOAT32)


@given(singles, singles, singles)
@settings(max_examples=300, deadline=None)
def test_a_fused_multiply_add_of_float32_rounds_once(a: float, b: float, c: float) -> None:
    seen = FLOAT32.rounded(fused(np.array([a]), np.array([b]), np.array([c]), FLOAT32))[0]
    assert seen == samples.fused(a, b, c)


@given(doubles, doubles, doubles | st.just(None))
@settings(max_examples=300, deadline=None)
def test_a_fused_multiply_add_of_float64_rounds_once(a: float, b: float, c: float | None) -> None:
    c = -(a * b) if c is None else c  # where the product nearly cancels, its lost bits are the whole result
    seen = float(fused(np.array([a]), np.array([b]), np.array([c]), FLOAT64)[0])
    assert seen == float(Fraction(a) * Fraction(b) + Fraction(c))


@pytest.mark.parametrize(("one", "bits"), [(FLOAT32, 24), (FLOAT64, 53)])
def test_a_sum_just_below_a_tie_is_not_rounded_twice(one: Precision, bits: int) -> None:
    last = 2.0 ** (1 - bits)
    a, b, c = 1 + last, (1 - last) * last / 2, 1 + last  # a * b is half of the last place, less next to nothing
    seen = one.rounded(fused(np.array([a]), np.array([b]), np.array([c]), one))[0]
    assert seen == 1 + last
    assert seen != one.rounded(np.array([a * b]) + c)[0]


@pytest.mark.parametrize("way", ["fused", "separate"])
@pytest.mark.parametrize("tree", [LANES, samples.chain(40), samples.blocks(3, 12), samples.backwards(17)])
def test_the_way_of_rounding_is_told_apart(tree: ReductionTree, way: str) -> None:
    a, b = factors(tree.leaves)
    found = replay(tree, a, b, sums(tree, way, a, b))
    assert found is not None
    assert (found.way, found.accumulator.name) == (way, "float32")


def test_another_tree_gives_other_bits() -> None:
    a, b = factors(24)
    for other in (samples.chain(24), samples.backwards(24), samples.lanes(4, 6, samples.in_pairs)):
        assert replay(other, a, b, sums(LANES, "fused", a, b)) is None


def test_products_that_are_exact_are_the_same_either_way() -> None:
    a, b = (precision("bfloat16").rounded(one.astype(np.float64)) for one in factors(24))
    found = matching_replay(LANES, a, b, sums(LANES, "fused", a, b), gives=FLOAT32, takes=precision("bfloat16"))
    assert found is not None
    assert (found.way, found.accumulator.name) == ("either", "float32")


def test_a_wider_accumulator_is_found() -> None:
    a, b = factors(30)
    exact_products = (a.astype(np.float64) * b).cumsum(axis=1)[:, -1].astype(np.float32)
    rounded_products = (a * b).astype(np.float64).cumsum(axis=1)[:, -1].astype(np.float32)
    for seen, way in ((exact_products, "either"), (rounded_products, "separate")):
        found = replay(samples.chain(30), a, b, seen)
        assert found is not None
        assert (found.way, found.accumulator.name) == (way, "float64")


def test_a_kernel_that_fuses_some_products_is_asked_which() -> None:
    def multiply(rows: Floats, weights: Floats) -> Floats:
        return np.array([[samples.added(LANES, row, column, WAYS["mixed"]) for column in weights] for row in rows])

    kernel = Kernel(name="mixed", dtype="float32", result="float32", multiply=multiply)
    shape = Shape(rows=1, columns=6, summands=24)
    probe = PlaceProbe(kernel, shape, (0,), range(6), independent=True)
    a, b = factors(24)
    found = matching_replay(
        LANES, a, b, sums(LANES, "mixed", a, b), gives=FLOAT32, takes=FLOAT32,
        measured=lambda: (probe.rounded_products(LANES), probe.wide_nodes(LANES)),
    )  # fmt: skip
    assert found is not None
    assert found.way == "mixed"
    assert found.rounded is not None
    # Lanes begin at 0 to 3, and where a chain begins the second product is the one that may be fused.
    assert [leaf for leaf in range(24) if not found.rounded[leaf]] == [6, 9, 12, 15, 18, 21]


def test_which_products_a_kernel_of_float64_rounds_is_measured_too() -> None:
    def multiply(rows: Floats, weights: Floats) -> Floats:
        """The products 0 and 2 are rounded; 1 and 3 are added to them unrounded."""
        exact = [[Fraction(a) * Fraction(b) for a, b in zip(rows[0], column, strict=True)] for column in weights]
        halves = [[float(Fraction(float(one[at])) + one[at + 1]) for at in (0, 2)] for one in exact]
        return np.array([[first + second for first, second in halves]])

    kernel = Kernel(name="two halves", dtype="float64", result="float64", multiply=multiply)
    probe = PlaceProbe(kernel, Shape(rows=1, columns=3, summands=4), (0,), range(3), independent=True)
    tree = samples.tree_of(((0, 1), (2, 3)))
    assert probe.rounded_products(tree).tolist() == [True, False, True, False]
    turned = samples.tree_of(((0, 2), (1, 3)))  # a tree that this kernel has not: nothing of it is fused
    assert probe.rounded_products(turned).all()


def in_float64_from(first: int) -> Kernel:
    """A sum of rows as one chain, in float32 up to a summand and in float64 from there on."""

    def multiply(rows: Floats, _: Floats) -> Floats:
        narrow = np.add.accumulate(rows[:, :first].astype(np.float32), axis=1)[:, -1:]
        joined = np.concatenate([narrow.astype(np.float64), rows[:, first:].astype(np.float64)], axis=1)
        return np.add.accumulate(joined, axis=1)[:, -1:].astype(np.float32)

    return Kernel(name="mixed", dtype="float32", result="float32", multiply=multiply, is_sum=True)


def test_partial_sums_kept_in_another_format_are_measured_one_by_one() -> None:
    kernel, tree = in_float64_from(9), samples.chain(12)
    probe = PlaceProbe(kernel, Shape(rows=1, columns=1, summands=12), (0,), (0,), independent=True)
    wide = probe.wide_nodes(tree)
    assert wide.tolist() == [False] * 8 + [True] * 3  # the ninth sum is the first of float64
    rows, _ = factors(12, 300)
    seen = kernel.multiply(rows, rows)[:, 0]
    every = np.ones(12, np.bool_)
    found = matching_replay(tree, rows, None, seen, gives=FLOAT32, takes=FLOAT32, measured=lambda: (every, wide))
    assert found is not None
    assert found.accumulator is FLOAT32
    assert found.wide is not None
    assert found.wide.tolist() == wide.tolist()
    assert replay(tree, rows, None, seen) is None  # no guess gives its bits


def test_products_without_bits_lost_in_float64_need_no_way() -> None:
    a, b = factors(30)
    seen = (a.astype(np.float64) * b).cumsum(axis=1)[:, -1].astype(np.float32)
    every = np.ones(29, np.bool_)
    found = matching_replay(
        samples.chain(30), a, b, seen, gives=FLOAT32, takes=FLOAT32, measured=lambda: (np.zeros(30, np.bool_), every)
    )
    assert found is not None
    assert (found.way, found.accumulator.name, found.wide) == ("either", "float64", None)


def test_sums_without_products_need_no_way() -> None:
    tree = samples.lanes(8, 5, samples.in_pairs)
    rows, _ = factors(40)
    found = replay(tree, rows, None, samples.adding_rows(tree).multiply(rows, rows)[:, 0])
    assert found is not None
    assert (found.way, found.accumulator.name) == ("either", "float32")
