"""Does a row keep its bits in any batch? Any callable from rows to rows is asked, numpy arrays or torch tensors.

A row is compared with itself alone, which nothing in a batch can have touched: at every position of every batch size,
and with every second row beside it replaced in turn by other content.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from temp0.lab.row_array import Rows, bits, copy, form, index, is_float, picked, values

Operation = Callable[[Rows], Rows]
_NEXT = "the rows that come next"
_REPEATS, _REPEATS_IN_DOUBT = 4, 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A row with other bits than alone: where it was, what was beside it, and its first number that differs."""

    batch_size: int
    row: int
    company: str
    numbers: int
    differing: int
    column: int
    alone: float
    seen: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchSweep:
    """What a sweep saw; `differences` has the first of every batch size with one.

    `is_repeatable` is false where the very same call gave other bits: then no comparison means anything. `misfit` says
    where rows came in another format or shape than the first row alone, which ends the sweep. `is_blank` where nothing
    but NaN came.
    """

    batch_sizes: tuple[int, ...]
    rows_compared: int
    is_repeatable: bool
    differences: tuple[Difference, ...] = ()
    misfit: str | None = None
    is_blank: bool = False

    @property
    def is_invariant(self) -> bool:
        """Whether every row had the bits it has alone."""
        return self.is_repeatable and not self.differences and not self.misfit


def boundary_sizes(most: int) -> tuple[int, ...]:
    """1 and both sides of each power of two: n - 1, n, n + 1, up to `most`.

    >>> boundary_sizes(9)
    (1, 2, 3, 4, 5, 7, 8, 9)
    """
    powers = [1 << power for power in range(1, most.bit_length() + 1)]
    return tuple(sorted({1} | {n for power in powers for n in (power - 1, power, power + 1) if n <= most}))


def batch_sweep(operation: Operation, pool: Rows, batch_sizes: Sequence[int]) -> BatchSweep:
    """Compare every row of `pool` alone with itself in batches of each size.

    Where the pool is smaller than a batch its rows come again. The operation gets copies, so it may write into what it
    is given. Raises `UsageError` where it does not give a row for each row.
    """
    sizes = tuple(sorted(dict.fromkeys(batch_sizes)))
    rows = picked(pool, np.arange(max(sizes)) % len(pool))
    alone = [copy(_asked(operation, rows[place : place + 1])) for place in range(len(rows))]
    own, compared, found = form(alone[0]), 0, list[Difference]()
    for out in alone:
        if form(out) != own:
            return _ended(sizes, compared, misfit=f"one row alone gave {form(out)}, another {own}")
    patterns = np.concatenate([bits(out, 1) for out in alone])
    if not (_repeats(operation, rows[:1], _REPEATS) and _repeats(operation, rows, _REPEATS)):
        return _ended(sizes, compared, is_repeatable=False)
    for size in sizes:
        for company, kept, batch in _batches(rows, size):
            out = _asked(operation, batch)
            if form(out) != own:
                return _ended(sizes, compared, misfit=f"in a batch of {size} a row is {form(out)}, alone it is {own}")
            differs = (bits(out, size)[kept] != patterns[kept]).any(axis=1)
            compared += len(kept)
            if differs.any():
                row = int(kept[differs.argmax()])
                doubted = () if found else (rows[row : row + 1], batch)
                if not all(_repeats(operation, one, _REPEATS_IN_DOUBT) for one in doubted):
                    return _ended(sizes, compared, is_repeatable=False)
                found.append(_difference(size, row, company, values(out)[row], values(alone[row])[0]))
                break
    return BatchSweep(
        batch_sizes=sizes,
        rows_compared=compared,
        is_repeatable=True,
        differences=tuple(found),
        is_blank=all(bool(np.isnan(values(out)).all()) for out in alone),
    )


def _ended(
    sizes: tuple[int, ...], compared: int, *, is_repeatable: bool = True, misfit: str | None = None
) -> BatchSweep:
    """A sweep that ended before all was compared."""
    return BatchSweep(batch_sizes=sizes, rows_compared=compared, is_repeatable=is_repeatable, misfit=misfit)


def _asked(operation: Operation, rows: Rows) -> Rows:
    """What the operation gives for a copy of the rows, once it is known to be a row for each."""
    out = operation(copy(rows))
    bits(out, len(rows))
    return out


def _repeats(operation: Operation, rows: Rows, calls: int) -> bool:
    seen = (bits(_asked(operation, rows), len(rows)) for _ in range(calls))
    first = next(seen)
    return all(one.shape == first.shape and bool((one == first).all()) for one in seen)


def _batches(rows: Rows, size: int) -> Iterator[tuple[str, np.ndarray, Rows]]:
    """Batches of one size: what is beside the kept rows, which rows those are, and the batch."""
    yield _NEXT, np.arange(size), rows[:size]
    if size == 1:
        return
    contents = {
        "other rows": picked(rows, np.arange(size)[::-1].copy()),
        "copies of one row": picked(rows, np.zeros(size, np.int64)),
    }
    if is_float(rows):
        contents |= {"zeros": rows[:size] * 0, "rows 16 times as large": rows[:size] * 16}
    for company, content in contents.items():
        for parity in (0, 1):
            replaced = np.arange(1 - parity, size, 2)
            batch = copy(rows[:size])
            batch[index(rows, replaced)] = picked(content, replaced)
            yield company, np.arange(parity, size, 2), batch


def _difference(size: int, row: int, company: str, seen: np.ndarray, alone: np.ndarray) -> Difference:
    differs = np.flatnonzero(seen.view(np.uint8).reshape(len(seen), -1) != alone.view(np.uint8).reshape(len(alone), -1))
    columns = sorted({int(place) // seen.itemsize for place in differs})
    return Difference(
        batch_size=size,
        row=row,
        company=company,
        numbers=seen.size,
        differing=len(columns),
        column=columns[0],
        alone=float(alone[columns[0]]),
        seen=float(seen[columns[0]]),
    )
