"""Rows as numpy arrays or torch tensors: the few things an experiment needs of either.

torch is never imported here: where one of its tensors is, it is loaded already.
"""

from __future__ import annotations

import sys
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from temp0.errors import UsageError
from temp0.lab.precision import Floats, Precision, precision

Rows: TypeAlias = Any
"""A numpy array or a torch tensor whose first axis counts rows."""
Numbers = NDArray[np.integer[Any]]


def is_float(rows: Rows) -> bool:
    """Whether the rows hold floating-point numbers."""
    return bool(rows.dtype.kind == "f" if isinstance(rows, np.ndarray) else rows.is_floating_point())


def format_of(rows: Rows) -> Precision:
    """The format of the numbers in the rows; UsageError where it is none that is known."""
    return precision(str(rows.dtype).removeprefix("torch."))


def is_rows(rows: object) -> bool:
    """Whether these are at least one row, in an array or tensor."""
    is_array = isinstance(rows, np.ndarray) or type(rows).__module__.partition(".")[0] == "torch"
    return is_array and hasattr(rows, "shape") and len(rows.shape) > 0 and rows.shape[0] > 0


def form(out: Rows) -> str:
    """The format and shape of one row of a result.

    >>> form(np.zeros((3, 4), np.float32))
    'float32 of shape [4]'
    """
    return f"{str(out.dtype).removeprefix('torch.')} of shape {list(out.shape[1:])}"


def copy(rows: Rows) -> Rows:
    """The same rows in memory of their own."""
    return rows.copy() if isinstance(rows, np.ndarray) else rows.clone()


def picked(rows: Rows, numbers: Numbers) -> Rows:
    """The rows of these numbers, copied."""
    return rows[index(rows, numbers)]


def index(rows: Rows, numbers: Numbers) -> Any:
    """Row numbers in the kind of array that can pick rows of `rows`."""
    return numbers if isinstance(rows, np.ndarray) else _torch().from_numpy(numbers).to(rows.device)


def like(rows: Rows, values: Floats) -> Rows:
    """Numbers of the same format in the same kind of array, on the same device."""
    if isinstance(rows, np.ndarray):
        return np.ascontiguousarray(values, rows.dtype)
    return _torch().from_numpy(np.ascontiguousarray(values)).to(device=rows.device, dtype=rows.dtype)


def bits(out: Rows, count: int) -> NDArray[np.uint8]:
    """The bytes of each of `count` rows, [count, B], copied; UsageError where there are not as many rows."""
    if not hasattr(out, "shape") or len(out.shape) < 1 or out.shape[0] != count:
        told = f"an array of shape {tuple(out.shape)}" if hasattr(out, "shape") else type(out).__name__
        raise UsageError(f"the operation gave {told} for {count} rows, expected one row for each")
    if isinstance(out, np.ndarray):
        whole = np.array(out, order="C")
    else:
        integers = {1: "uint8", 2: "int16", 4: "int32", 8: "int64"}[out.element_size()]
        whole = out.detach().cpu().contiguous().view(getattr(_torch(), integers)).numpy().copy()
    return whole.reshape(count, -1).view(np.uint8)


def values(out: Rows) -> Floats:
    """The numbers of every row, [M, N]; bfloat16 as float32, complex ones as two, anything else as it is."""
    if not isinstance(out, np.ndarray):
        out = out.detach().cpu()
        out = (out.float() if out.dtype == _torch().bfloat16 else out).numpy()
    numbers = np.ascontiguousarray(out).reshape(len(out), -1)
    return numbers.view(numbers.real.dtype)


def _torch() -> Any:
    return sys.modules["torch"]
