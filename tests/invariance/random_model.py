"""Random llama models small enough to be exhausted, as values.

Weights are bf16 numbers, and activations stay near 1. `ODD` leaves a remainder in every tile of every kernel,
and has biases and norms that `EVEN` has not.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from tokenizers.pre_tokenizers import ByteLevel

from temp0 import kernels
from temp0.engine.checkpoint import Array, BytePairs, Checkpoint, Settings, Vocabulary

EVEN = Settings(
    dim=64,
    layers=2,
    heads=4,
    kv_heads=2,
    head_dim=16,
    ffn=96,
    vocab=272,
    context=512,
    rope_theta=10000.0,
    norm_eps=1e-5,
    tied=False,
)
ODD = replace(EVEN, dim=72, layers=3, heads=5, kv_heads=1, head_dim=24, ffn=100, vocab=259, qkv_bias=True, qk_norm=True)
# Wide enough that every product of a few rows is worth a second thread, and longer than a block of 256 inputs.
WIDE = replace(EVEN, dim=320, heads=6, kv_heads=3, head_dim=32, ffn=600, vocab=3001)


def checkpoint_of(settings: Settings, *, seed: int = 7) -> Checkpoint:
    """The random model of these shapes; no token ends an answer."""
    noise = np.random.default_rng(seed)
    tensors = {"embed": _matrix(noise, settings.vocab, settings.dim), "norm": _vector(noise, settings.dim)}
    tensors["head"] = _matrix(noise, settings.vocab, settings.dim)
    for layer in range(settings.layers):
        for name, (outputs, inputs) in _matrices(settings).items():
            tensors[f"layers.{layer}.{name}"] = _matrix(noise, outputs, inputs)
        for name, size in _vectors(settings).items():
            tensors[f"layers.{layer}.{name}"] = _vector(noise, size)
    return Checkpoint(
        name="random",
        settings=settings,
        tensors=tensors,
        vocabulary=_vocabulary(settings.vocab),
        chat_template="{{ messages[0].content }}",
    )


def with_tied_tokens(checkpoint: Checkpoint) -> Checkpoint:
    """The same model, but token i + vocab // 2 always has exactly the logit of token i."""
    half = checkpoint.settings.vocab // 2
    head = checkpoint.tensors["head"].copy()
    head[half : 2 * half] = head[:half]
    head[2 * half :] = 0.0
    return replace(checkpoint, tensors={**checkpoint.tensors, "head": head})


def with_poison(checkpoint: Checkpoint) -> Checkpoint:
    """The same model, but to read token 0 is NaN, and to read token 1 is infinity; neither is ever emitted."""
    embed, head = checkpoint.tensors["embed"].copy(), checkpoint.tensors["head"].copy()
    embed[0], embed[1] = np.nan, np.inf
    head[:2] = 0.0
    return replace(checkpoint, tensors={**checkpoint.tensors, "embed": embed, "head": head})


def _matrices(size: Settings) -> dict[str, tuple[int, int]]:
    queries, keys = size.heads * size.head_dim, size.kv_heads * size.head_dim
    return {
        "q": (queries, size.dim),
        "k": (keys, size.dim),
        "v": (keys, size.dim),
        "o": (size.dim, queries),
        "gate": (size.ffn, size.dim),
        "up": (size.ffn, size.dim),
        "down": (size.dim, size.ffn),
    }


def _vectors(size: Settings) -> dict[str, int]:
    vectors = {"attention_norm": size.dim, "feed_norm": size.dim}
    if size.qkv_bias:
        vectors |= {f"{name}_bias": outputs for name, (outputs, _) in _matrices(size).items() if name in "qkv"}
    if size.qk_norm:
        vectors |= {"q_norm": size.head_dim, "k_norm": size.head_dim}
    return vectors


def _matrix(noise: np.random.Generator, outputs: int, inputs: int) -> Array:
    return _rounded(noise.standard_normal((outputs, inputs), np.float32) * np.float32(1.5 * inputs**-0.5))


def _vector(noise: np.random.Generator, size: int) -> Array:
    return _rounded(noise.uniform(0.5, 1.5, size).astype(np.float32))


def _rounded(numbers: Array) -> Array:
    kernels.round_bf16(numbers)
    return numbers


def _vocabulary(size: int) -> Vocabulary:
    letters = sorted(ByteLevel.alphabet())
    return Vocabulary(
        tokens=tuple(letters + [f"<{index}>" for index in range(len(letters), size)]),
        rules=BytePairs(merges=(), pre="gpt-2", add_bos=False),
        control=frozenset(),
        user_defined=frozenset(),
        bos_id=None,
        eos_ids=frozenset(),
    )
