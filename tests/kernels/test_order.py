"""Every kernel gives, bit for bit, what its documented order gives: no contraction, no reassociation."""

from __future__ import annotations

import kernel_reference as reference
import numpy as np
import pytest

from temp0 import kernels


def normal(*shape: int, seed: int = 0, scale: float = 1.0) -> reference.Floats:
    return (np.random.default_rng(seed).normal(size=shape) * scale).astype(np.float32)


KEPT = {"as it is": lambda x: x, "rounded": reference.bf16}


def assert_same_bits(seen: reference.Floats, expected: reference.Floats) -> None:
    assert seen.dtype == expected.dtype == np.float32
    np.testing.assert_array_equal(seen.view(np.int32), expected.view(np.int32))


def test_the_replayed_multiply_add_rounds_once() -> None:
    a = np.float32(1 + 2**-12)
    once = reference.fused(a, a, np.float32(-1))
    assert once == np.float32(2**-11 + 2**-24)
    assert once != a * a - np.float32(1)


@pytest.mark.parametrize("columns", [1, 16, 63, 576, 1000])
def test_rms_norm_follows_its_order(columns: int) -> None:
    x, weight = normal(5, columns), normal(columns, seed=1)
    out = np.empty_like(x)
    kernels.rms_norm(x, weight, 1e-5, out)
    assert_same_bits(out, reference.rms_norm(x, weight, 1e-5))


@pytest.mark.parametrize("columns", [1, 16, 47, 1536])
def test_silu_multiply_follows_its_order(columns: int) -> None:
    gate_up = normal(4, 2 * columns, scale=8.0)
    out = np.empty((4, columns), np.float32)
    kernels.silu_multiply(gate_up, out)
    assert_same_bits(out, reference.silu_multiply(gate_up))


@pytest.mark.parametrize("head_dim", [2, 32, 64, 80])
def test_rotate_follows_its_order(head_dim: int) -> None:
    x, positions = normal(6, 3, head_dim), np.array([0, 1, 7, 99, 5, 31], np.int32)
    cosines, sines = kernels.rotary_tables(100, head_dim, 1e5)
    expected = reference.rotate(x, cosines[positions], sines[positions])
    kernels.rotate(x, positions, cosines, sines)
    assert_same_bits(x, expected)


@pytest.mark.parametrize("columns", [1, 16, 63, 576])
@pytest.mark.parametrize("kept", KEPT)
def test_add_rms_norm_follows_its_order(columns: int, kept: str) -> None:
    x, added, weight = normal(5, columns), normal(5, columns, seed=1), normal(columns, seed=2)
    sums = KEPT[kept](x + added)
    out = np.empty_like(x)
    kernels.add_rms_norm(x, added, weight, 1e-5, out, rounded=kept == "rounded")
    assert_same_bits(x, sums)
    assert_same_bits(out, KEPT[kept](reference.rms_norm(sums, weight, 1e-5)))


@pytest.mark.parametrize("head_dim", [2, 40, 64, 128])
@pytest.mark.parametrize("normed", [False, True], ids=["plain", "normed"])
@pytest.mark.parametrize("kept", KEPT)
def test_place_qkv_follows_its_order(head_dim: int, normed: bool, kept: str) -> None:
    keep, heads, kv_heads = KEPT[kept], 6, 2
    qkv, places, positions = (
        normal(4, 10 * head_dim),
        np.array([7, 0, 19, 3], np.int32),
        np.array([9, 0, 63, 5], np.int32),
    )
    rotary = kernels.rotary_tables(64, head_dim, 1e5)
    norms = (normal(head_dim, seed=1), normal(head_dim, seed=2)) if normed else None
    query, (keys, values) = (
        np.empty((4, heads, head_dim), np.float32),
        np.full((2, 5, 4, kv_heads, head_dim), 7.0, np.float32),
    )
    kernels.place_qkv(
        qkv, places, positions, rotary, query, keys, values, norms=norms, eps=1e-6, rounded=kept == "rounded"
    )

    def turned(rows: reference.Floats, norm: reference.Floats | None) -> reference.Floats:
        if norm is not None:
            rows = keep(reference.rms_norm(rows.reshape(-1, head_dim), norm, 1e-6)).reshape(rows.shape)
        return keep(reference.rotate(rows, *(table[positions] for table in rotary)))

    parts = np.split(qkv.reshape(4, -1, head_dim), [heads, heads + kv_heads], axis=1)
    expected = np.full((2, 20, kv_heads, head_dim), 7.0, np.float32)
    expected[:, places] = turned(parts[1], norms and norms[1]), parts[2]
    assert_same_bits(query, turned(parts[0], norms and norms[0]))
    assert_same_bits(np.stack([keys, values]), expected.reshape(2, 5, 4, kv_heads, head_dim))


@pytest.mark.parametrize("columns", [1, 16, 47, 1000])
@pytest.mark.parametrize("name", ["rms_norm", "silu_multiply"])
def test_what_is_rounded_has_the_bits_of_rounding_afterwards(name: str, columns: int) -> None:
    x = normal(6, columns if name == "rms_norm" else 2 * columns, scale=4.0)
    x[0, 0], x[-1, -1] = np.nan, np.inf
    arguments = (x, normal(columns, seed=1), 1e-5) if name == "rms_norm" else (x,)
    afterwards, at_once = np.empty((2, 6, columns), np.float32)
    getattr(kernels, name)(*arguments, afterwards)
    getattr(kernels, name)(*arguments, at_once, rounded=True)
    assert (afterwards.view(np.uint32) & 0xFFFF).any()
    kernels.round_bf16(afterwards)
    assert_same_bits(at_once, afterwards)


@pytest.mark.parametrize("head_dim", [20, 32, 64, 96])
def test_attention_that_is_rounded_has_the_bits_of_rounding_afterwards(head_dim: int) -> None:
    query = normal(3, 4, head_dim)
    keys, values = normal(2, 20, 2, head_dim, seed=1), normal(2, 20, 2, head_dim, seed=2)
    afterwards, at_once = np.empty((2, *query.shape), np.float32)
    arrays = (np.array([[1, 0]], np.int32), np.zeros(3, np.int32), np.array([0, 17, 39], np.int32))
    kernels.attention(query, keys, values, *arrays, afterwards)
    kernels.attention(query, keys, values, *arrays, at_once, rounded=True)
    kernels.round_bf16(afterwards)
    assert_same_bits(at_once, afterwards)


@pytest.mark.parametrize("head_dim", [20, 64, 96])
@pytest.mark.parametrize("heads", [3, 6, 12, 15])
def test_attention_follows_its_order(heads: int, head_dim: int) -> None:
    lengths = np.array([1, 16, 100, 128, 129, 300], np.int32)
    query = normal(len(lengths), heads, head_dim, scale=3.0)
    keys, values = normal(1, 300, 3, head_dim, seed=1), normal(1, 300, 3, head_dim, seed=2)
    out = np.empty_like(query)
    rows, tables = np.zeros(len(lengths), np.int32), np.zeros((1, 1), np.int32)
    kernels.attention(query, keys, values, tables, rows, lengths - 1, out)
    for row, length in enumerate(lengths):
        expected = reference.attention_of_row(query[row], keys[0, :length], values[0, :length])
        assert_same_bits(out[row], expected)


@pytest.mark.parametrize("head_dim", [24, 40, 64, 80, 128])
@pytest.mark.parametrize("heads", [3, 12])
def test_attention_of_rows_side_by_side_follows_its_order(heads: int, head_dim: int) -> None:
    """Neighbours in a prompt, 16 and a rest, then rows that reach anywhere; nothing beyond a row's own keys counts."""
    lengths = np.concatenate([np.arange(118, 138), [250, 1, 260, 128, 129, 17, 250, 3, 200]]).astype(np.int32)
    query = normal(len(lengths), heads, head_dim, scale=3.0)
    keys, values = normal(53, 5, 3, head_dim, seed=1), normal(53, 5, 3, head_dim, seed=2)
    tables = np.random.default_rng(3).permutation(53).astype(np.int32)[None]
    in_order = [cache[tables[0]].reshape(265, 3, head_dim) for cache in (keys, values)]
    for cache, beyond in ((keys, np.nan), (values, np.inf)):
        cache[tables[0, 51], 1:] = beyond  # positions 256 and on, which one row alone has
    out = np.empty_like(query)
    kernels.attention(query, keys, values, tables, np.zeros(len(lengths), np.int32), lengths - 1, out)
    for row, length in enumerate(lengths):
        if length <= 256:
            expected = reference.attention_of_row(query[row], *(cache[:length] for cache in in_order))
            assert_same_bits(out[row], expected)
        else:
            assert np.isnan(out[row]).all()


@pytest.mark.parametrize("columns", [1, 40, 1024, 5000])
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax_follows_its_order(name: str, columns: int) -> None:
    logits = normal(3, columns, scale=5.0)
    out = np.empty_like(logits)
    getattr(kernels, name)(logits, out)
    assert_same_bits(out, getattr(reference, name)(logits))


@pytest.mark.parametrize("dtype", ["bf16", "fp32"])
@pytest.mark.parametrize(("outputs", "inputs"), [(1, 1), (16, 2), (33, 255), (70, 256), (17, 577), (64, 1000)])
def test_linear_follows_its_order(outputs: int, inputs: int, dtype: str) -> None:
    x, weight = normal(7, inputs), normal(outputs, inputs, seed=1)
    kernels.round_bf16(weight)
    packed = kernels.pack(weight, dtype=dtype)
    for _ in range(2):
        out = np.empty((7, outputs), np.float32)
        kernels.linear(x, packed, out)
        assert_same_bits(out, reference.linear(x, weight))
        kernels.linear(x, packed, rounded := np.empty_like(out), rounded=True)
        kernels.round_bf16(out)
        assert_same_bits(rounded, out)
        kernels.round_bf16(x)  # rows of bf16 may be multiplied elsewhere in the processor
