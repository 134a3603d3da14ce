"""Small random models, and the same computed plainly in float64, one whole sequence at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from tokenizers.pre_tokenizers import ByteLevel

from temp0.engine.arithmetic import Arithmetic, arithmetic
from temp0.engine.checkpoint import BytePairs, Checkpoint, Settings, Vocabulary

Doubles = NDArray[np.float64]

SETTINGS = Settings(
    dim=32,
    layers=2,
    heads=4,
    kv_heads=2,
    head_dim=8,
    ffn=48,
    vocab=300,
    context=160,
    rope_theta=10000.0,
    norm_eps=1e-5,
    tied=False,
)
QWEN2 = replace(SETTINGS, qkv_bias=True)
# A head here is larger than dim / heads, as Qwen3's are.
QWEN3 = replace(SETTINGS, head_dim=12, qk_norm=True)


def tiny_checkpoint(size: Settings = SETTINGS, *, eos_ids: frozenset[int] = frozenset(), seed: int = 7) -> Checkpoint:
    """A model with grouped heads; weights are bf16 numbers, spread so that activations stay near 1."""
    noise = np.random.default_rng(seed)

    def weights(outputs: int, inputs: int) -> NDArray[np.float32]:
        return _bf16(noise.standard_normal((outputs, inputs), np.float32) * inputs**-0.5 * 1.5)

    def norm(width: int = size.dim) -> NDArray[np.float32]:
        return _bf16(noise.uniform(0.5, 1.5, width).astype(np.float32))

    shapes = {
        "q": (size.heads * size.head_dim, size.dim),
        "k": (size.kv_heads * size.head_dim, size.dim),
        "v": (size.kv_heads * size.head_dim, size.dim),
        "o": (size.dim, size.heads * size.head_dim),
        "gate": (size.ffn, size.dim),
        "up": (size.ffn, size.dim),
        "down": (size.dim, size.ffn),
    }
    tensors = {"embed": weights(size.vocab, size.dim), "head": weights(size.vocab, size.dim), "norm": norm()}
    for layer in range(size.layers):
        tensors |= {f"layers.{layer}.{name}": weights(*shape) for name, shape in shapes.items()}
        tensors |= {f"layers.{layer}.{name}": norm() for name in ("attention_norm", "feed_norm")}
        if size.qkv_bias:
            tensors |= {f"layers.{layer}.{name}_bias": weights(1, shapes[name][0])[0] * 4 for name in "qkv"}
        if size.qk_norm:
            tensors |= {f"layers.{layer}.{name}_norm": norm(size.head_dim) for name in "qk"}
    letters = sorted(ByteLevel.alphabet())
    return Checkpoint(
        name="tiny",
        settings=size,
        tensors=tensors,
        vocabulary=Vocabulary(
            tokens=tuple(letters + [f"<{index}>" for index in range(len(letters), size.vocab)]),
            rules=BytePairs(merges=(), pre="gpt-2", add_bos=False),
            control=frozenset(),
            user_defined=frozenset(),
            bos_id=None,
            eos_ids=eos_ids,
        ),
        chat_template="{{ messages[0].content }}",
    )


def stock(*, activations: str = "fp32") -> Arithmetic:
    """One thread, because BLAS threads that wait for each other crawl on a busy machine."""
    return arithmetic("stock", activations=activations, threads=1)


def reference_logits(checkpoint: Checkpoint, tokens: Sequence[int]) -> Doubles:
    """Logits [T, vocab] of one sequence: no rounding, no cache, no batch."""
    size = checkpoint.settings
    tensors = {name: tensor.astype(np.float64) for name, tensor in checkpoint.tensors.items()}
    hidden = tensors["embed"][list(tokens)]
    for layer in range(size.layers):
        prefix = f"layers.{layer}."
        weight = {name.removeprefix(prefix): tensors[name] for name in tensors if name.startswith(prefix)}
        normed = _rms_norm(hidden, weight["attention_norm"], size.norm_eps)
        hidden = hidden + _attention(normed, weight, size) @ weight["o"].T
        normed = _rms_norm(hidden, weight["feed_norm"], size.norm_eps)
        gate = normed @ weight["gate"].T
        hidden = hidden + (gate / (1 + np.exp(-gate)) * (normed @ weight["up"].T)) @ weight["down"].T
    return _rms_norm(hidden, tensors["norm"], size.norm_eps) @ tensors["head"].T


def reference_greedy(checkpoint: Checkpoint, tokens: Sequence[int], count: int) -> list[int]:
    """The greedy continuation, every token from a fresh pass over everything before it."""
    text = list(tokens)
    for _ in range(count):
        text.append(int(reference_logits(checkpoint, text)[-1].argmax()))
    return text[len(tokens) :]


def _rms_norm(rows: Doubles, weight: Doubles, eps: float) -> Doubles:
    return rows / np.sqrt((rows**2).mean(axis=-1, keepdims=True) + eps) * weight


def _attention(normed: Doubles, weight: dict[str, Doubles], size: Settings) -> Doubles:
    count = len(normed)
    query, key, value = (
        (normed @ weight[name].T + weight.get(f"{name}_bias", 0)).reshape(count, -1, size.head_dim) for name in "qkv"
    )
    if size.qk_norm:
        query, key = (
            _rms_norm(heads, weight[name], size.norm_eps) for heads, name in ((query, "q_norm"), (key, "k_norm"))
        )
    query, key = (_rotated(heads, size.rope_theta) for heads in (query, key))
    group = size.heads // size.kv_heads
    key, value = (np.repeat(shared, group, axis=1) for shared in (key, value))
    scores = np.einsum("qhd,khd->hqk", query, key) / np.sqrt(size.head_dim)
    scores[:, np.triu(np.ones((count, count), dtype=bool), 1)] = -np.inf
    shares = np.exp(scores - scores.max(axis=2, keepdims=True))
    shares /= shares.sum(axis=2, keepdims=True)
    return np.einsum("hqk,khd->qhd", shares, value).reshape(count, -1)


def _rotated(heads: Doubles, theta: float) -> Doubles:
    """Half-split rotary embedding as complex multiplication: element i turns with element i + head_dim / 2."""
    count, _, head_dim = heads.shape
    half = head_dim // 2
    angles = np.outer(np.arange(count), theta ** (-np.arange(half) / half))
    turned = (heads[..., :half] + 1j * heads[..., half:]) * np.exp(1j * angles)[:, None]
    return np.concatenate([turned.real, turned.imag], axis=2)


def _bf16(numbers: NDArray[np.float32]) -> NDArray[np.float32]:
    """Cut to bf16; how it is rounded does not matter for random weights."""
    return (numbers.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
