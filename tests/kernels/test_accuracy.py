"""Correct within the error that each docstring states, against float64."""

from __future__ import annotations

import numpy as np
import pytest

from temp0 import kernels


def normal(*shape: int, seed: int = 0, scale: float = 1.0) -> np.ndarray:
    return (np.random.default_rng(seed).normal(size=shape) * scale).astype(np.float32)


def ulps(seen: np.ndarray, exact: np.ndarray) -> float:
    """The largest error in units of the last place of the exact result."""
    unit = np.spacing(np.abs(exact).astype(np.float32)).astype(np.float64)
    return float(np.max(np.abs(seen.astype(np.float64) - exact) / unit))


def multiply(x: np.ndarray, weight: np.ndarray, dtype: str) -> np.ndarray:
    out = np.empty((len(x), len(weight)), np.float32)
    kernels.linear(x, kernels.pack(weight, dtype=dtype), out)
    return out


@pytest.mark.parametrize("inputs", [64, 256, 576, 1536, 4096, 16384])
def test_linear_is_within_its_stated_error(inputs: int) -> None:
    x, weight = normal(8, inputs), normal(48, inputs, seed=1)
    exact = x.astype(np.float64) @ weight.T.astype(np.float64)
    size = np.linalg.norm(x.astype(np.float64), axis=1)[:, None] * np.linalg.norm(weight.astype(np.float64), axis=1)
    relative = np.abs(multiply(x, weight, "fp32") - exact) / size
    assert np.sqrt(np.mean(relative**2)) < 1.3e-8
    assert relative.max() < 8e-8


def test_bf16_weights_are_rounded_to_nearest_even() -> None:
    x, weight = normal(3, 300), normal(20, 300, seed=1)
    rounded = weight.copy()
    kernels.round_bf16(rounded)
    assert np.array_equal(multiply(x, weight, "bf16"), multiply(x, rounded, "fp32"))
    assert not np.array_equal(rounded, weight)


def test_round_bf16_equals_rounding_the_bits_to_nearest_even() -> None:
    x = np.random.default_rng(0).integers(0, 2**32, 100_003, dtype=np.uint64).astype(np.uint32).view(np.float32)
    x = np.concatenate([x, np.float32([1 + 2**-8, 1 + 3 * 2**-8, -0.0, 3.4e38, np.inf, -np.inf, 1e-40, np.nan])])
    bits = x.view(np.uint32).astype(np.uint64)
    expected = ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)
    is_nan = np.isnan(x)
    kernels.round_bf16(x)
    assert np.isnan(x[is_nan]).all()
    np.testing.assert_array_equal(x[~is_nan].view(np.uint32), expected[~is_nan].view(np.uint32))


@pytest.mark.parametrize("columns", [1, 64, 576, 4096, 16384])
def test_rms_norm_is_within_its_stated_error(columns: int) -> None:
    x, weight = normal(20, columns, scale=3.0), normal(columns, seed=1)
    out = np.empty_like(x)
    kernels.rms_norm(x, weight, 1e-5, out)
    wide = x.astype(np.float64)
    scale = 1 / np.sqrt(np.mean(wide**2, axis=1, keepdims=True) + float(np.float32(1e-5)))
    assert ulps(out, wide * scale * weight) < (4 if columns <= 4096 else 6)


def test_silu_multiply_is_within_its_stated_error() -> None:
    gate_up = np.concatenate([np.linspace(-80, 80, 200_000, dtype=np.float32)[None], normal(1, 200_000)], axis=1)
    out = np.empty((1, 200_000), np.float32)
    kernels.silu_multiply(gate_up, out)
    gate, up = np.split(gate_up.astype(np.float64), 2, axis=1)
    exact = gate / (1 + np.exp(-gate)) * up
    is_normal = np.abs(exact) > 1e-37
    assert ulps(out[is_normal], exact[is_normal]) < 3


def test_silu_multiply_goes_to_its_limits() -> None:
    gate_up = np.float32([[np.inf, 1e4, -1e4, -200.0, -0.0, np.nan, -np.inf] + [2.0] * 7])
    out = np.empty((1, 7), np.float32)
    kernels.silu_multiply(gate_up, out)
    np.testing.assert_array_equal(out[0], np.float32([np.inf, 2e4, 0.0, 0.0, 0.0, np.nan, np.nan]))


@pytest.mark.parametrize(("head_dim", "theta"), [(64, 1e4), (64, 1e5), (128, 1e6), (2, 5e5)])
def test_rotary_tables_are_within_their_stated_error(head_dim: int, theta: float) -> None:
    cosines, sines = kernels.rotary_tables(3000, head_dim, theta)
    frequencies = np.longdouble(theta) ** (-2 * np.arange(head_dim // 2, dtype=np.longdouble) / head_dim)
    angles = np.arange(3000, dtype=np.longdouble)[:, None] * frequencies
    assert np.abs(cosines - np.cos(angles)).max() < 2.99e-8
    assert np.abs(sines - np.sin(angles)).max() < 2.99e-8


def test_rotate_turns_pairs_of_the_two_halves() -> None:
    x, positions = normal(5, 2, 64), np.array([0, 3, 99, 1, 50], np.int32)
    before = x.astype(np.float64)
    cosines, sines = kernels.rotary_tables(100, 64, 1e4)
    kernels.rotate(x, positions, cosines, sines)
    turned = (before[..., :32] + 1j * before[..., 32:]) * (cosines + 1j * sines)[positions][:, None, :]
    np.testing.assert_allclose(x, np.concatenate([turned.real, turned.imag], axis=2), atol=5e-7)


def softmax_attention(query: np.ndarray, keys: np.ndarray, values: np.ndarray) -> np.ndarray:
    group = query.shape[0] // keys.shape[1]
    wide = np.repeat(keys.astype(np.float64), group, axis=1), np.repeat(values.astype(np.float64), group, axis=1)
    scores = np.einsum("hd,thd->ht", query.astype(np.float64), wide[0]) / np.sqrt(query.shape[1])
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.einsum("ht,thd->hd", weights / weights.sum(axis=1, keepdims=True), wide[1])


@pytest.mark.parametrize("length", [1, 2, 130, 1000, 4096])
@pytest.mark.parametrize(("heads", "kv_heads", "head_dim"), [(9, 3, 64), (4, 4, 80), (7, 1, 24)])
def test_attention_is_within_its_stated_error(length: int, heads: int, kv_heads: int, head_dim: int) -> None:
    query = normal(1, heads, head_dim, scale=2.0)
    keys, values = normal(1, length, kv_heads, head_dim, seed=1), normal(1, length, kv_heads, head_dim, seed=2)
    out, zero = np.empty_like(query), np.zeros(1, np.int32)
    kernels.attention(query, keys, values, zero[None], zero, zero + length - 1, out)
    exact = softmax_attention(query[0], keys[0], values[0])
    assert np.abs(out[0] - exact).max() < 1e-6 * np.abs(values).max()


@pytest.mark.parametrize("columns", [1, 100, 49152])
def test_log_softmax_is_within_its_stated_error(columns: int) -> None:
    logits = normal(4, columns, scale=6.0)
    out = np.empty_like(logits)
    kernels.log_softmax(logits, out)
    wide = logits.astype(np.float64)
    below = wide - wide.max(axis=1, keepdims=True)
    logarithm = np.log(np.exp(below).sum(axis=1, keepdims=True))
    exact = below - logarithm
    assert (np.abs(out - exact) - np.spacing(np.abs(exact).astype(np.float32))).max() < 2e-7


@pytest.mark.parametrize("columns", [1, 100, 49152])
def test_softmax_is_within_its_stated_error(columns: int) -> None:
    logits = normal(4, columns, scale=6.0)
    out = np.empty_like(logits)
    kernels.softmax(logits, out)
    below = logits.astype(np.float64) - logits.max(axis=1, keepdims=True)
    exact = np.exp(below) / np.exp(below).sum(axis=1, keepdims=True)
    assert (np.abs(out / exact - 1) / (5 - below)).max() < 6e-8


def test_softmax_goes_to_its_limits() -> None:
    logits = np.float32([[0, -np.inf, 0, -200], [np.nan, 0, 0, 0], [np.inf, 0, 0, 0]])
    kernels.softmax(logits, logits)
    np.testing.assert_array_equal(logits[0], np.float32([0.5, 0, 0.5, 0]))
    assert np.isnan(logits[1:]).all()


def test_argmax_takes_the_first_of_equals() -> None:
    logits = np.zeros((70, 67), np.float32)
    for row in range(67):
        logits[row, row:] = 5.0
    logits[67, [3, 9]] = -0.0, 0.0
    logits[68] = -np.inf
    logits[69, [40, 66]] = np.inf
    expected = [*range(67), 0, 0, 40]
    assert kernels.argmax(logits).tolist() == expected == np.argmax(logits, axis=1).tolist()


def test_argmax_takes_the_first_nan_as_numpy_does() -> None:
    logits = normal(3, 50)
    logits[0, [7, 30]] = np.nan
    logits[2, 49] = np.nan
    assert kernels.argmax(logits).tolist() == np.argmax(logits, axis=1).tolist()


def test_nan_and_infinity_spoil_only_their_own_row() -> None:
    x, weight = normal(7, 576), normal(40, 576, seed=1)
    clean = multiply(x, weight, "bf16")
    x[2, 100], x[5, 0] = np.nan, np.inf
    seen = multiply(x, weight, "bf16")
    assert np.isnan(seen[2]).all()
    assert np.isinf(seen[5]).all()
    untouched = [0, 1, 3, 4, 6]
    assert np.array_equal(seen[untouched], clean[untouched])


def test_a_nan_key_spoils_only_its_own_kv_head() -> None:
    query, keys, values = normal(1, 6, 64), normal(1, 40, 2, 64, seed=1), normal(1, 40, 2, 64, seed=2)
    keys[0, 20, 1, 5] = np.nan
    out, zero = np.empty_like(query), np.zeros(1, np.int32)
    kernels.attention(query, keys, values, zero[None], zero, zero + 39, out)
    assert np.isfinite(out[0, :3]).all()
    assert np.isnan(out[0, 3:]).all()
