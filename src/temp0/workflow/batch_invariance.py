"""An assertion for test suites: a row keeps its bits in any batch, whatever the operation is.

A pass says at which batch sizes it was seen, and beside what control: an operation known to change its order that did
not differ here would have let anything pass.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from numbers import Integral
from textwrap import wrap

from temp0.core.tree_record import TreeClass
from temp0.errors import UsageError
from temp0.lab.batch_control import random_rows, stock_product
from temp0.lab.batch_sweep import BatchSweep, Difference, Operation, batch_sweep, boundary_sizes
from temp0.lab.batch_tree import HiddenTreeError, WithWeight, place_tree
from temp0.lab.row_array import Rows, is_rows
from temp0.report.tree_cut import text_drawing
from temp0.report.tree_finding import class_words, replay_words
from temp0.report.tree_place import ranges

_MOST_ROWS = 257
_SIDE = 58


class ControlDidNotTripWarning(UserWarning):
    """The control beside a check that passed saw no difference either, so the pass proves little."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchInvariance:
    """What a check that passed rests on: `control_tripped` is `None` where there was no control."""

    batch_sizes: tuple[int, ...]
    rows_compared: int
    control: str | None
    control_tripped: bool | None


def assert_batch_invariant(
    op: Operation,
    *,
    width: int | None = None,
    dtype: str = "float32",
    rows: Rows | None = None,
    batch_sizes: Sequence[int] | None = None,
    control: Operation | None = None,
    with_weight: WithWeight | None = None,
    seed: int = 0,
) -> BatchInvariance:
    """Raise `AssertionError` where a row of `op` has other bits in a batch than alone.

    `op` takes rows [M, ...] and gives as many rows. It is asked with random normal rows of `width` numbers as numpy
    arrays of `dtype`, or with your own `rows` (numpy or torch; they come again where a batch needs more). Every row of
    every batch is compared with itself alone, at both sides of each power of two up to 257 rows unless `batch_sizes`
    says otherwise, and again with every second row replaced by other rows, copies, zeros and large numbers.

    `control` is an operation known to change its order with the batch, such as the same layer without its invariant
    mode; by default a product of the library that the rows belong to. Where it does not differ either, the pass proves
    little, and a `ControlDidNotTripWarning` says so. `with_weight` makes `op` for given weights [K, N]; with it, or
    where `op` is a plain sum, the error shows the two reduction trees side by side.

    Raises `UsageError` where rows or what comes back cannot be compared.
    """
    if (width is None) == (rows is None):
        raise UsageError("give width (of random numpy rows) or rows (your own), one of the two")
    sizes = _sizes(batch_sizes)
    pool = _random(max(sizes), width, dtype, seed) if width is not None else rows
    if not is_rows(pool):
        raise UsageError(f"rows is {type(pool).__name__}, expected a numpy array or torch tensor of at least one row")
    sweep = batch_sweep(op, pool, sizes)
    if sweep.is_blank:
        raise UsageError("the operation gave nothing but NaN for every row alone, so there is nothing to compare")
    if not sweep.is_invariant:
        raise AssertionError(_failure(op, pool, sweep, with_weight, seed))
    beside, name = (control, "the control given") if control else stock_product(pool, seed=seed)
    tripped = None if beside is None else not batch_sweep(beside, pool, sizes).is_invariant
    if not tripped:
        warnings.warn(_proves_little(name, tripped), ControlDidNotTripWarning, stacklevel=2)
    return BatchInvariance(
        batch_sizes=sweep.batch_sizes,
        rows_compared=sweep.rows_compared,
        control=None if beside is None else name,
        control_tripped=tripped,
    )


def _sizes(given: Sequence[int] | None) -> tuple[int, ...]:
    if given is None:
        return boundary_sizes(_MOST_ROWS)
    sizes = tuple(given)
    if not sizes or not all(isinstance(size, Integral) and size >= 1 for size in sizes):
        raise UsageError(f"batch_sizes is {sizes}, expected whole numbers of at least 1")
    if max(sizes) == 1:
        raise UsageError("batch_sizes is 1 alone, expected one of at least 2: a row alone has no company to depend on")
    return tuple(int(size) for size in sizes)


def _random(count: int, width: int, dtype: str, seed: int) -> Rows:
    if width < 1:
        raise UsageError(f"width is {width}, expected at least 1")
    return random_rows(count, width, dtype, seed=seed)


def _proves_little(name: str, tripped: bool | None) -> str:
    if tripped is None:
        return f"no control ran beside this check ({name}), so the pass proves little; pass control=..."
    return (
        f"the control did not trip: {name} kept its bits at every batch size, too, on this machine and in this dtype. "
        "The pass proves little; try float32, other sizes, or control=... with an operation that is known to differ"
    )


def _failure(op: Operation, pool: Rows, sweep: BatchSweep, with_weight: WithWeight | None, seed: int) -> str:
    if not sweep.is_repeatable:
        return "not even repeatable: the same call, on the same rows, gave other bits"
    if sweep.misfit:
        return f"not batch invariant: {sweep.misfit}"
    one, agreeing = (
        sweep.differences[0],
        sorted(set(sweep.batch_sizes) - {each.batch_size for each in sweep.differences}),
    )
    share = f"{one.differing:,} of {one.numbers:,} numbers"
    lines = [
        f"not batch invariant: in a batch of {one.batch_size}, row {one.row} has other bits than alone, "
        f"in {share}; number {one.column} is {one.seen!r}, alone {one.alone!r}",
        f"beside it were {one.company}",
        f"batch sizes that differ: {ranges([each.batch_size for each in sweep.differences])}",
        f"batch sizes that agree: {ranges(agreeing) or 'none'}",
    ]
    return "\n".join([*lines, "", *_two_trees(op, pool, one, with_weight, seed)])


def _two_trees(op: Operation, pool: Rows, one: Difference, with_weight: WithWeight | None, seed: int) -> list[str]:
    try:
        alone, seen = (
            place_tree(op, pool, batch_size=size, row=row, column=one.column, with_weight=with_weight, seed=seed)
            for size, row in ((1, 0), (one.batch_size, one.row))
        )
    except HiddenTreeError as error:
        return [f"the reduction trees do not show: {error}"]
    if replace(alone, places=(), replays=0) == replace(seen, places=(), replays=0):
        other = ", or with_weight makes another operation than op" if with_weight else ""
        return [
            f"alone and in the batch it adds in one order: the difference comes from somewhere else{other}",
            class_words(alone),
        ]
    sides = (_side("alone", alone), _side(f"batch of {one.batch_size}, row {one.row}", seen))
    return [f"{left:<{_SIDE}}  {right}".rstrip() for left, right in zip_longest(*sides, fillvalue="")]


def _side(heading: str, one: TreeClass) -> list[str]:
    told = [heading, *wrap(class_words(one), _SIDE)]
    drawing = [] if one.tree is None else [line[:_SIDE] for line in text_drawing(one.tree, most=8)]
    return [*told, "", *drawing, "", *wrap(replay_words(one), _SIDE)]
