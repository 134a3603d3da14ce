"""The places of a product (row, column) sorted by the bits they make of the same numbers, and whether places mix.

Two places of one class gave the same bits for every draw of numbers that differ wildly in size, for which another
order of addition nearly always shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from temp0.lab.kernel import Kernel
from temp0.lab.precision import Floats, Precision
from temp0.lab.probe import Shape

_DRAWS = 16
_CALLS = 16
_WIDEST_POWER = 6.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rectangle:
    """Every one of `rows` by every one of `columns`."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceClass:
    """Places that add alike, and a digest of the bits that they made of the same numbers, whatever the batch size."""

    rectangles: tuple[Rectangle, ...]
    bits: str


def wild_numbers(shape: tuple[int, ...], takes: Precision, random: np.random.Generator) -> Floats:
    """Normal numbers times powers of two between 1/64 and 64, rounded to the format: their sums cancel and round."""
    scale = np.exp2(random.uniform(-_WIDEST_POWER, _WIDEST_POWER, shape))
    return takes.rounded(random.standard_normal(shape) * scale)


def place_classes(kernel: Kernel, shape: Shape, *, seed: int = 0) -> tuple[PlaceClass, ...]:
    """The classes of a product of that shape; the one with place (0, 0) first.

    The numbers depend on the seed and on K only, so that digests of different batch sizes can be compared.
    """
    random = np.random.default_rng(seed)
    label = np.zeros((shape.rows, shape.columns), np.int64)
    drawn: list[NDArray[np.int64]] = []
    for _ in range(_DRAWS):
        row, weight = wild_numbers((2, shape.summands), kernel.takes, random)
        out = kernel.multiply(
            np.tile(row, (shape.rows, 1)),
            np.tile(weight, (shape.columns, 1)),
        )
        drawn.append(_patterns(out))
        label = _joined(label, drawn[-1])
    first_places = dict[int, int]()
    for place, one in enumerate(label.ravel().tolist()):
        first_places.setdefault(one, place)
    return tuple(
        PlaceClass(
            rectangles=_rectangles(label == one),
            bits=sha256(np.array([patterns.ravel()[place] for patterns in drawn]).tobytes()).hexdigest()[:16],
        )
        for one, place in first_places.items()
    )


def is_repeatable(kernel: Kernel, shape: Shape, *, calls: int = _CALLS, seed: int = 0) -> bool:
    """Whether so many calls with the same numbers gave the same bits; an order that changes seldom may be missed."""
    random = np.random.default_rng(seed)
    rows, weights = (wild_numbers((side, shape.summands), kernel.takes, random) for side in (shape.rows, shape.columns))
    seen = (_patterns(kernel.multiply(rows.copy(), weights.copy())) for _ in range(calls))
    first = next(seen)
    return all((one == first).all() for one in seen)


def places_are_independent(kernel: Kernel, shape: Shape, *, seed: int = 0) -> bool:
    """Whether no place changes a bit when the rows and columns beside it hold something else.

    Every second row and column is replaced in turn, by zeros, by masks, by other numbers, and must leave the rest be.
    """
    random = np.random.default_rng(seed)
    rows, weights = (wild_numbers((side, shape.summands), kernel.takes, random) for side in (shape.rows, shape.columns))
    alone = _patterns(kernel.multiply(rows.copy(), weights.copy()))
    for parity in range(4):
        kept_rows, kept_columns = np.arange(shape.rows) % 2 == parity % 2, np.arange(shape.columns) % 2 == parity // 2
        kept = np.ix_(kept_rows, kept_columns)
        for company in ("zeros", "masks", "others"):
            other_rows, other_weights = rows.copy(), weights.copy()
            for array, stays in ((other_rows, kept_rows), (other_weights, kept_columns)):
                array[~stays] = _company(company, array[~stays].shape, kernel.takes, random)
            with np.errstate(over="ignore", invalid="ignore"):
                seen = _patterns(kernel.multiply(other_rows, other_weights))
            if (seen[kept] != alone[kept]).any():
                return False
    return True


def _company(kind: str, shape: tuple[int, ...], takes: Precision, random: np.random.Generator) -> Floats:
    if kind == "others":
        return wild_numbers(shape, takes, random)
    filled = np.full(shape, 0.0 if kind == "zeros" else takes.unit, takes.carrier)
    if kind == "masks" and shape[1] > 1:
        filled[:, 0], filled[:, -1] = takes.mask, -takes.mask
    return filled


def _patterns(out: Floats) -> NDArray[np.int64]:
    return out.view(f"i{out.itemsize}").astype(np.int64)


def _joined(label: NDArray[np.int64], patterns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Labels that tell apart what either told apart."""
    _, number = np.unique(patterns, return_inverse=True)
    both = label * (number.max() + 1) + number.reshape(label.shape)
    return np.unique(both, return_inverse=True)[1].reshape(label.shape)


def _rectangles(is_member: NDArray[np.bool_]) -> tuple[Rectangle, ...]:
    """A set of places as rectangles: rows that have the same columns belong together."""
    rows: dict[bytes, list[int]] = {}
    for row in np.flatnonzero(is_member.any(axis=1)).tolist():
        rows.setdefault(is_member[row].tobytes(), []).append(row)
    return tuple(
        Rectangle(rows=tuple(some), columns=tuple(np.flatnonzero(is_member[some[0]]).tolist()))
        for some in rows.values()
    )
