"""A row's bits depend on nothing but the row: not its company, its place, its pages or the cuts of a prompt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from temp0 import kernels

SIZES = [*range(1, 34), 44, 63, 64, 65, 127, 128, 129]

RNG = np.random.default_rng(5)
LINEARS = {
    (outputs, inputs, dtype): kernels.pack(RNG.normal(size=(outputs, inputs)).astype(np.float32), dtype=dtype)
    for outputs, inputs, dtype in [(96, 576, "bf16"), (41, 301, "bf16"), (70, 320, "fp32")]
}

ROTARY = kernels.rotary_tables(1000, 64, 1e5)
HEAD_NORMS = np.linspace(0.5, 2, 64, dtype=np.float32), np.linspace(2, 0.5, 64, dtype=np.float32)


def multiply(x: np.ndarray, weight: kernels.PackedLinear) -> np.ndarray:
    out = np.empty((len(x), weight.outputs), np.float32)
    kernels.linear(x, weight, out)
    return out


def norm(x: np.ndarray) -> np.ndarray:
    out = np.empty_like(x)
    kernels.rms_norm(x, np.linspace(0.5, 2, x.shape[1], dtype=np.float32), 1e-5, out)
    return out


def add_norm(x: np.ndarray) -> np.ndarray:
    sums, out = x.copy(), np.empty_like(x)
    weight = np.linspace(0.5, 2, x.shape[1], dtype=np.float32)
    kernels.add_rms_norm(sums, x * np.float32(0.3), weight, 1e-5, out, rounded=True)
    return np.concatenate([sums, out], axis=1)


def place(x: np.ndarray) -> np.ndarray:
    """Queries, keys and values of 15 heads, the cache read back by place."""
    count, qkv = len(x), np.ascontiguousarray(x[:, : 15 * 64])
    query, (keys, values) = np.empty((count, 9, 64), np.float32), np.zeros((2, count, 1, 3, 64), np.float32)
    places = np.arange(count, dtype=np.int32)[::-1].copy()
    # A row's own content decides its position, so that it keeps it when it is alone.
    positions = (np.abs(x[:, 0]) * 10).astype(np.int32)
    kernels.place_qkv(qkv, places, positions, ROTARY, query, keys, values, norms=HEAD_NORMS, eps=1e-5, rounded=True)
    return np.concatenate([query, keys[places, 0], values[places, 0]], axis=1).reshape(count, -1)


def silu(x: np.ndarray) -> np.ndarray:
    out = np.empty((len(x), x.shape[1] // 2), np.float32)
    kernels.silu_multiply(x, out)
    return out


def logs(x: np.ndarray) -> np.ndarray:
    out = np.empty_like(x)
    kernels.log_softmax(x, out)
    return out


def shares(x: np.ndarray) -> np.ndarray:
    out = np.empty_like(x)
    kernels.softmax(x, out)
    return out


def assert_same_bits(seen: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_array_equal(seen.view(np.int32), expected.view(np.int32))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("key", LINEARS, ids=str)
def test_a_lone_row_of_linear_equals_the_same_row_in_company(key: tuple[int, int, str], size: int) -> None:
    weight = LINEARS[key]
    x = np.random.default_rng(size).normal(size=(size, weight.inputs)).astype(np.float32)
    alone = np.concatenate([multiply(x[i : i + 1], weight) for i in range(size)])
    assert_same_bits(multiply(x, weight), alone)


@pytest.mark.parametrize("size", [2, 6, 7, 13, 33, 129])
def test_neighbours_of_other_content_change_no_row_of_linear(size: int) -> None:
    weight = LINEARS[96, 576, "bf16"]
    row = RNG.normal(size=(1, weight.inputs)).astype(np.float32)
    alone = multiply(row, weight)
    for place in range(size):
        company = RNG.normal(size=(size, weight.inputs)).astype(np.float32) * 1e20
        company[place] = row
        assert_same_bits(multiply(company, weight)[place : place + 1], alone)


@pytest.mark.parametrize("size", [2, 17, 33, 129])
@pytest.mark.parametrize("kernel", [norm, add_norm, place, silu, logs, shares])
def test_a_lone_row_equals_the_same_row_in_company(kernel: Callable[[np.ndarray], np.ndarray], size: int) -> None:
    x = np.random.default_rng(size).normal(size=(size, 1102)).astype(np.float32) * 5
    alone = np.concatenate([kernel(x[i : i + 1]) for i in range(size)])
    assert_same_bits(kernel(x), alone)


@dataclass(frozen=True)
class Sequence:
    """A prompt's queries, keys and values by position."""

    query: np.ndarray
    keys: np.ndarray
    values: np.ndarray

    @classmethod
    def random(cls, length: int, seed: int) -> Sequence:
        rng = np.random.default_rng(seed)
        shapes = [(length, 9, 64), (length, 3, 64), (length, 3, 64)]
        return cls(*(rng.normal(size=shape).astype(np.float32) for shape in shapes))

    def __len__(self) -> int:
        return len(self.query)


@dataclass(frozen=True)
class Cache:
    """Sequences laid out in pages of a random order among pages of NaN."""

    keys: np.ndarray
    values: np.ndarray
    tables: np.ndarray

    @classmethod
    def of(cls, sequences: list[Sequence], page_size: int, seed: int) -> Cache:
        wide = max(-(-len(sequence) // page_size) for sequence in sequences)
        pages = 2 * wide * len(sequences)
        order = np.random.default_rng(seed).permutation(pages)
        keys = np.full((pages, page_size, 3, 64), np.nan, np.float32)
        values = keys.copy()
        tables = np.full((len(sequences), wide), -1, np.int32)
        for number, sequence in enumerate(sequences):
            used = order[number * wide : number * wide + -(-len(sequence) // page_size)]
            tables[number, : len(used)] = used
            for position in range(len(sequence)):
                place = used[position // page_size], position % page_size
                keys[place], values[place] = sequence.keys[position], sequence.values[position]
        return cls(keys, values, tables)

    def attend(self, query: np.ndarray, rows: np.ndarray, positions: np.ndarray) -> np.ndarray:
        out = np.empty_like(query)
        rows, positions = rows.astype(np.int32), positions.astype(np.int32)
        kernels.attention(query, self.keys, self.values, self.tables, rows, positions, out)
        return out


def prefill(sequence: Sequence, cuts: list[int], page_size: int = 16, seed: int = 0) -> np.ndarray:
    """All positions, in chunks that end at the cuts."""
    cache = Cache.of([sequence], page_size, seed)
    parts = np.split(np.arange(len(sequence)), cuts)
    return np.concatenate([cache.attend(sequence.query[p], np.zeros(len(p)), p) for p in parts])


LONG = Sequence.random(300, seed=1)
WHOLE = prefill(LONG, [])


def test_attention_token_by_token_equals_prefill() -> None:
    assert_same_bits(prefill(LONG, list(range(1, 300))), WHOLE)


@settings(max_examples=20, deadline=None)
@given(
    cuts=st.lists(st.integers(0, 300), max_size=6).map(sorted),
    page_size=st.sampled_from([1, 3, 16, 17, 64, 512]),
    seed=st.integers(0, 99),
)
def test_chunks_page_sizes_and_page_numbers_change_no_bit_of_attention(
    cuts: list[int], page_size: int, seed: int
) -> None:
    assert_same_bits(prefill(LONG, cuts, page_size, seed), WHOLE)


@pytest.mark.parametrize("size", [2, 3, 9, 32, 33])
def test_a_decoding_row_of_attention_equals_the_same_row_in_company(size: int) -> None:
    sequences = [LONG] + [Sequence.random(1 + 13 * i, seed=i) for i in range(1, size)]
    cache = Cache.of(sequences, 16, seed=3)
    for place in (0, size // 2, size - 1):
        order = np.roll(np.arange(size), place)
        query = np.stack([sequences[i].query[-1] for i in order])
        positions = np.array([len(sequences[i]) - 1 for i in order])
        seen = cache.attend(query, order, positions)
        assert_same_bits(seen[place], WHOLE[-1])


def test_planted_dependence_on_the_batch_is_seen() -> None:
    weight = RNG.normal(size=(96, 576)).astype(np.float32)
    x = RNG.normal(size=(7, 576)).astype(np.float32)
    backwards = np.ascontiguousarray(x[:, ::-1]), kernels.pack(np.ascontiguousarray(weight[:, ::-1]), dtype="fp32")
    with pytest.raises(AssertionError):
        assert_same_bits(multiply(*backwards), multiply(x, kernels.pack(weight, dtype="fp32")))
