"""What the supported families of models share: which tensors they have, and what no model may be.

All are decoders in the manner of Llama: RMS norm before each half of a block, grouped-query attention with rotary
embedding over whole heads, and a gated SiLU feed-forward. Qwen2 adds biases to q, k and v; Qwen3 normalises each
head of q and k before it turns them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from temp0.engine.checkpoint import Settings
from temp0.errors import ModelError

_COUNTS = ("dim", "layers", "heads", "kv_heads", "head_dim", "ffn", "vocab", "context")
# Rotary tables have a line for each position, so a damaged number must not become their size.
_MOST_CONTEXT = 1 << 24
# Beyond these a rotary table has no meaning (see kernels.rotary_tables).
_THETA = (1.0, 1e30)


def shapes_of(settings: Settings) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The name and shape of every tensor of a model, as Checkpoint names them; a tied head is not one of its own.

    Lazily, because a damaged file may speak of billions of layers: stop at the first that is not there.
    """
    yield "embed", (settings.vocab, settings.dim)
    for layer in range(settings.layers):
        yield from ((f"layers.{layer}.{part}", shape) for part, shape in _parts(settings))
    yield "norm", (settings.dim,)
    if not settings.tied:
        yield "head", (settings.vocab, settings.dim)


def name_in_file(name: str, names: Mapping[str, str]) -> str:
    """How a file names one of our tensors; `names` has an entry for each part, with `{layer}` where a layer's go."""
    layer, _, part = name.rpartition(".")
    return names[part].format(layer=layer.removeprefix("layers."))


def check(settings: Settings, path: Path) -> None:
    """ModelError, naming the file, for settings that no model can have."""
    for name in _COUNTS:
        if getattr(settings, name) <= 0:
            raise ModelError(
                f"{path}: {name} is {getattr(settings, name)}, expected more than 0; fetch the model again"
            )
    if settings.context > _MOST_CONTEXT:
        raise ModelError(f"{path}: context is {settings.context}, expected at most {_MOST_CONTEXT}; fetch it again")
    if settings.heads % settings.kv_heads or settings.head_dim % 2:
        raise ModelError(
            f"{path} has {settings.heads} heads over {settings.kv_heads} KV heads of {settings.head_dim}, "
            "expected a multiple, and an even size"
        )
    if not _THETA[0] <= settings.rope_theta <= _THETA[1]:
        raise ModelError(f"{path}: rope_theta is {settings.rope_theta}, expected 1 to 1e30; fetch the model again")
    if settings.norm_eps < 0:
        raise ModelError(f"{path}: norm_eps is {settings.norm_eps}, expected 0 or more; fetch the model again")


def _parts(settings: Settings) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The tensors of one layer."""
    dim, ffn = settings.dim, settings.ffn
    queries, keys = settings.heads * settings.head_dim, settings.kv_heads * settings.head_dim
    yield "attention_norm", (dim,)
    for part, rows in (("q", queries), ("k", keys), ("v", keys)):
        yield part, (rows, dim)
        if settings.qkv_bias:
            yield f"{part}_bias", (rows,)
    if settings.qk_norm:
        yield "q_norm", (settings.head_dim,)
        yield "k_norm", (settings.head_dim,)
    yield "o", (dim, queries)
    yield "feed_norm", (dim,)
    yield "gate", (ffn, dim)
    yield "up", (ffn, dim)
    yield "down", (dim, ffn)
