"""The shape and constants of the model that a config.json describes.

Whatever would change the arithmetic and is not done by this engine is refused by name, never ignored: another
architecture, scaled rotary embedding, biases that the architecture has not by itself, a key of unknown meaning.
"""

from __future__ import annotations

from dataclasses import dataclass

from temp0.engine.architecture import check
from temp0.engine.checkpoint import Settings
from temp0.engine.file_fields import Fields
from temp0.errors import ModelError


@dataclass(frozen=True, slots=True, kw_only=True)
class _Architecture:
    """What a class of transformers is, and what it takes where its config.json is silent.

    Source: transformers 5.24, models/*/configuration_*.py.
    """

    model_type: str
    qkv_bias: bool = False
    qk_norm: bool = False
    head_dim: int | None = None
    # The keys about a sliding window that it knows, and the window that holds where they do not say otherwise.
    window_keys: frozenset[str] = frozenset()
    window: int | None = None


_QWEN_WINDOW = frozenset({"layer_types", "max_window_layers", "sliding_window", "use_sliding_window"})
_ARCHITECTURES = {
    "LlamaForCausalLM": _Architecture(model_type="llama"),
    "MistralForCausalLM": _Architecture(model_type="mistral", window_keys=frozenset({"sliding_window"}), window=4096),
    "Qwen2ForCausalLM": _Architecture(model_type="qwen2", qkv_bias=True, window_keys=_QWEN_WINDOW),
    "Qwen3ForCausalLM": _Architecture(model_type="qwen3", qk_norm=True, head_dim=128, window_keys=_QWEN_WINDOW),
}
_READ = frozenset(
    {
        "architectures",
        "head_dim",
        "hidden_size",
        "intermediate_size",
        "max_position_embeddings",
        "model_type",
        "num_attention_heads",
        "num_hidden_layers",
        "num_key_value_heads",
        "rms_norm_eps",
        "rope_parameters",
        "rope_scaling",
        "rope_theta",
        "tie_word_embeddings",
        "vocab_size",
    }
)
# About training, about programs, or read elsewhere.
_HARMLESS = frozenset(
    {
        "_name_or_path",
        "attention_dropout",
        "bos_token_id",
        "dtype",
        "eos_token_id",
        "initializer_range",
        "is_llama_config",
        "pad_token_id",
        "pretraining_tp",
        "torch_dtype",
        "transformers.js_config",
        "transformers_version",
        "unk_token_id",
        "use_cache",
    }
)
# What a file may say about features this engine does not have: only that they are off. Null is off everywhere.
_OFF: dict[str, tuple[object, ...]] = {
    "attention_bias": (False,),
    "hidden_act": ("silu",),
    "mlp_bias": (False,),
    "partial_rotary_factor": (1.0,),
    "rope_interleaved": (False,),
}
_ROPE_TYPES = ("rope_type", "type")


def settings_of(config: Fields) -> Settings:
    """The settings; ModelError where the model is of a kind that this engine would compute wrongly."""
    architecture = _architecture(config)
    _refuse_unknown(config, _READ | _HARMLESS | architecture.window_keys)
    dim, heads = config.whole("hidden_size"), config.whole("num_attention_heads")
    settings = Settings(
        dim=dim,
        layers=config.whole("num_hidden_layers"),
        heads=heads,
        kv_heads=config.whole("num_key_value_heads", default=heads if architecture.model_type == "llama" else None),
        head_dim=_head_dim(config, architecture, dim // max(heads, 1)),
        ffn=config.whole("intermediate_size"),
        vocab=config.whole("vocab_size"),
        context=_context(config, architecture),
        rope_theta=_rope_theta(config),
        norm_eps=config.real("rms_norm_eps"),
        tied=config.flag("tie_word_embeddings", default=False),
        qkv_bias=architecture.qkv_bias,
        qk_norm=architecture.qk_norm,
    )
    check(settings, config.path)
    return settings


def _architecture(config: Fields) -> _Architecture:
    names = config.texts("architectures")
    if len(names) != 1 or names[0] not in _ARCHITECTURES:
        raise ModelError(
            f"{config.path}: architectures is {names}, expected one of {', '.join(_ARCHITECTURES)}: others are not "
            "supported; choose another model"
        )
    architecture = _ARCHITECTURES[names[0]]
    if config.text("model_type") != architecture.model_type:
        raise config.unexpected("model_type", repr(architecture.model_type))
    return architecture


def _refuse_unknown(fields: Fields, known: frozenset[str], *, inside: str = "") -> None:
    for key, value in fields.values.items():
        if key not in known and value is not None and value not in _OFF.get(key, ()):
            raise ModelError(
                f"{fields.path} says {inside}{key} = {str(value)[:80]}, which this engine does not support: answers "
                "would be wrong, so choose another model"
            )


def _head_dim(config: Fields, architecture: _Architecture, share: int) -> int:
    if config.values.get("head_dim", architecture.head_dim) is None:
        return share
    return config.whole("head_dim", default=architecture.head_dim)


def _context(config: Fields, architecture: _Architecture) -> int:
    """Positions; no more than a sliding window, within which it is plain attention."""
    context = config.whole("max_position_embeddings")
    window = config.values.get("sliding_window", architecture.window)
    slides = architecture.window is not None or config.flag("use_sliding_window", default=False)
    if config.values.get("layer_types") is not None:
        layer_types = set(config.texts("layer_types"))
        if not layer_types <= {"full_attention", "sliding_attention"}:
            raise config.unexpected("layer_types", "full_attention or sliding_attention throughout")
        slides = slides or "sliding_attention" in layer_types
    if not slides or window is None:
        return context
    return min(context, config.whole("sliding_window", default=architecture.window))


def _rope_theta(config: Fields) -> float:
    """The base of the rotary angles, which older files keep at the top; scaled embeddings are refused."""
    stated = []
    for key in ("rope_scaling", "rope_parameters"):
        if config.values.get(key) is None:
            continue
        rope = config.within(key)
        _refuse_scaled(rope, key)
        if "rope_theta" in rope.values:
            stated.append(rope.real("rope_theta"))
    if "rope_theta" in config.values:
        stated.append(config.real("rope_theta"))
    if len(set(stated)) > 1:
        raise ModelError(f"{config.path} states rope_theta as {stated}, expected one number; fetch the model again")
    return stated[0] if stated else 10_000.0


def _refuse_scaled(rope: Fields, key: str) -> None:
    for name in _ROPE_TYPES:
        kind = rope.values.get(name, "default")
        if kind != "default":
            raise ModelError(
                f"{rope.path} says {key}.{name} = {str(kind)[:80]}: scaled rotary embedding is not supported, so "
                "choose another model"
            )
    _refuse_unknown(rope, frozenset({"rope_theta", *_ROPE_TYPES}), inside=f"{key}.")
