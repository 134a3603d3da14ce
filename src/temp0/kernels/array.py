"""The two kinds of array that kernels take.

Every kernel wants C-contiguous arrays of exactly these dtypes and never copies one: another dtype, or an output
that is read-only, raises TypeError; another shape or layout raises ValueError.
"""

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float32]
Integers: TypeAlias = NDArray[np.int32]

_CACHE_LINE_BYTES = 64


def aligned_zeros(shape: tuple[int, ...]) -> Floats:
    """Zeros in float32 that begin at a cache line, as numpy's own do not: attention over such a cache is faster."""
    size_bytes = 4 * math.prod(shape)
    memory = np.zeros(size_bytes + _CACHE_LINE_BYTES, np.uint8)
    start = -memory.ctypes.data % _CACHE_LINE_BYTES
    return memory[start : start + size_bytes].view(np.float32).reshape(shape)
