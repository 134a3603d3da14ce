"""Weights out of a file, rounded to bf16 and known to be finite.

Whatever format a file keeps them in, the same numbers give the same weights.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from temp0.engine.checkpoint import Array
from temp0.errors import ModelError
from temp0.kernels import round_bf16

# Elements at a time: the temporaries stay in the cache, which makes loading three times as fast as whole tensors. A
# multiple of every block that a quantised format has.
_CHUNK = 65_536
# Weights of this size would be infinite in bf16. No model has them; damaged ones do.
_LARGEST = 3e38


def rounded_weights(shape: tuple[int, ...], numbers: Callable[[int, int], Array], *, what: str) -> Array:
    """An array of that shape whose flat elements [first, last) are `numbers(first, last)`, rounded to nearest even.

    ModelError, beginning with `what`, where one is NaN or too large for bf16.
    """
    out = np.empty(shape, np.float32)
    flat = out.reshape(-1)
    for first in range(0, flat.size, _CHUNK):
        part = flat[first : first + _CHUNK]
        part[:] = numbers(first, first + part.size)
        if not -_LARGEST < part.min() <= part.max() < _LARGEST:
            raise ModelError(f"{what} holds a NaN or an infinity; fetch the model again")
        round_bf16(part)
    return out
