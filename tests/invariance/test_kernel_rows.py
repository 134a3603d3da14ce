"""Every kernel as a function of rows: what it writes for a row depends on that row only.

Shapes leave remainders in every tile; positions and pages of a row are taken from its first number.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from temp0 import kernels

Floats = NDArray[np.float32]
SIZES = (*range(1, 34), 44, 45, 63, 64, 65)
COLUMNS = 5 * 24
NOISE = np.random.default_rng(11)
POSITIONS = 150


def random(*shape: int) -> Floats:
    return NOISE.standard_normal(shape, np.float32)


def products(outputs: int, dtype: str) -> Callable[[Floats], Floats]:
    weight = kernels.pack(random(outputs, COLUMNS), dtype=dtype)

    def multiply(x: Floats) -> Floats:
        out = np.empty((len(x), outputs), np.float32)
        kernels.linear(x, weight, out)
        return out

    return multiply


def norm(x: Floats) -> Floats:
    out = np.empty_like(x)
    kernels.rms_norm(x, np.linspace(0.5, 2, COLUMNS, dtype=np.float32), 1e-5, out)
    return out


def silu(x: Floats) -> Floats:
    out = np.empty((len(x), COLUMNS // 2), np.float32)
    kernels.silu_multiply(x, out)
    return out


def logprobs(x: Floats) -> Floats:
    out = np.empty_like(x)
    kernels.log_softmax(x, out)
    return out


def rounded(x: Floats) -> Floats:
    out = x.copy()
    kernels.round_bf16(out)
    return out


def greatest(x: Floats) -> Floats:
    return kernels.argmax(x)[:, None].astype(np.float32)


def positions_of(x: Floats) -> NDArray[np.int32]:
    return (np.abs(x[:, 0]) * 1000).astype(np.int32) % POSITIONS


def turned(x: Floats) -> Floats:
    out = x.reshape(len(x), 5, 24).copy()
    kernels.rotate(out, positions_of(x), *kernels.rotary_tables(POSITIONS, 24, 1e4))
    return out


KEYS, VALUES = random(2 * 50, 3, 1, 24), random(2 * 50, 3, 1, 24)
TABLES = np.random.default_rng(1).permutation(100).astype(np.int32).reshape(2, 50)


def attended(x: Floats) -> Floats:
    positions = positions_of(x)
    query, out = x.reshape(len(x), 5, 24), np.empty((len(x), 5, 24), np.float32)
    kernels.attention(query, KEYS, VALUES, TABLES, positions % 2, positions, out)
    return out


KERNELS: dict[str, Callable[[Floats], Floats]] = {
    "linear, bf16, 41 outputs": products(41, "bf16"),
    "linear, fp32, 41 outputs": products(41, "fp32"),
    "linear, bf16, 1 output": products(1, "bf16"),
    "linear, bf16, 96 outputs": products(96, "bf16"),
    "rms_norm": norm,
    "silu_multiply": silu,
    "log_softmax": logprobs,
    "round_bf16": rounded,
    "argmax": greatest,
    "rotate": turned,
    "attention": attended,
}


def bits(numbers: Floats) -> NDArray[np.uint32]:
    return numbers.reshape(len(numbers), -1).view(np.uint32)


def varying(kernel: Callable[[Floats], Floats]) -> list[str]:
    """The sizes and the shifts at which any row has other bits than alone."""
    x = random(max(SIZES), COLUMNS)
    alone = np.concatenate([bits(kernel(x[place : place + 1])) for place in range(len(x))])
    assert (alone != alone[0]).any(), "rows differ from one another"
    sizes = [f"{size} rows" for size in SIZES if (bits(kernel(x[:size])) != alone[:size]).any()]
    return sizes + [f"from row {start}" for start in range(1, 33) if (bits(kernel(x[start:])) != alone[start:]).any()]


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_a_row_alone_equals_itself_at_every_place_of_every_size(kernel: Callable[[Floats], Floats]) -> None:
    assert varying(kernel) == []


def test_a_kernel_that_looks_at_other_rows_is_seen() -> None:
    assert len(varying(lambda x: norm(x / np.abs(x).max()))) > 60
    assert varying(lambda x: norm(x + np.float32(len(x) == 45))) == ["45 rows", "from row 20"]


@pytest.mark.parametrize("poison", [np.nan, np.inf, -np.inf, 3e38, 1e-42])
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_numbers_that_are_none_or_extreme_spoil_no_other_row(kernel: Callable[[Floats], Floats], poison: float) -> None:
    x = random(13, COLUMNS)
    clean = bits(kernel(x))
    for place in range(len(x)):
        spoiled = x.copy()
        spoiled[place, 1:] = poison
        others = np.arange(len(x)) != place
        assert (bits(kernel(spoiled))[others] == clean[others]).all()
