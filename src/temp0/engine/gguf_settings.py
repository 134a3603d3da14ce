"""The shape and constants of the llama model that a GGUF header describes.

Whatever would change the arithmetic and is not done by this engine is refused by name, never ignored: another
architecture, scaled rotary embedding, experts, a key of unknown meaning.
"""

from __future__ import annotations

from temp0.engine.checkpoint import Settings
from temp0.engine.gguf_header import Header
from temp0.errors import ModelError

_HARMLESS = frozenset({"vocab_size", "rope.scaling.finetuned"})
_READ = frozenset(
    {
        "block_count",
        "context_length",
        "embedding_length",
        "feed_forward_length",
        "attention.head_count",
        "attention.head_count_kv",
        "attention.key_length",
        "attention.value_length",
        "attention.layer_norm_rms_epsilon",
        "rope.dimension_count",
        "rope.freq_base",
    }
)
# What a file may say about features this engine does not have: only that they are off.
_OFF: dict[str, tuple[object, ...]] = {
    "rope.scaling.type": ("none",),
    "rope.scaling.factor": (0.0, 1.0),
    "rope.scale_linear": (0.0, 1.0),
    "attention.sliding_window": (0,),
    "attention.scale": (0.0,),
    "attention.causal": (True,),
    "expert_count": (0,),
    "expert_used_count": (0,),
    "logit_scale": (0.0, 1.0),
    "residual_scale": (0.0, 1.0),
    "embedding_scale": (0.0, 1.0),
}


def settings_of(header: Header) -> Settings:
    """The settings; ModelError where the model is of a kind that this engine would compute wrongly."""
    architecture = header.text("general.architecture")
    if architecture != "llama":
        raise ModelError(
            f"{header.path} holds a model of architecture {architecture!r}, expected 'llama': other architectures "
            "are not supported; choose another model"
        )
    _refuse_unknown(header)
    dim = header.whole("llama.embedding_length")
    heads = header.whole("llama.attention.head_count")
    settings = Settings(
        dim=dim,
        layers=header.whole("llama.block_count"),
        heads=heads,
        kv_heads=header.whole("llama.attention.head_count_kv", default=heads),
        head_dim=header.whole("llama.attention.key_length", default=dim // max(heads, 1)),
        ffn=header.whole("llama.feed_forward_length"),
        vocab=len(header.texts("tokenizer.ggml.tokens")),
        context=header.whole("llama.context_length"),
        rope_theta=header.real("llama.rope.freq_base", default=10_000.0),
        norm_eps=header.real("llama.attention.layer_norm_rms_epsilon"),
        tied="output.weight" not in header.tensors,
    )
    _check(header, settings)
    return settings


def _refuse_unknown(header: Header) -> None:
    for key, value in header.metadata.items():
        room, _, name = key.partition(".")
        if room != "llama" or name in _READ or name in _HARMLESS or value in _OFF.get(name, ()):
            continue
        raise ModelError(
            f"{header.path} says {key} = {str(value)[:80]}, which this engine does not support: answers would be "
            "wrong, so choose another model"
        )


def _check(header: Header, settings: Settings) -> None:
    counts = ("dim", "layers", "heads", "kv_heads", "head_dim", "ffn", "vocab", "context", "rope_theta")
    for name in counts:
        if getattr(settings, name) <= 0:
            raise ModelError(
                f"{header.path}: {name} is {getattr(settings, name)}, expected more than 0; fetch it again"
            )
    if settings.heads % settings.kv_heads or settings.head_dim % 2:
        raise ModelError(
            f"{header.path} has {settings.heads} heads over {settings.kv_heads} KV heads of {settings.head_dim}, "
            "expected a multiple, and an even size"
        )
    for name in ("rope.dimension_count", "attention.value_length"):
        size = header.whole(f"llama.{name}", default=settings.head_dim)
        if size != settings.head_dim:
            raise ModelError(
                f"{header.path} says llama.{name} = {size}, expected the size of a head, {settings.head_dim}: "
                "anything else is not supported"
            )
