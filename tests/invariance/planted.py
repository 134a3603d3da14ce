"""Arithmetics with a planted fault each, of the kinds that real kernels have.

Every one of them is as accurate as the invariant arithmetic, and gives the same bits again for the same batch. What
they lack is only that a row's bits depend on nothing but the row.
"""

from __future__ import annotations

from contextlib import AbstractContextManager

import numpy as np

from temp0.engine.arithmetic import InvariantArithmetic, Linear
from temp0.engine.checkpoint import Array


class PlantedArithmetic:
    """Sums in the invariant order, except for the rows that `is_backwards` names: those add their inputs backwards.

    Activations are fp32, where a bit once lost is not rounded away.
    """

    name = "planted"
    rounded = False

    def __init__(self) -> None:
        self._invariant = InvariantArithmetic(activations="fp32", threads=1)

    def linear(self, weight: Array) -> Linear:
        forwards = self._invariant.linear(weight)
        backwards = self._invariant.linear(np.ascontiguousarray(weight[:, ::-1]))

        def multiply(rows: Array, out: Array, *, rounded: bool = False) -> None:
            assert not rounded
            forwards(rows, out)
            chosen = self.is_backwards(rows)
            if chosen.any():
                sums = np.empty((int(chosen.sum()), out.shape[1]), np.float32)
                backwards(np.ascontiguousarray(rows[chosen, ::-1]), sums)
                out[chosen] = sums

        return multiply

    def is_backwards(self, rows: Array) -> np.ndarray:
        """Which rows [M] of a batch take the other order: none, where nothing is planted."""
        return np.zeros(len(rows), bool)

    def limited(self) -> AbstractContextManager[object]:
        return self._invariant.limited()


class OrderByCount(PlantedArithmetic):
    """Another kernel from some number of rows on, as a library picks one for matrices and one for vectors."""

    def __init__(self, *, most: int) -> None:
        super().__init__()
        self._most = most

    def is_backwards(self, rows: Array) -> np.ndarray:
        return np.full(len(rows), len(rows) > self._most)


class OrderByPlace(PlantedArithmetic):
    """Another order for the rows that are left over when the batch is cut into tiles of four."""

    def is_backwards(self, rows: Array) -> np.ndarray:
        return np.arange(len(rows)) >= len(rows) // 4 * 4


class SharedScale(PlantedArithmetic):
    """All rows are divided by the greatest number among them, and the sums multiplied by it again."""

    def linear(self, weight: Array) -> Linear:
        forwards = self._invariant.linear(weight)

        def multiply(rows: Array, out: Array, *, rounded: bool = False) -> None:
            assert not rounded
            scale = np.abs(rows).max()
            forwards(rows / scale, out)
            np.multiply(out, scale, out=out)

        return multiply
