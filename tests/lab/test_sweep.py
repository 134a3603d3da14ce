"""Batch sizes, rows and columns are grouped by how they add; real kernels' trees give their bits when added along.

Which batch sizes of a stock kernel differ is never written down: it is found, and a test that finds nothing skips.
"""

from __future__ import annotations

import math
from itertools import count

import numpy as np
import pytest
import tree_samples as samples

from temp0 import kernels
from temp0.core.reduction_tree import ReductionTree
from temp0.core.tree_record import KernelTrees
from temp0.errors import UsageError
from temp0.lab.kernel import Kernel, kernel
from temp0.lab.precision import Floats
from temp0.lab.sweep import looked_into

CHAIN, LANES = samples.chain(24), samples.lanes(4, 6, samples.halving)


def found(one: Kernel, *, k: int = 24, n: int = 3, batch_sizes: tuple[int, ...] = (1, 2, 4, 5)) -> KernelTrees:
    return list(looked_into(one, k=k, n=n, batch_sizes=batch_sizes))[-1]


def by_batch(rows: int, row: int, column: int) -> ReductionTree:
    """Lanes from four rows on, except for the rows that are left over from groups of four."""
    return LANES if row < rows // 4 * 4 else CHAIN


def test_batch_sizes_and_rows_are_grouped_by_tree() -> None:
    seen = found(samples.adding(by_batch))
    chains, lanes = seen.classes
    assert (chains.tree, chains.batch_sizes) == (CHAIN, (1, 2, 5))
    assert (lanes.tree, lanes.batch_sizes) == (LANES, (4, 5))
    assert [(one.batch_size, one.rows) for one in chains.places] == [(1, (0,)), (2, (0, 1)), (5, (4,))]
    assert all(one.columns == (0, 1, 2) for one in (*chains.places, *lanes.places))
    assert not seen.is_invariant
    assert (chains.replayed, lanes.replayed) == ("separate", "separate")
    assert chains.replays >= 3 * 64


def test_one_order_at_every_batch_size_is_invariant() -> None:
    seen = found(samples.adding(lambda *_: LANES))
    assert seen.is_invariant
    assert [one.batch_sizes for one in seen.classes] == [(1, 2, 4, 5)]


def test_what_was_found_grows_with_each_batch_size() -> None:
    states = list(looked_into(samples.adding(by_batch), k=24, n=2, batch_sizes=(1, 4)))
    assert [state.batch_sizes for state in states] == [(1,), (1, 4)]
    assert [len(state.classes) for state in states] == [1, 2]


def test_places_that_mix_are_probed_one_at_a_time_and_said() -> None:
    def multiply(rows: Floats, weights: Floats) -> Floats:
        out = samples.adding(lambda *_: LANES).multiply(rows, weights)
        others = np.roll(rows, 1, axis=0)[:, :1]
        return np.where((len(rows) > 1) & (others == 0), np.float32(0), out)

    seen = found(Kernel(name="mixing", dtype="float32", result="float32", multiply=multiply), batch_sizes=(1, 2))
    assert seen.mixing == (2,)
    assert not seen.is_invariant
    assert {one.tree for one in seen.classes} == {LANES}


def test_a_tree_that_does_not_give_the_bits_says_so() -> None:
    def multiply(rows: Floats, weights: Floats) -> Floats:
        return samples.adding(lambda *_: LANES).multiply(rows, weights) * np.float32(1 + 2**-23)

    seen = found(Kernel(name="odd", dtype="float32", result="float32", multiply=multiply), batch_sizes=(1,))
    (one,) = seen.classes
    assert one.absence == "no-tree" or (one.replayed is None and "other bits" in (one.why or ""))


@pytest.mark.parametrize(("name", "absence"), [("python.fsum", "exact")])
def test_an_exact_sum_has_no_tree(name: str, absence: str) -> None:
    (one,) = found(kernel(name, "float64"), k=40).classes
    assert (one.tree, one.absence, one.replayed) == (None, absence, None)
    assert one.why


def test_a_sum_that_loses_nothing_and_yet_is_not_exact_is_told_apart() -> None:
    def narrowed(rows: Floats, _: Floats) -> Floats:
        return np.array([[math.fsum(row)] for row in rows.tolist()]).astype(np.float32).astype(np.float64)

    one = Kernel(name="narrowed", dtype="float64", result="float64", multiply=narrowed, is_sum=True)
    (seen,) = found(one, k=30, batch_sizes=(1,)).classes
    assert (seen.tree, seen.absence) == (None, "nothing-lost")


def test_a_compensated_sum_is_not_called_exact() -> None:
    def compensated(rows: Floats, _: Floats) -> Floats:
        """Neumaier's: what each addition loses is added up, and added at the end."""
        totals = []
        for row in rows.astype(np.float32):
            total = lost = np.float32(0)
            for one in row:
                whole = total + one
                lost += (total - whole) + one if abs(total) >= abs(one) else (one - whole) + total
                total = whole
            totals.append([total + lost])
        return np.array(totals, np.float32)

    one = Kernel(name="compensated", dtype="float32", result="float32", multiply=compensated, is_sum=True)
    (seen,) = found(one, k=24, batch_sizes=(1,)).classes
    assert (seen.tree, seen.absence) == (None, "nothing-lost")


@pytest.mark.parametrize("every", [2, 20])
def test_a_call_that_does_not_always_give_the_same_bits_is_said_to_and_has_no_tree(every: int) -> None:
    calls = count()

    def multiply(rows: Floats, weights: Floats) -> Floats:
        tree = LANES if (next(calls) + 1) % every else CHAIN
        return samples.adding(lambda *_: tree).multiply(rows, weights)

    seen = found(Kernel(name="wavering", dtype="float32", result="float32", multiply=multiply), batch_sizes=(1, 2))
    (one,) = seen.classes
    assert (one.tree, one.absence, one.batch_sizes) == (None, "not-repeatable", (1, 2))
    assert (seen.unrepeatable, seen.mixing, seen.is_invariant) == ((1, 2), (), False)


def test_a_kernel_that_writes_into_what_it_is_given_is_seen_into() -> None:
    def multiply(rows: Floats, weights: Floats) -> Floats:
        out = samples.adding(lambda *_: LANES).multiply(rows, weights)
        rows[:], weights[:] = 0, 0
        return out

    seen = found(Kernel(name="careless", dtype="float32", result="float32", multiply=multiply), batch_sizes=(1, 3))
    (one,) = seen.classes
    assert (one.tree, one.replayed, seen.mixing) == (LANES, "separate", ())


@pytest.mark.parametrize("does", ["max", "mean", "argmax", "nothing", "first", "twice"])
def test_what_is_no_sum_is_refused_for_what_it_makes_of_ones(does: str) -> None:
    ways = {
        "max": lambda rows: rows.max(axis=1),
        "mean": lambda rows: rows.mean(axis=1),
        "argmax": lambda rows: rows.argmax(axis=1).astype(np.float32),
        "nothing": lambda rows: np.zeros(len(rows), np.float32),
        "first": lambda rows: rows[:, 0].copy(),
        "twice": lambda rows: 2 * rows.sum(axis=1),
    }
    one = Kernel(
        name=does, dtype="float32", result="float32", multiply=lambda rows, _: ways[does](rows)[:, None], is_sum=True
    )
    (seen,) = found(one, batch_sizes=(2,)).classes
    assert (seen.tree, seen.absence) == (None, "no-tree")
    assert "a sum of 24 units gave" in (seen.why or "")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("k", [2, 7, 127, 193])
def test_every_class_of_numpys_products_is_replayed(dtype: str, k: int) -> None:
    for name in ("numpy.dot", "numpy.matmul", "numpy.linear"):
        for one in found(kernel(name, dtype), k=k, n=3, batch_sizes=(1, 2, 5)).classes:
            assert one.replayed is not None, (name, one.why)


def documented_tree(k: int) -> ReductionTree:
    """The order of kernels.linear as its docstring has it: per 32 inputs a chain of the even and one of the odd."""
    groups = []
    for start in range(0, k, 32):
        halves = [list(range(first, min(start + 32, k), 2)) for first in (start, start + 1)]
        parts = [samples.chain_of(half) for half in halves if half]
        groups.append(samples.chain_of(parts))
    return samples.tree_of(samples.chain_of(groups))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("k", [1, 2, 31, 33, 100, 576])
def test_our_linear_adds_as_it_is_documented_at_every_batch_size(k: int, dtype: str) -> None:
    before = kernels.threads()
    kernels.set_threads(1)
    try:
        seen = found(kernel("kernels.linear", dtype), k=k, n=19, batch_sizes=(1, 2, 5, 13))
    finally:
        kernels.set_threads(before)
    (one,) = seen.classes
    assert one.tree == documented_tree(k)
    alone_in_its_chain = {1: "separate", 2: "separate", 33: "mixed"}  # a product that begins a chain is rounded
    assert one.replayed == ("either" if dtype == "bfloat16" else alone_in_its_chain.get(k, "fused"))
    assert seen.is_invariant


def test_weights_are_kept_as_the_name_says() -> None:
    kept = list[tuple[bool, bool]]()

    class Rows(np.ndarray):  # type: ignore[type-arg]
        def __array_ufunc__(self, ufunc: object, method: str, *inputs: np.ndarray, **_: object) -> np.ndarray:
            kept.append((inputs[1].flags.c_contiguous, inputs[1].flags.f_contiguous))
            return np.zeros((len(inputs[0]), inputs[1].shape[1]), np.float32)

    rows, weights = np.ones((2, 3), np.float32).view(Rows), np.ones((4, 3), np.float32)
    for name in ("numpy.matmul", "numpy.linear"):
        kernel(name, "float32").multiply(rows, weights)
    assert kept == [(True, False), (False, True)]


@pytest.mark.parametrize("name", ["numpy.matmul", "numpy.linear", "numpy.dot", "numpy.sum"])
def test_a_tree_of_numpy_gives_its_bits_when_replayed_by_other_means(name: str) -> None:
    one = kernel(name, "float32")
    seen = found(one, k=48, n=5, batch_sizes=(1, 4))
    random, checked = np.random.default_rng(9), 0
    for each in seen.classes:
        if each.tree is None or each.accumulator != "float32" or each.replayed == "mixed":
            continue
        for places in each.places:
            rows, weights = random.standard_normal((2, 5, 48)).astype(np.float32)
            rows = rows[: places.batch_size]
            weights = np.ones_like(weights) if one.is_sum else weights
            out = one.multiply(rows, weights[: seen.n])
            for row, column in ((places.rows[0], places.columns[-1]), (places.rows[-1], places.columns[0])):
                is_fused = each.replayed == "fused"
                expected = samples.added(each.tree, rows[row], weights[column], lambda _, is_fused=is_fused: is_fused)
                assert out[row, column].tobytes() == expected.tobytes()
                checked += 1
    if not checked:
        pytest.skip(f"{name} keeps no partial sums in float32 on this machine, so this replay does not apply")


def test_pythons_sum_is_one_chain_or_compensated() -> None:
    (one,) = found(kernel("python.sum", "float64"), k=40).classes
    if one.tree is None:
        assert one.absence == "nothing-lost"  # from Python 3.12 on
    else:
        assert one.tree == samples.chain(40)
        assert one.replayed == "additions"


def test_float16_sums_of_numpy_are_seen_into() -> None:
    (one,) = found(kernel("numpy.sum", "float16"), k=100, batch_sizes=(1,)).classes
    assert one.tree is not None
    assert one.replayed == "additions"


@pytest.mark.parametrize(
    ("name", "dtype"),
    [("numpy.matmul", "bfloat16"), ("numpy.sum", "bfloat16"), ("kernels.linear", "float64"), ("python.sum", "float32")],
)
def test_a_dtype_that_a_kernel_has_not_is_refused_with_the_reason(name: str, dtype: str) -> None:
    with pytest.raises(UsageError, match=f"{name} has no {dtype}"):
        kernel(name, dtype)
    with pytest.raises(UsageError, match="expected one of"):
        kernel("numpy.mean", "float32")
