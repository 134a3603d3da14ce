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
        measured=lambda: probe.rounded_products(LANES),
    )  # fmt: skip
    assert found is not None
    assert found.way == "mixed"
    assert found.rounded is not None
    # Lanes begin at 0 to 3, and where a chain begins the second product is the one that may be fused.
    assert [leaf for leaf in range(24) if not found.rounded[leaf]] == [6, 9, 12, 15, 18, 21]


def test_sums_without_products_need_no_way() -> None:
    tree = samples.lanes(8, 5, samples.in_pairs)
    rows, _ = factors(40)
    found = replay(tree, rows, None, samples.adding_rows(tree).multiply(rows, rows)[:, 0])
    assert found is not None
    assert (found.way, found.accumulator.name) == ("either", "float32")
