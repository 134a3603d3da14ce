"""The documented orders of the kernels, replayed in numpy one rounding at a time.

Written from the docstrings alone; a fused multiply-add is exact arithmetic in double with rounding to odd.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

LANES = 16


def fused(a: Floats, b: Floats, c: Floats) -> Floats:
    """a * b + c rounded once: the product is exact in double, the sum is rounded to odd, then to float32."""
    product = np.multiply(a, b, dtype=np.float64)
    addend = np.asarray(c, np.float64)
    total = product + addend
    part = total - product
    lost = (product - (total - part)) + (addend - part)
    is_even = (total.view(np.int64) & 1) == 0
    toward = np.where((lost > 0) == (total > 0), 1, -1)
    odd = np.where((lost != 0) & is_even, total.view(np.int64) + toward, total.view(np.int64))
    return odd.view(np.float64).astype(np.float32)


def halving_tree(lanes: Floats) -> Floats:
    """Lane i + lane i+8, then i+4, i+2, i+1, over the last axis."""
    while lanes.shape[-1] > 1:
        half = lanes.shape[-1] // 2
        lanes = lanes[..., :half] + lanes[..., half:]
    return lanes[..., 0]


def in_lanes(values: Floats, fill: float) -> Floats:
    """The last axis cut into rows of 16, the last row filled up."""
    missing = -values.shape[-1] % LANES
    padded = np.concatenate([values, np.full((*values.shape[:-1], missing), fill, np.float32)], axis=-1)
    return padded.reshape(*values.shape[:-1], -1, LANES)


def lane_products(a: Floats, b: Floats) -> Floats:
    """The 16 chains of fused multiply-adds of a dot product."""
    first, second = in_lanes(a, 0.0), in_lanes(b, 0.0)
    sums = np.zeros((*np.broadcast_shapes(first.shape, second.shape)[:-2], LANES), np.float32)
    for step in range(first.shape[-2]):
        sums = fused(first[..., step, :], second[..., step, :], sums)
    return sums


def exponential(x: Floats) -> Floats:
    """e^x by n ln2 + r and the Taylor polynomial of degree 7."""
    x = np.clip(x, np.float32(-104), np.float32(89)).astype(np.float32)
    shift = np.float32(12582912)
    shifted = fused(x, np.float32(1.44269504088896341), shift)
    n = shifted - shift
    r = fused(n, np.float32(-0.693147182464599609375), x)
    r = fused(n, np.float32(1.904654299957767878541e-9), r)
    total = np.full_like(x, 1 / 5040)
    for divisor in (720, 120, 24, 6, 2, 1, 1):
        total = fused(total, r, np.float32(1) / np.float32(divisor))
    return np.ldexp(total, n.astype(np.int32))


def rms_norm(x: Floats, weight: Floats, eps: float) -> Floats:
    squares = halving_tree(lane_products(x, x))
    scale = np.float32(1) / np.sqrt(squares / np.float32(x.shape[1]) + np.float32(eps))
    return (x * scale[:, None]) * weight


def bf16(x: Floats) -> Floats:
    """Finite numbers to the nearest bf16, ties to even."""
    bits = x.view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)


def silu_multiply(gate_up: Floats) -> Floats:
    gate, up = np.split(gate_up, 2, axis=1)
    return (gate / (np.float32(1) + exponential(-gate))) * up


def rotate(x: Floats, cosines: Floats, sines: Floats) -> Floats:
    """cosines and sines [M,Dh/2] of each row's position."""
    first, second = np.split(x, 2, axis=2)
    cosine, sine = cosines[:, None, :], sines[:, None, :]
    return np.concatenate([fused(first, cosine, -(second * sine)), fused(second, cosine, first * sine)], axis=2)


def attention_of_row(query: Floats, keys: Floats, values: Floats) -> Floats:
    """query[Hq,Dh] over keys and values [T,Hkv,Dh]."""
    group = query.shape[0] // keys.shape[1]
    return np.stack(
        [_attention_of_head(head, keys[:, i // group], values[:, i // group]) for i, head in enumerate(query)]
    )


def _attention_of_head(query: Floats, keys: Floats, values: Floats) -> Floats:
    scale = np.float32(1 / np.sqrt(np.float64(len(query))))
    scores = halving_tree(lane_products(query[None, :], keys)) * scale
    weights = exponential(scores - scores.max())
    lane_total, mixed = np.zeros(LANES, np.float32), np.zeros(len(query), np.float32)
    for start in range(0, len(keys), 128):
        block = weights[start : start + 128]
        lane_sum, chain = np.zeros(LANES, np.float32), np.zeros(len(query), np.float32)
        for row in in_lanes(block, 0.0):
            lane_sum = lane_sum + row
        for weight, value in zip(block, values[start : start + 128], strict=True):
            chain = fused(weight, value, chain)
        lane_total, mixed = lane_total + lane_sum, mixed + chain
    return mixed / halving_tree(lane_total)


def sum_of_exponentials(below: Floats) -> NDArray[np.float64]:
    total = np.zeros(len(below), np.float64)
    for start in range(0, below.shape[1], 1024):
        block = in_lanes(exponential(below[:, start : start + 1024]), 0.0)
        lanes = np.zeros((len(below), LANES), np.float32)
        for step in range(block.shape[1]):
            lanes = lanes + block[:, step]
        total += halving_tree(lanes)
    return total


def softmax(logits: Floats) -> Floats:
    below = logits - logits.max(axis=1, keepdims=True)
    return exponential(below) / sum_of_exponentials(below).astype(np.float32)[:, None]


def log_softmax(logits: Floats) -> Floats:
    below = logits - logits.max(axis=1, keepdims=True)
    return below - np.log(sum_of_exponentials(below)).astype(np.float32)[:, None]


def linear(x: Floats, weight: Floats) -> Floats:
    """x[M,K] times weight[N,K] transposed: in groups of 32 inputs a chain of the even and one of the odd."""
    total = np.zeros((len(x), len(weight)), np.float32)
    for start in range(0, x.shape[1], 32):
        chains = [np.zeros_like(total), np.zeros_like(total)]
        for i in range(start, min(start + 32, x.shape[1])):
            chains[i % 2] = fused(x[:, i, None], weight[None, :, i], chains[i % 2])
        total = total + (chains[0] + chains[1])
    return total
