"""The public assertion: it fails with two trees side by side, and a pass says what it rests on."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import temp0
from temp0 import kernels
from temp0.errors import UsageError
from temp0.lab.precision import Floats
from temp0.workflow.batch_invariance import BatchInvariance, ControlDidNotTripWarning, assert_batch_invariant

SIZES = (1, 2, 3, 4, 5, 8, 9)
WEIGHT = np.random.default_rng(2).standard_normal((48, 6), np.float32)


def in_order(rows: Floats, weight: Floats) -> Floats:
    return np.add.accumulate(rows[:, :, None] * weight[None], axis=1)[:, -1]


def in_halves(rows: Floats, weight: Floats) -> Floats:
    products = rows[:, :, None] * weight[None]
    return in_order(rows[:, :24], weight[:24]) + np.add.accumulate(products[:, 24:], axis=1)[:, -1]


def by_batch(rows: Floats, weight: Floats = WEIGHT) -> Floats:
    """One chain for up to four rows, two for more."""
    return (in_order if len(rows) <= 4 else in_halves)(rows, weight)


def failure(op: object, **options: object) -> str:
    with pytest.raises(AssertionError) as failed:
        assert_batch_invariant(op, batch_sizes=SIZES, **options)  # type: ignore[arg-type]
    return str(failed.value)


def tripping(rows: Floats) -> Floats:
    return by_batch(rows)


def test_it_is_public() -> None:
    assert temp0.assert_batch_invariant is assert_batch_invariant


def test_a_failure_says_where_and_shows_both_trees_side_by_side() -> None:
    said = failure(by_batch, width=48, with_weight=lambda weight: lambda rows: by_batch(rows, weight))
    assert "in a batch of 5, row 0 has other bits than alone" in said
    assert "batch sizes that differ: 5, 8, 9" in said
    assert "batch sizes that agree: 1 to 4" in said
    rows = said.splitlines()
    heading = next(row for row in rows if row.startswith("alone "))
    words = rows[rows.index(heading) + 1]
    assert heading.split() == ["alone", "batch", "of", "5,", "row", "0"]
    assert words.split("  ")[0] == "one chain of 48, added in order"
    assert words.endswith("2 chains of 24, added")
    assert any(row.endswith("└─ 24 … 47  (24 summands)") for row in rows)
    assert "products" in said
    assert "partial sums in float32" in said


def test_a_plain_sum_shows_its_trees_without_being_asked() -> None:
    ones = np.ones((48, 1), np.float32)
    assert "2 chains of 24, added" in failure(lambda rows: by_batch(rows, ones), width=48)
    assert "2 chains of 24, added" in failure(lambda rows: by_batch(rows, -4 * ones)[:, 0], width=48)


def test_hidden_weights_hide_the_trees_and_the_message_says_what_helps() -> None:
    assert "pass with_weight" in failure(by_batch, width=48)


def test_an_operation_that_is_no_sum_fails_without_trees() -> None:
    said = failure(lambda rows: rows / np.abs(rows).max(), width=5)
    assert "do not show: the operation is no weighted sum of its row" in said


def test_a_call_that_cannot_be_repeated_says_so_first() -> None:
    noise = np.random.default_rng(1)
    assert "not even repeatable" in failure(lambda rows: rows + noise.normal(size=rows.shape), width=5)


def test_a_difference_beside_equal_trees_is_not_blamed_on_them() -> None:
    ones = np.ones((48, 1), np.float32)
    said = failure(lambda rows: in_order(rows, ones) * np.float32(1 + 2**-20 * (len(rows) == 9)), width=48)
    assert "batch of 9" in said
    assert "comes from somewhere else" in said or "no tree" in said


def test_our_linear_passes_beside_a_control_that_trips() -> None:
    packed = kernels.pack(np.ascontiguousarray(WEIGHT.T))

    def linear(rows: Floats) -> Floats:
        out = np.empty((len(rows), 6), np.float32)
        kernels.linear(np.ascontiguousarray(rows), packed, out)
        return out

    passed = assert_batch_invariant(linear, width=48, batch_sizes=SIZES, control=tripping)
    assert isinstance(passed, BatchInvariance)
    assert (passed.batch_sizes, passed.control, passed.control_tripped) == (SIZES, "the control given", True)
    assert passed.rows_compared > sum(SIZES)


def test_a_control_that_does_not_trip_is_said() -> None:
    def steady(rows: Floats) -> Floats:
        return in_order(rows, WEIGHT)

    with pytest.warns(ControlDidNotTripWarning, match="the control given kept its bits at every batch size"):
        passed = assert_batch_invariant(steady, width=48, batch_sizes=SIZES, control=steady)
    assert passed.control_tripped is False


def test_rows_without_a_control_are_said() -> None:
    with pytest.warns(ControlDidNotTripWarning, match="no control ran"):
        passed = assert_batch_invariant(lambda rows: rows * 2, rows=np.arange(12).reshape(4, 3), batch_sizes=(1, 2, 6))
    assert (passed.control, passed.control_tripped) == (None, None)


def test_numpys_own_product_is_caught_or_the_control_speaks() -> None:
    weight = np.random.default_rng(0).standard_normal((576, 64), np.float32)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        caught = ""
        try:
            assert_batch_invariant(lambda rows: rows @ weight, width=576)
        except AssertionError as error:
            caught = str(error)
    if caught:
        assert caught.startswith("not batch invariant")
        return
    assert [one.category for one in heard] == [ControlDidNotTripWarning]
    pytest.skip("numpy's product has one order at every batch size on this machine")


def test_rows_that_come_in_another_format_in_company_fail() -> None:
    said = failure(lambda rows: rows.astype(np.float64 if len(rows) > 1 else np.float32), width=5)
    assert "not batch invariant: in a batch of 2 a row is float64 of shape [5], alone it is float32" in said


def test_nothing_but_nan_proves_nothing() -> None:
    with pytest.raises(UsageError, match="nothing but NaN"):
        assert_batch_invariant(lambda rows: rows * np.float32(np.nan), width=3, batch_sizes=SIZES)


@pytest.mark.parametrize(
    ("with_weight", "said"),
    [
        (lambda weight: lambda rows: None, "with_weight makes no such operation"),
        (lambda weight: lambda rows: rows @ weight[:, :2], "with_weight gives 2 numbers a row, where op gives 6"),
        (lambda weight: lambda rows: in_order(rows, weight), "or with_weight makes another operation than op"),
    ],
)
def test_a_with_weight_that_does_not_fit_is_named_beside_the_failure(with_weight: object, said: str) -> None:
    told = failure(by_batch, width=48, with_weight=with_weight)
    assert "not batch invariant: in a batch of 5" in told
    assert said in told


def test_masks_that_overflow_in_the_operation_hide_no_failure() -> None:
    def squared(weight: Floats) -> object:
        return lambda rows: by_batch(rows, weight) ** 3

    said = failure(squared(WEIGHT), width=48, with_weight=squared)
    assert "not batch invariant: in a batch of 5" in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "one of the two"),
        ({"width": 3, "rows": np.ones((2, 3))}, "one of the two"),
        ({"width": 3, "batch_sizes": ()}, "whole numbers of at least 1"),
        ({"width": 3, "batch_sizes": (0, 1)}, "whole numbers of at least 1"),
        ({"width": 3, "batch_sizes": ("2",)}, "whole numbers of at least 1"),
        ({"width": 3, "batch_sizes": (1,)}, "a row alone has no company"),
        ({"width": 0}, "width is 0, expected at least 1"),
        ({"width": 3, "dtype": "fp8"}, "expected one of"),
        ({"rows": [[1.0, 2.0]]}, "rows is list, expected a numpy array or torch tensor"),
        ({"rows": np.zeros((0, 3))}, "of at least one row"),
        ({"rows": np.zeros(())}, "of at least one row"),
    ],
)
def test_what_cannot_be_right_is_a_usage_error(options: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        assert_batch_invariant(lambda rows: rows, **options)  # type: ignore[arg-type]


@pytest.mark.torch
def test_a_layer_of_torch_is_swept_in_its_own_tensors() -> None:
    torch = pytest.importorskip("torch")

    def pieces(rows: object) -> object:
        """One chain for up to four rows, two for more."""
        if len(rows) <= 4:  # type: ignore[arg-type]
            return rows.cumsum(dim=1)[:, -1:]  # type: ignore[attr-defined]
        return rows[:, :24].cumsum(dim=1)[:, -1:] + rows[:, 24:].cumsum(dim=1)[:, -1:]  # type: ignore[index]

    rows = torch.randn(20, 48, generator=torch.Generator().manual_seed(1))
    assert "2 chains of 24, added" in failure(pieces, rows=rows)
    halved = rows.to(torch.bfloat16)
    passed = assert_batch_invariant(lambda some: some * 2, rows=halved, batch_sizes=SIZES, control=tripping_tensor)
    assert passed.control_tripped


def tripping_tensor(rows: object) -> object:
    return rows + len(rows)  # type: ignore[operator]
