"""A row that changes its bits in some batch is found, whichever size, row or company it takes."""

from __future__ import annotations

import numpy as np
import pytest

from temp0.errors import UsageError
from temp0.lab.batch_control import random_rows, stock_product
from temp0.lab.batch_sweep import batch_sweep, boundary_sizes
from temp0.lab.precision import Floats

ROWS = random_rows(40, 12, "float32", seed=4)
WEIGHT = random_rows(12, 6, "float32", seed=5)


def steady(rows: Floats) -> Floats:
    """A product of which each row is added by itself, in order."""
    return np.add.accumulate(rows[:, :, None] * WEIGHT[None], axis=1)[:, -1]


def turned(rows: Floats) -> Floats:
    return np.add.accumulate((rows[:, :, None] * WEIGHT[None])[:, ::-1], axis=1)[:, -1]


def test_the_sizes_are_both_sides_of_each_power_of_two() -> None:
    assert boundary_sizes(20) == (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17)
    assert boundary_sizes(1) == (1,)
    assert {255, 256, 257} <= set(boundary_sizes(257))


def test_rows_that_are_added_by_themselves_are_invariant() -> None:
    sweep = batch_sweep(steady, ROWS, boundary_sizes(33))
    assert sweep.is_invariant
    assert sweep.rows_compared > 2 * sum(sweep.batch_sizes)


def test_one_row_of_one_batch_size_is_enough() -> None:
    def odd_one(rows: Floats) -> Floats:
        out = steady(rows)
        if len(rows) == 7:
            out[5] = turned(rows)[5]
        return out

    sweep = batch_sweep(odd_one, ROWS, range(1, 12))
    (one,) = sweep.differences
    assert (one.batch_size, one.row) == (7, 5)
    alone, seen = steady(ROWS[5:6])[0], turned(ROWS[5:6])[0]
    assert (one.numbers, one.differing) == (6, int((alone != seen).sum()))
    assert (one.alone, one.seen) == (alone[one.column], seen[one.column])
    assert batch_sweep(odd_one, ROWS, (1, 2, 4, 8)).is_invariant  # powers of two alone miss it


@pytest.mark.parametrize(
    ("company", "is_there"),
    [
        ("zeros", lambda rows: (rows == 0).all(axis=1).any()),
        ("copies of one row", lambda rows: len(rows) > 2 and len(np.unique(rows, axis=0)) < len(rows)),
        ("rows 16 times as large", lambda rows: np.abs(rows).max() > 10),
    ],
)
def test_company_of_every_kind_is_tried(company: str, is_there: object) -> None:
    sweep = batch_sweep(lambda rows: turned(rows) if is_there(rows) else steady(rows), ROWS, (1, 4, 5))  # type: ignore[operator]
    assert company in {one.company for one in sweep.differences}


def test_only_the_company_may_matter_and_is_named() -> None:
    sweep = batch_sweep(lambda rows: steady(rows) + rows.sum() * 0 + np.abs(rows).max() * 0.5, ROWS, (1, 3))
    assert sweep.differences[0].company == "the rows that come next"


def test_a_call_that_cannot_be_repeated_is_no_comparison() -> None:
    noise = np.random.default_rng(1)
    sweep = batch_sweep(lambda rows: steady(rows) + noise.normal(size=(len(rows), 1)), ROWS, (1, 2))
    assert not sweep.is_repeatable
    assert not sweep.is_invariant


def test_a_call_that_seldom_changes_is_found_out_where_it_differs() -> None:
    random = np.random.default_rng(4)
    sweep = batch_sweep(lambda rows: (turned if random.random() < 0.1 else steady)(rows), ROWS, (1, 2, 5))
    assert not sweep.is_repeatable
    assert not sweep.differences


def test_an_operation_may_write_into_its_rows() -> None:
    def careless(rows: Floats) -> Floats:
        out = steady(rows)
        rows *= 2
        return out

    kept = ROWS.copy()
    assert batch_sweep(careless, ROWS, (1, 2, 5)).is_invariant
    assert (kept == ROWS).all()


def test_an_operation_may_give_the_same_memory_each_time() -> None:
    memory = np.zeros((40, 6), np.float32)

    def into_memory(make: object) -> object:
        def fill(rows: Floats) -> Floats:
            memory[: len(rows)] = make(rows)  # type: ignore[operator]
            return memory[: len(rows)]

        return fill

    by_size = into_memory(lambda rows: (turned if len(rows) == 3 else steady)(rows))
    assert batch_sweep(into_memory(steady), ROWS, (1, 2, 3)).is_invariant  # type: ignore[arg-type]
    assert [one.batch_size for one in batch_sweep(by_size, ROWS, (1, 2, 3)).differences] == [3]  # type: ignore[arg-type]


def test_rows_of_another_format_or_shape_in_a_batch_are_said() -> None:
    def widened(rows: Floats) -> Floats:
        return steady(rows).astype(np.float64 if len(rows) == 3 else np.float32)

    sweep = batch_sweep(widened, ROWS, (1, 2, 3))
    assert sweep.misfit == "in a batch of 3 a row is float64 of shape [6], alone it is float32 of shape [6]"
    assert not sweep.is_invariant
    ragged = batch_sweep(lambda rows: np.zeros((len(rows), 1 + (rows[0, 0] > 0))), ROWS, (1, 2))
    assert "one row alone gave" in (ragged.misfit or "")


def test_complex_results_are_compared_and_told() -> None:
    sweep = batch_sweep(lambda rows: np.fft.rfft(rows) * (1 + 0.5 * (len(rows) == 2)), ROWS, (1, 2))
    assert [one.batch_size for one in sweep.differences] == [2]


def test_nan_is_compared_by_its_bits() -> None:
    assert batch_sweep(lambda rows: steady(rows) * np.float32(np.nan), ROWS, (1, 2, 3)).is_invariant
    assert batch_sweep(lambda rows: steady(rows) * np.float32(np.nan), ROWS, (1, 2)).is_blank
    sweep = batch_sweep(lambda rows: steady(rows) * (np.nan if len(rows) == 3 else 1), ROWS, (1, 2, 3))
    assert [one.batch_size for one in sweep.differences] == [3]


def test_results_of_one_number_or_many_axes_are_compared() -> None:
    assert batch_sweep(lambda rows: steady(rows)[:, 0], ROWS, (1, 5)).is_invariant
    assert batch_sweep(lambda rows: steady(rows).reshape(-1, 2, 3), ROWS, (1, 5)).is_invariant


def test_whole_numbers_as_rows_are_swept_without_scaling_them() -> None:
    tokens = np.arange(60).reshape(20, 3)
    seen: list[int] = []

    def embed(rows: np.ndarray) -> np.ndarray:
        seen.append(int(rows.max()))
        return rows.astype(np.float32)

    assert batch_sweep(embed, tokens, (1, 4, 9)).is_invariant
    assert max(seen) < 60


@pytest.mark.parametrize("gives", [lambda rows: rows[:-1] if len(rows) > 1 else rows, lambda rows: 3.0])
def test_what_gives_no_row_for_each_row_is_refused(gives: object) -> None:
    with pytest.raises(UsageError, match="expected one row for each"):
        batch_sweep(gives, ROWS, (1, 3))  # type: ignore[arg-type]


def test_the_control_is_the_librarys_own_product() -> None:
    control, name = stock_product(ROWS)
    assert control is not None
    assert name == "numpy's product of 12 by 64"
    assert control(ROWS[:3]).shape == (3, 64)
    assert stock_product(np.arange(6).reshape(2, 3)) == (None, "the rows are no floating-point numbers")
