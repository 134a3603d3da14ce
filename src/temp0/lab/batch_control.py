"""The control of a check that a row keeps its bits: a stock product that usually does not, in the same library.

Whether it differs depends on the machine and the format, which is why it must run beside the check.
"""

from __future__ import annotations

import numpy as np

from temp0.lab.batch_sweep import Operation
from temp0.lab.precision import Floats, precision
from temp0.lab.row_array import Rows, is_float, like

_COLUMNS = 64


def random_rows(count: int, width: int, dtype: str, *, seed: int = 0) -> Floats:
    """Standard normal rows [count, width] in a format that numpy has (bfloat16 numbers come as float32)."""
    return precision(dtype).rounded(np.random.default_rng(seed).standard_normal((count, width)))


def stock_product(rows: Rows, *, seed: int = 0) -> tuple[Operation | None, str]:
    """The library's own product of such rows with random weights, and what to call it; `None` for whole numbers."""
    if not is_float(rows):
        return None, "the rows are no floating-point numbers"
    width = int(np.prod(rows.shape[1:]))
    weight = like(rows, np.random.default_rng((seed, 2)).standard_normal((width, _COLUMNS)))
    library = "numpy" if isinstance(rows, np.ndarray) else "torch"
    return lambda some: some.reshape(len(some), width) @ weight, f"{library}'s product of {width} by {_COLUMNS}"
