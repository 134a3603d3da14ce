"""The numbers that the bytes of a GGUF tensor stand for.

They are those that the gguf package gives, bit for bit, whoever computes them.
"""

from __future__ import annotations

import numpy as np
from gguf import GGMLQuantizationType, dequantize
from numpy.typing import NDArray

from temp0.engine.checkpoint import Array

Bytes = NDArray[np.uint8]

_Q4_1_BYTES, _Q4_1_SIZE = 20, 32


def dequantised(packed: Bytes, kind: GGMLQuantizationType) -> Array:
    """The float32 numbers of whole blocks, flat. NotImplementedError for a type that gguf cannot dequantise."""
    if kind is GGMLQuantizationType.Q4_1:
        return _q4_1(packed.reshape(-1, _Q4_1_BYTES))
    with np.errstate(over="ignore", invalid="ignore"):
        numbers: Array = dequantize(packed[None], kind).reshape(-1)
    return numbers


def _q4_1(blocks: Bytes) -> Array:
    """Blocks of a scale, a least value, and 16 bytes whose low halves come before their high ones.

    The built-in model is of this type; gguf's own code takes three times as long, half a second of its start.
    """
    scale_and_least = blocks[:, :4].copy().view("<f2").astype(np.float32)
    halves = np.empty((len(blocks), _Q4_1_SIZE), np.uint8)
    np.bitwise_and(blocks[:, 4:], 15, out=halves[:, :16])
    np.right_shift(blocks[:, 4:], 4, out=halves[:, 16:])
    numbers = halves.astype(np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        numbers *= scale_and_least[:, :1]
        numbers += scale_and_least[:, 1:]
    return numbers.reshape(-1)
