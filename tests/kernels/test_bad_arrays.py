"""What a kernel refuses, and what it says: never a copy, never a silent conversion."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from temp0 import kernels

F, I = np.float32, np.int32  # noqa: E741 - dtypes, as short as they are many here


def zeros(*shape: int, dtype: type = F) -> np.ndarray:
    return np.zeros(shape, dtype)


def frozen(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


def attend(**changes: np.ndarray) -> None:
    arrays = {
        "query": zeros(2, 4, 16),
        "keys": zeros(3, 8, 2, 16),
        "values": zeros(3, 8, 2, 16),
        "tables": np.array([[0, 1], [2, -1]], I),
        "rows": np.array([0, 1], I),
        "positions": np.array([15, 7], I),
        "out": zeros(2, 4, 16),
    }
    kernels.attention(**{**arrays, **changes})


def turn(position: int) -> None:
    kernels.rotate(zeros(1, 1, 4), np.array([position], I), zeros(3, 2), zeros(3, 2))


def norm(weight: np.ndarray, eps: float = 1e-5) -> None:
    kernels.rms_norm(zeros(1, 4), weight, eps, zeros(1, 4))


def add(**changes: np.ndarray) -> None:
    kernels.add_rms_norm(
        **{"x": zeros(2, 4), "added": zeros(2, 4), "weight": zeros(4), "out": zeros(2, 4), **changes}, eps=1e-5
    )


def place(**changes: object) -> None:
    """Two rows of 4 query heads and 2 kv heads of 16, into 3 pages of 8."""
    arrays = {
        "qkv": zeros(2, 8 * 16),
        "places": np.array([23, 0], I),
        "positions": np.array([4, 0], I),
        "rotary": (zeros(5, 8), zeros(5, 8)),
        "query": zeros(2, 4, 16),
        "keys": zeros(3, 8, 2, 16),
        "values": zeros(3, 8, 2, 16),
    }
    kernels.place_qkv(**{**arrays, **changes})


PACKED = kernels.pack(np.ones((20, 33), F))

WRONG_TYPES: dict[str, tuple[Callable[[], object], str]] = {
    "a list": (lambda: kernels.round_bf16([1.0]), "x must be a numpy array of float32, not list"),
    "float64": (lambda: kernels.round_bf16(zeros(3, dtype=np.float64)), "x must be float32, not float64"),
    "float16": (lambda: norm(zeros(4, dtype=np.float16)), "weight must be float32"),
    "read-only output": (lambda: kernels.linear(zeros(1, 33), PACKED, frozen(zeros(1, 20))), "out is read-only"),
    "unpacked weight": (lambda: kernels.linear(zeros(1, 33), zeros(20, 33), zeros(1, 20)), "incompatible"),
    "int64 rows": (lambda: attend(rows=zeros(2, dtype=np.int64)), "rows must be int32, not int64"),
    "int64 places": (lambda: place(places=np.zeros(2, np.int64)), "places must be int32, not int64"),
    "read-only cache": (lambda: place(keys=frozen(zeros(3, 8, 2, 16))), "keys is read-only, but is written to"),
    "head norm": (lambda: place(norms=(zeros(16), zeros(16, dtype=np.float64))), "key_norm must be float32"),
    "read-only sums": (lambda: add(x=frozen(zeros(2, 4))), "x is read-only, but is written to"),
    "integers as logits": (lambda: kernels.argmax(zeros(2, 3, dtype=I)), "logits must be float32, not int32"),
}  # fmt: skip

WRONG_VALUES: dict[str, tuple[Callable[[], object], str]] = {
    "transposed": (lambda: kernels.linear(zeros(33, 2).T, PACKED, zeros(2, 20)), "x must be C-contiguous"),
    "strided output": (lambda: kernels.linear(zeros(2, 33), PACKED, zeros(2, 40)[:, ::2]), "out must be C-contiguous"),
    "dimensions": (lambda: kernels.linear(zeros(33), PACKED, zeros(1, 20)), "x must have 2 dimensions, not 1"),
    "inputs": (lambda: kernels.linear(zeros(2, 32), PACKED, zeros(2, 20)), r"\(any, 33\), not \(2, 32\)"),
    "outputs": (lambda: kernels.linear(zeros(2, 33), PACKED, zeros(2, 33)), r"out must have shape \(2, 20\)"),
    "packed dtype": (lambda: kernels.pack(zeros(2, 2), dtype="int8"), 'dtype must be "bf16" or "fp32", not "int8"'),
    "empty weight": (lambda: kernels.pack(zeros(0, 2)), "at least one output"),
    "weight length": (lambda: norm(zeros(3)), "weight must have shape"),
    "eps": (lambda: norm(zeros(4), float("nan")), "eps must be 0 or more"),
    "odd gate_up": (lambda: kernels.silu_multiply(zeros(1, 3), zeros(1, 1)), "even number of columns"),
    "five dimensions": (lambda: kernels.round_bf16(zeros(1, 1, 1, 1, 1)), "more than 4 dimensions"),
    "position": (lambda: turn(3), r"positions\[0\] is 3, not within 0 to 2"),
    "negative position": (lambda: turn(-1), r"positions\[0\] is -1"),
    "odd head_dim": (lambda: kernels.rotary_tables(4, 5, 1e4), "head_dim even"),
    "theta": (lambda: kernels.rotary_tables(4, 4, float("nan")), "theta must be within"),
    "no logits": (lambda: kernels.argmax(zeros(2, 0)), "at least one column"),
    "heads": (lambda: attend(query=zeros(2, 3, 16), out=zeros(2, 3, 16)), "multiple of the kv heads"),
    "head_dim": (lambda: attend(keys=zeros(3, 8, 2, 8)), "keys must have shape"),
    "values": (lambda: attend(values=zeros(3, 8, 1, 16)), "values must have shape"),
    "row": (lambda: attend(rows=np.array([0, 2], I)), r"rows\[1\] is 2, but tables has 2 rows"),
    "beyond table": (lambda: attend(positions=np.array([16, 0], I)), r"is 16, but a table holds positions 0 to 15"),
    "negative": (lambda: attend(positions=np.array([-1, 0], I)), r"positions\[0\] is -1"),
    "added": (lambda: add(added=zeros(1, 4)), r"added must have shape \(2, 4\), not \(1, 4\)"),
    "added weight": (lambda: add(weight=zeros(2)), r"weight must have shape \(4\)"),
    "added out": (lambda: add(out=zeros(2, 5)), r"out must have shape \(2, 4\)"),
    "place": (lambda: place(places=np.array([0, 24], I)), r"places\[1\] is 24, not within 0 to 23"),
    "negative place": (lambda: place(places=np.array([-1, 0], I)), r"places\[0\] is -1"),
    "one place twice": (lambda: place(places=np.array([7, 7], I)), "places has 7 more than once"),
    "places": (lambda: place(places=np.zeros(1, I)), r"places must have shape \(2\)"),
    "placed position": (lambda: place(positions=np.array([0, 5], I)), r"positions\[1\] is 5, not within 0 to 4"),
    "placed columns": (lambda: place(qkv=zeros(2, 9 * 16)), r"qkv must have shape \(any, 128\)"),
    "placed queries": (lambda: place(query=zeros(1, 4, 16)), r"query must have shape \(2, any, any\)"),
    "placed keys": (lambda: place(keys=zeros(3, 8, 2, 8)), r"keys must have shape \(any, any, any, 16\)"),
    "placed values": (lambda: place(values=zeros(2, 8, 2, 16)), r"values must have shape \(3, 8, 2, 16\)"),
    "placed angles": (lambda: place(rotary=(zeros(5, 4), zeros(5, 4))), r"cosines must have shape \(any, 8\)"),
    "placed odd": (lambda: place(query=zeros(2, 4, 15)), "query must have an even head dimension"),
    "placed norm": (lambda: place(norms=(zeros(8), zeros(16))), r"query_norm must have shape \(16\)"),
    "placed eps": (lambda: place(eps=-1.0), "eps must be 0 or more"),
    "no such page": (lambda: attend(positions=np.array([0, 8], I)), r"tables\[1, 1\] is -1, but keys has 3 pages"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG_TYPES)
def test_a_wrong_type_is_a_type_error(case: str) -> None:
    call, message = WRONG_TYPES[case]
    with pytest.raises(TypeError, match=message):
        call()


@pytest.mark.parametrize("case", WRONG_VALUES)
def test_a_wrong_shape_layout_or_number_is_a_value_error(case: str) -> None:
    call, message = WRONG_VALUES[case]
    with pytest.raises(ValueError, match=message):
        call()


def test_overlapping_memory_is_refused() -> None:
    memory = zeros(60)
    with pytest.raises(ValueError, match="x and out must not share memory"):
        kernels.linear(memory[:33].reshape(1, 33), PACKED, memory[30:50].reshape(1, 20))
    with pytest.raises(ValueError, match="x and out must not share memory"):
        kernels.rms_norm(memory[:20].reshape(1, 20), zeros(20), 1e-5, memory[10:30].reshape(1, 20))
    with pytest.raises(ValueError, match="x and added must not share memory"):
        add(x=memory[:8].reshape(2, 4), added=memory[4:12].reshape(2, 4))
    cache = zeros(3, 8, 2, 16)
    with pytest.raises(ValueError, match="keys and values must not share memory"):
        place(keys=cache, values=cache)
    with pytest.raises(ValueError, match="qkv and query must not share memory"):
        place(qkv=cache.reshape(-1)[:256].reshape(2, 128), query=cache.reshape(-1)[:128].reshape(2, 4, 16))


def test_norm_and_log_softmax_work_in_place() -> None:
    x = np.random.default_rng(0).normal(size=(3, 50)).astype(F)
    apart, weight = np.empty_like(x), np.ones(50, F)
    kernels.rms_norm(x, weight, 1e-5, apart)
    kernels.rms_norm(x, weight, 1e-5, x)
    assert np.array_equal(x, apart)
    kernels.log_softmax(x, apart)
    kernels.log_softmax(x, x)
    assert np.array_equal(x, apart)


def test_no_rows_are_no_work() -> None:
    kernels.linear(zeros(0, 33), PACKED, zeros(0, 20))
    kernels.rms_norm(zeros(0, 8), zeros(8), 1e-5, zeros(0, 8))
    kernels.silu_multiply(zeros(0, 8), zeros(0, 4))
    kernels.rotate(zeros(0, 2, 4), zeros(0, dtype=I), zeros(3, 2), zeros(3, 2))
    add(x=zeros(0, 4), added=zeros(0, 4), out=zeros(0, 4))
    place(qkv=zeros(0, 128), places=zeros(0, dtype=I), positions=zeros(0, dtype=I), query=zeros(0, 4, 16))
    kernels.round_bf16(zeros(0, 5))
    kernels.log_softmax(zeros(0, 5), zeros(0, 5))
    assert kernels.argmax(zeros(0, 5)).tolist() == []
    empty = zeros(0, 4, 16)
    attend(query=empty, rows=zeros(0, dtype=I), positions=zeros(0, dtype=I), out=empty.copy())


def test_inputs_may_be_read_only() -> None:
    out = zeros(1, 20)
    kernels.linear(frozen(np.ones((1, 33), F)), PACKED, out)
    assert out.tolist() == [[33.0] * 20]


def test_packed_weights_say_what_they_hold() -> None:
    assert (PACKED.outputs, PACKED.inputs, PACKED.dtype) == (20, 33, "bf16")
    assert PACKED.size_bytes == 2 * 16 * 32 * 4


@pytest.mark.parametrize("shape", [(3, 5), (7,), (2, 3, 4, 64)])
def test_aligned_zeros_begin_at_a_cache_line(shape: tuple[int, ...]) -> None:
    array = kernels.aligned_zeros(shape)
    assert array.ctypes.data % 64 == 0
    assert (array.shape, array.dtype, array.flags.c_contiguous) == (shape, F, True)
    assert not array.any()
