"""The shape and constants of the model that a GGUF header describes.

Whatever would change the arithmetic and is not done by this engine is refused by name, never ignored: another
architecture, scaled rotary embedding, experts, a key of unknown meaning.
"""

from __future__ import annotations

from temp0.engine.architecture import check
from temp0.engine.checkpoint import Settings
from temp0.engine.gguf_header import Header
from temp0.errors import ModelError

# Mistral and SmolLM2 call themselves llama here.
ARCHITECTURES = ("llama", "qwen2", "qwen3")

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
        "attention.sliding_window",
        "rope.dimension_count",
        "rope.freq_base",
    }
)
# What a file may say about features this engine does not have: only that they are off.
_OFF: dict[str, tuple[object, ...]] = {
    "rope.scaling.type": ("none",),
    "rope.scaling.factor": (0.0, 1.0),
    "rope.scale_linear": (0.0, 1.0),
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
    architecture = architecture_of(header)
    _refuse_unknown(header, architecture)
    dim = header.whole(f"{architecture}.embedding_length")
    heads = header.whole(f"{architecture}.attention.head_count")
    settings = Settings(
        dim=dim,
        layers=header.whole(f"{architecture}.block_count"),
        heads=heads,
        kv_heads=header.whole(f"{architecture}.attention.head_count_kv", default=heads),
        head_dim=header.whole(f"{architecture}.attention.key_length", default=dim // max(heads, 1)),
        ffn=header.whole(f"{architecture}.feed_forward_length"),
        vocab=len(header.texts("tokenizer.ggml.tokens")),
        context=_context(header, architecture),
        rope_theta=header.real(f"{architecture}.rope.freq_base", default=10_000.0),
        norm_eps=header.real(f"{architecture}.attention.layer_norm_rms_epsilon"),
        tied="output.weight" not in header.tensors,
        qkv_bias=architecture == "qwen2",
        qk_norm=architecture == "qwen3",
    )
    check(settings, header.path)
    _check_whole_heads(header, architecture, settings)
    return settings


def architecture_of(header: Header) -> str:
    """One of ARCHITECTURES; ModelError for any other."""
    architecture = header.text("general.architecture")
    if architecture not in ARCHITECTURES:
        raise ModelError(
            f"{header.path} holds a model of architecture {architecture!r}, expected one of "
            f"{', '.join(ARCHITECTURES)}: others are not supported; choose another model"
        )
    return architecture


def _refuse_unknown(header: Header, architecture: str) -> None:
    for key, value in header.values.items():
        room, _, name = key.partition(".")
        if room != architecture or name in _READ or name in _HARMLESS or value in _OFF.get(name, ()):
            continue
        raise ModelError(
            f"{header.path} says {key} = {str(value)[:80]}, which this engine does not support: answers would be "
            "wrong, so choose another model"
        )


def _context(header: Header, architecture: str) -> int:
    """Positions; no more than a sliding window, within which it is plain attention. A window of 0 is none."""
    context = header.whole(f"{architecture}.context_length")
    window = header.whole(f"{architecture}.attention.sliding_window", default=0)
    return min(context, window) if window else context


def _check_whole_heads(header: Header, architecture: str, settings: Settings) -> None:
    for name in ("rope.dimension_count", "attention.value_length"):
        size = header.whole(f"{architecture}.{name}", default=settings.head_dim)
        if size != settings.head_dim:
            raise ModelError(
                f"{header.path} says {architecture}.{name} = {size}, expected the size of a head, "
                f"{settings.head_dim}: anything else is not supported"
            )
