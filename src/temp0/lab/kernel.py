"""A kernel to be looked into: rows times weights, or sums of rows, as a black box with a name.

Nothing is known of a kernel but what it returns. Arrays go in with the dtype's carrier and come out as the kernel
makes them; a place in the result is a row and a column, and its summands are the K products (or numbers) of that row.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from temp0 import kernels
from temp0.errors import UsageError
from temp0.lab.precision import Dtype, Floats, Precision, precision

Multiply = Callable[[Floats, Floats], Floats]
"""From rows[M, K] and weights[N, K] to [M, N]; a sum ignores its weights and gives [M, 1]."""

Fill = Callable[[NDArray[np.float32], NDArray[np.float32]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """One operation in one dtype.

    `result` is the precision of what comes out. A `lone` kernel takes one row and gives one number; one that `is_sum`
    has no weights.
    """

    name: str
    dtype: Dtype
    multiply: Multiply
    result: Dtype
    is_sum: bool = False
    is_lone: bool = False

    @property
    def takes(self) -> Precision:
        """The format of what goes in."""
        return precision(self.dtype)

    @property
    def gives(self) -> Precision:
        """The format of what comes out."""
        return precision(self.result)


def kernel(name: str, dtype: str) -> Kernel:
    """One of `KERNELS` in that dtype. UsageError says what there is, or why the two do not go together."""
    if name not in KERNELS:
        raise UsageError(f"op is {name!r}, expected one of: {', '.join(KERNELS)}")
    return KERNELS[name](precision(dtype).name)


def _numpy_matmul(dtype: Dtype) -> Kernel:
    _refuse_bfloat16("numpy.matmul", dtype)

    def matmul(rows: Floats, weights: Floats) -> Floats:
        return rows @ np.ascontiguousarray(weights.T)

    return Kernel(name="numpy.matmul", dtype=dtype, result=dtype, multiply=matmul)


def _numpy_linear(dtype: Dtype) -> Kernel:
    _refuse_bfloat16("numpy.linear", dtype)
    return Kernel(name="numpy.linear", dtype=dtype, result=dtype, multiply=lambda rows, weights: rows @ weights.T)


def _numpy_dot(dtype: Dtype) -> Kernel:
    _refuse_bfloat16("numpy.dot", dtype)

    def dot(rows: Floats, weights: Floats) -> Floats:
        return np.asarray(np.dot(rows[0], weights[0])).reshape(1, 1)

    return Kernel(name="numpy.dot", dtype=dtype, result=dtype, multiply=dot, is_lone=True)


def _numpy_sum(dtype: Dtype) -> Kernel:
    _refuse_bfloat16("numpy.sum", dtype)
    return Kernel(
        name="numpy.sum",
        dtype=dtype,
        result=dtype,
        multiply=lambda rows, _: np.sum(rows, axis=1, keepdims=True),
        is_sum=True,
    )


def prepared_kernel(name: str, dtype: Dtype, prepare: Callable[[Floats], Fill]) -> Kernel:
    """A linear with fp32 sums that prepares its weights[N, K] once, then fills arrays [M, N] it is given."""

    def multiply(rows: Floats, weights: Floats) -> Floats:
        out = np.empty((len(rows), len(weights)), np.float32)
        prepare(weights)(np.ascontiguousarray(rows, np.float32), out)
        return out

    return Kernel(name=name, dtype=dtype, result="float32", multiply=multiply)


def _kernels_linear(dtype: Dtype) -> Kernel:
    if dtype not in {"float32", "bfloat16"}:
        raise UsageError(f"kernels.linear has no {dtype}: its weights are float32 or bfloat16")

    def prepare(weights: Floats) -> Fill:
        packed = kernels.pack(weights.astype(np.float32), dtype="fp32" if dtype == "float32" else "bf16")
        return lambda rows, out: kernels.linear(rows, packed, out)

    return prepared_kernel("kernels.linear", dtype, prepare)


def _python_sum(dtype: Dtype) -> Kernel:
    return _of_floats("python.sum", dtype, sum)


def _python_fsum(dtype: Dtype) -> Kernel:
    return _of_floats("python.fsum", dtype, math.fsum)


def _of_floats(name: str, dtype: Dtype, add: Callable[[list[float]], float]) -> Kernel:
    if dtype != "float64":
        raise UsageError(f"{name} has no {dtype}: a Python float is float64")

    def total(rows: Floats, _: Floats) -> Floats:
        return np.array([[add(rows[0].tolist())]])

    return Kernel(name=name, dtype=dtype, result=dtype, multiply=total, is_sum=True, is_lone=True)


def _refuse_bfloat16(name: str, dtype: Dtype) -> None:
    if dtype == "bfloat16":
        raise UsageError(f"{name} has no bfloat16, as numpy has none; kernels.linear and torch have")


KERNELS: dict[str, Callable[[Dtype], Kernel]] = {
    "numpy.matmul": _numpy_matmul,
    "numpy.linear": _numpy_linear,
    "numpy.dot": _numpy_dot,
    "numpy.sum": _numpy_sum,
    "kernels.linear": _kernels_linear,
    "python.sum": _python_sum,
    "python.fsum": _python_fsum,
}
"""matmul keeps weights as [K, N], linear as [N, K], as models do; libraries choose their order by that, too."""
