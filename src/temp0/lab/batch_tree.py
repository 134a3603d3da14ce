"""The reduction tree of one place of any callable from rows to rows, where it shows from outside.

It shows where the callable is a sum whose weights are powers of two, or where its weights can be set. Other weights
hide it: a number and its negative would have to come out of two different products, exactly, whatever is rounded.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from temp0.core.tree_record import TreeClass
from temp0.errors import UsageError
from temp0.lab.batch_sweep import Operation
from temp0.lab.kernel import Kernel, Multiply
from temp0.lab.place import PlaceClass, Rectangle
from temp0.lab.precision import Floats
from temp0.lab.probe import Shape
from temp0.lab.row_array import Rows, bits, format_of, like, values
from temp0.lab.sweep import tree_class

WithWeight = Callable[[Rows], Operation]
"""From weights [K, N] to the operation that multiplies rows [M, K] by them."""
_MOST_SUMMANDS = 4096


class HiddenTreeError(Exception):
    """The tree does not show from outside; the message says why."""


def place_tree(
    operation: Operation,
    rows: Rows,
    *,
    batch_size: int,
    row: int,
    column: int,
    with_weight: WithWeight | None = None,
    seed: int = 0,
) -> TreeClass:
    """The tree of one row and column in batches of that size; `rows` are an example of what the operation takes.

    Every question fills the whole batch with copies of itself, so nothing is assumed of rows beside each other. Raises
    `HiddenTreeError` where no tree shows.
    """
    summands = int(np.prod(rows.shape[1:]))
    if summands > _MOST_SUMMANDS:
        raise HiddenTreeError(f"a row has {summands:,} numbers, more than the {_MOST_SUMMANDS:,} that are looked into")
    try:
        takes, gives = format_of(rows), format_of(operation(rows[:1]))
    except UsageError as error:
        raise HiddenTreeError(str(error)) from error
    is_sum = with_weight is None
    columns = 1 if is_sum else values(operation(rows[:1])).shape[1]
    multiply = _summing(operation, rows, column) if with_weight is None else _weighted(with_weight, rows, columns)
    kernel = Kernel(name="operation", dtype=takes.name, result=gives.name, multiply=multiply, is_sum=is_sum)
    place = Rectangle(rows=(row,), columns=(0 if is_sum else column,))
    shape = Shape(rows=batch_size, columns=columns, summands=summands)
    with np.errstate(all="ignore"):  # the masks may overflow in whatever else the operation does
        return tree_class(kernel, shape, PlaceClass(rectangles=(place,), bits=""), is_independent=False, seed=seed)


def _weighted(with_weight: WithWeight, rows: Rows, columns: int) -> Multiply:
    def multiply(given: Floats, weights: Floats) -> Floats:
        out = with_weight(like(rows, weights.T))(_shaped(rows, given))
        try:
            bits(out, len(given))
        except UsageError as error:
            raise HiddenTreeError(f"with_weight makes no such operation: {error}") from error
        if (told := values(out)).shape[1] != columns:
            raise HiddenTreeError(f"with_weight gives {told.shape[1]} numbers a row, where op gives {columns}")
        return told

    return multiply


def _summing(operation: Operation, rows: Rows, column: int) -> Multiply:
    """The operation as a sum of its row, each number first divided by its weight."""
    one_each = np.eye(int(np.prod(rows.shape[1:])))
    weights, doubled = (
        values(operation(_shaped(rows, size * one_each)))[:, column].astype(np.float64) for size in (1, 2)
    )
    if not (np.isfinite(weights).all() and weights.all() and (doubled == 2 * weights).all()):
        raise HiddenTreeError("the operation is no weighted sum of its row")
    if (np.abs(np.frexp(weights)[0]) != 0.5).any():
        raise HiddenTreeError(
            "its weights are no powers of two; pass with_weight, which makes the operation for given weights [K, N]"
        )

    def add(given: Floats, _: Floats) -> Floats:
        return values(operation(_shaped(rows, given / weights)))[:, column : column + 1]

    return add


def _shaped(rows: Rows, given: Floats) -> Rows:
    return like(rows, given.reshape(len(given), *rows.shape[1:]))
