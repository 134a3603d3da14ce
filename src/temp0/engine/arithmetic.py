"""How the engine multiplies: the part of a forward pass that an arithmetic mode decides.

A Linear takes the rows of the whole batch at once, so what a row's bits depend on is decided here and nowhere else.
`stock` is numpy's BLAS, whose order of addition depends on the number of rows and on a row's place among them.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Literal, Protocol

import numpy as np
from threadpoolctl import ThreadpoolController

from temp0 import kernels
from temp0.engine.checkpoint import Array
from temp0.errors import UsageError

ACTIVATIONS = ("bf16", "fp32")
WEIGHT_DTYPES = ("bf16", "fp32")

# Measured with OpenBLAS 0.3.31 (SkylakeX kernels, 2 threads) on the shapes of SmolLM2: W @ x.T beats x @ W.T by 10 to
# 30 % from 2 to 32 rows, is equal at 1 and at 64, and loses by 15 % at 128. The head is 1.4 to 1.9 times faster from
# a transposed copy of its weight.
_FEW_ROWS = 48
_TALL = 8


class Linear(Protocol):
    """One prepared weight: `out[M, N] = rows[M, K] @ weight[N, K].T`."""

    def __call__(self, rows: Array, out: Array, *, rounded: bool = False) -> None:
        """Fill `out` with fp32 sums, `rounded` to bf16 or not; both arrays are C-contiguous float32."""


class Arithmetic(Protocol):
    """A way to multiply; `rounded` where activations are bf16, rounded between any two operations."""

    name: str
    rounded: bool

    def linear(self, weight: Array) -> Linear:
        """Prepare a weight [N, K] once, in whatever layout the products want."""

    def limited(self) -> AbstractContextManager[object]:
        """The thread count that products inside the context run with."""


class StockArithmetic:
    """numpy's BLAS: fp32 weights, fp32 sums, all rows of the batch in one product."""

    name = "stock"

    def __init__(self, *, activations: str, threads: int, weight_dtype: str | None = None) -> None:
        if weight_dtype == "bf16":
            raise UsageError("weight_dtype is 'bf16', expected 'fp32' with stock arithmetic, whose BLAS has no bf16")
        self.rounded = _is_rounded(activations)
        self._threads = threads
        self._pools = ThreadpoolController().select(user_api="blas")
        self._scratch = np.empty(0, dtype=np.float32)

    def linear(self, weight: Array) -> Linear:
        """Prepare a weight [N, K]: a tall one is kept transposed, any other as it is."""
        outputs, inputs = weight.shape
        if outputs > _TALL * inputs:
            return _tall(np.ascontiguousarray(weight.T))
        if outputs * _FEW_ROWS > self._scratch.size:
            self._scratch = np.empty(outputs * _FEW_ROWS, dtype=np.float32)
        return self._square(np.ascontiguousarray(weight))

    def limited(self) -> AbstractContextManager[object]:
        """Set the threads of every BLAS in the process, and set them back at the end; kernels keep theirs."""
        kernels.set_threads(self._threads)
        limited: AbstractContextManager[object] = self._pools.limit(limits=self._threads)
        return limited

    def _square(self, weight: Array) -> Linear:
        def multiply(rows: Array, out: Array, *, rounded: bool = False) -> None:
            if len(rows) > _FEW_ROWS:
                np.matmul(rows, weight.T, out=out)
            else:
                sums = self._scratch[: out.size].reshape(out.shape[::-1])
                np.matmul(weight, rows.T, out=sums)
                np.copyto(out, sums.T)
            if rounded:
                kernels.round_bf16(out)

        return multiply


class InvariantArithmetic:
    """Our own kernels: every sum in one order of fused multiply-adds, whatever else is in the batch.

    Weights are bf16 numbers anyway: keeping them in fp32 changes no bit, and twice the bytes are read.
    """

    name = "invariant"

    def __init__(self, *, activations: str, threads: int, weight_dtype: str | None = None) -> None:
        self.rounded = _is_rounded(activations)
        self._threads = threads
        self._weight_dtype: Literal["bf16", "fp32"] = "fp32" if weight_dtype == "fp32" else "bf16"

    def linear(self, weight: Array) -> Linear:
        """Pack a weight [N, K] into panels of outputs."""
        packed = kernels.pack(weight, dtype=self._weight_dtype)

        def multiply(rows: Array, out: Array, *, rounded: bool = False) -> None:
            kernels.linear(rows, packed, out, rounded=rounded)

        return multiply

    def limited(self) -> AbstractContextManager[object]:
        """Set the threads of the kernels, which change no bit."""
        kernels.set_threads(self._threads)
        return nullcontext()


def arithmetic(
    name: str, *, activations: str = "bf16", threads: int | None = None, weight_dtype: str | None = None
) -> Arithmetic:
    """The arithmetic of that name; UsageError says what there is.

    `threads` is every usable core unless stated. `weight_dtype` is how linears keep their weights, which are bf16
    numbers either way: bf16 in invariant unless stated, always fp32 in stock.
    """
    if name not in _ARITHMETICS:
        raise UsageError(f"arithmetic is {name!r}, expected one of: {', '.join(_ARITHMETICS)}")
    if threads is not None and not 1 <= threads <= kernels.MOST_THREADS:
        raise UsageError(f"threads is {threads}, expected 1 to {kernels.MOST_THREADS}")
    if weight_dtype not in {None, *WEIGHT_DTYPES}:
        raise UsageError(f"weight_dtype is {weight_dtype!r}, expected one of: {', '.join(WEIGHT_DTYPES)}")
    return _ARITHMETICS[name](
        activations=activations, threads=threads or kernels.usable_cores(), weight_dtype=weight_dtype
    )


def _tall(transposed: Array) -> Linear:
    def multiply(rows: Array, out: Array, *, rounded: bool = False) -> None:
        np.matmul(rows, transposed, out=out)
        if rounded:
            kernels.round_bf16(out)

    return multiply


def _is_rounded(activations: str) -> bool:
    if activations not in ACTIVATIONS:
        raise UsageError(f"activations is {activations!r}, expected one of: {', '.join(ACTIVATIONS)}")
    return activations == "bf16"


_ARITHMETICS: dict[str, type[StockArithmetic | InvariantArithmetic]] = {
    one.name: one for one in (StockArithmetic, InvariantArithmetic)
}
