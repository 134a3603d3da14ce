"""The two kinds of array that kernels take.

Every kernel wants C-contiguous arrays of exactly these dtypes and never copies one: another dtype, or an output
that is read-only, raises TypeError; another shape or layout raises ValueError.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float32]
Integers: TypeAlias = NDArray[np.int32]
