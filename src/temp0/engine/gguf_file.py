"""Reads a GGUF file of the llama architecture into a Checkpoint.

Whatever would change the arithmetic and is not done by this engine is refused by name, never ignored: another
architecture, scaled rotary embedding, biases, experts, a metadata key or a tensor of unknown meaning.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from gguf import GGML_QUANT_SIZES, TokenType, dequantize

from temp0.engine.checkpoint import Array, Checkpoint, Settings, Vocabulary
from temp0.engine.gguf_header import Header, TensorPlace, read_header
from temp0.errors import ModelError

# Elements dequantised at a time: the temporaries stay in the cache, which makes loading three times as fast as
# whole tensors.
_CHUNK = 32_768

_HARMLESS = frozenset({"vocab_size", "attention.causal", "rope.scaling.finetuned"})
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
    "expert_count": (0,),
    "expert_used_count": (0,),
    "logit_scale": (0.0, 1.0),
    "residual_scale": (0.0, 1.0),
    "embedding_scale": (0.0, 1.0),
}
_END_KEYS = ("eos_token_id", "eot_token_id", "eom_token_id")
_END_TEXTS = frozenset(
    {"<|endoftext|>", "<|im_end|>", "<|end_of_text|>", "<|eot_id|>", "<|eom_id|>", "<|end|>", "</s>"}
)


def read_gguf(path: Path) -> Checkpoint:
    """The model in a GGUF file, its weights rounded to bf16.

    Q4_1, Q8_0, F16, BF16, F32 and whatever else gguf can dequantise are read. Raises ModelError, which says what
    was seen, what was expected and what to do, for a file that is absent, damaged, truncated or of another kind.
    """
    data = _mapped(path)
    header = read_header(path, memoryview(data))
    settings = _settings(header)
    return Checkpoint(
        name=path.stem,
        settings=settings,
        tensors=_tensors(header, data, settings),
        vocabulary=vocabulary(header),
        chat_template=_chat_template(header),
    )


def vocabulary(header: Header) -> Vocabulary:
    """The byte-level BPE vocabulary a header carries; ModelError where it carries another kind."""
    model = header.text("tokenizer.ggml.model")
    if model != "gpt2":
        raise ModelError(
            f"{header.path} has a tokenizer of kind {model!r}, expected 'gpt2' (byte-level BPE): other kinds are "
            "not supported; choose another model"
        )
    tokens = header.texts("tokenizer.ggml.tokens")
    kinds = header.wholes("tokenizer.ggml.token_type")
    if len(kinds) != len(tokens):
        raise ModelError(f"{header.path} has {len(tokens)} tokens but {len(kinds)} token types; fetch it again")
    control = _ids(kinds, TokenType.CONTROL, TokenType.UNKNOWN)
    return Vocabulary(
        tokens=tuple(tokens),
        merges=tuple(_merge(header, merge) for merge in header.texts("tokenizer.ggml.merges")),
        pre=header.text("tokenizer.ggml.pre"),
        control=control,
        user_defined=_ids(kinds, TokenType.USER_DEFINED),
        bos_id=_special_id(header, "bos_token_id", len(tokens)),
        eos_ids=_eos_ids(header, tokens, control),
        add_bos=_flag(header, "tokenizer.ggml.add_bos_token"),
    )


def _mapped(path: Path) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    try:
        if path.stat().st_size:
            return np.memmap(path, mode="r")
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}; expected a GGUF file") from error
    raise ModelError(f"{path} is empty, expected a GGUF file; fetch it again")


def _settings(header: Header) -> Settings:
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


def _expected(settings: Settings) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """GGUF name, plain name and shape of every tensor of the model."""
    dim, ffn = settings.dim, settings.ffn
    queries, keys = settings.heads * settings.head_dim, settings.kv_heads * settings.head_dim
    yield "token_embd", "embed", (settings.vocab, dim)
    for layer in range(settings.layers):
        theirs, ours = f"blk.{layer}.", f"layers.{layer}."
        yield theirs + "attn_norm", ours + "attention_norm", (dim,)
        yield theirs + "attn_q", ours + "q", (queries, dim)
        yield theirs + "attn_k", ours + "k", (keys, dim)
        yield theirs + "attn_v", ours + "v", (keys, dim)
        yield theirs + "attn_output", ours + "o", (dim, queries)
        yield theirs + "ffn_norm", ours + "feed_norm", (dim,)
        yield theirs + "ffn_gate", ours + "gate", (ffn, dim)
        yield theirs + "ffn_up", ours + "up", (ffn, dim)
        yield theirs + "ffn_down", ours + "down", (dim, ffn)
    yield "output_norm", "norm", (dim,)
    if not settings.tied:
        yield "output", "head", (settings.vocab, dim)


def _tensors(header: Header, data: np.ndarray[tuple[int], np.dtype[np.uint8]], settings: Settings) -> dict[str, Array]:
    places = {plain: _found(header, f"{name}.weight", shape) for name, plain, shape in _expected(settings)}
    unknown = header.tensors.keys() - {place.name for place in places.values()}
    if unknown:
        raise ModelError(
            f"{header.path} holds {len(unknown)} tensors that a plain llama model has not, such as {min(unknown)}: "
            "this engine would ignore them and answer wrongly, so choose another model"
        )
    tensors = {plain: _weights(header, place, data) for plain, place in places.items()}
    for name in tensors:
        if name.endswith((".q", ".k")):
            tensors[name] = _half_split(tensors[name], settings.head_dim)
    if settings.tied:
        tensors["head"] = tensors["embed"]
    return tensors


def _found(header: Header, name: str, shape: tuple[int, ...]) -> TensorPlace:
    place = header.tensors.get(name)
    if place is None or place.shape != shape:
        seen = "is absent" if place is None else f"has shape {list(place.shape)}"
        raise ModelError(f"{header.path}: tensor {name} {seen}, expected shape {list(shape)}; fetch it again")
    return place


def _weights(header: Header, place: TensorPlace, data: np.ndarray[tuple[int], np.dtype[np.uint8]]) -> Array:
    out = np.empty(place.shape, np.float32)
    flat = out.reshape(-1)
    block, block_bytes = GGML_QUANT_SIZES[place.kind]
    for first in range(0, flat.size, _CHUNK):
        part = flat[first : first + _CHUNK]
        start = place.start + first // block * block_bytes
        packed = data[start : start + part.size // block * block_bytes]
        try:
            part[:] = dequantize(packed[None], place.kind).reshape(-1)
        except NotImplementedError as error:
            raise ModelError(
                f"{header.path}: tensor {place.name} is of type {place.kind.name}, which cannot be dequantised; "
                "use a BF16, F16, Q8_0 or Q4_1 file of the model"
            ) from error
        _round_bf16(part)
        if not np.isfinite(part).all():
            raise ModelError(f"{header.path}: tensor {place.name} holds a NaN or an infinity; fetch it again")
    return out


def _round_bf16(numbers: Array) -> None:
    """Round to nearest even, in place."""
    bits = numbers.view(np.uint32)
    bits += np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    bits &= np.uint32(0xFFFF0000)


def _half_split(rows: Array, head_dim: int) -> Array:
    """Rows 2i and 2i+1 of each head, which rotate together in GGUF's llama files, moved to i and i + head_dim / 2."""
    pairs = rows.reshape(-1, head_dim // 2, 2, rows.shape[1])
    return np.ascontiguousarray(pairs.swapaxes(1, 2)).reshape(rows.shape)


def _ids(kinds: list[int], *wanted: TokenType) -> frozenset[int]:
    return frozenset(token for token, kind in enumerate(kinds) if kind in wanted)


def _merge(header: Header, merge: str) -> tuple[str, str]:
    left, _, right = merge.partition(" ")
    if not left or not right:
        raise ModelError(f"{header.path}: the merge {merge!r} is not a pair; fetch the file again")
    return left, right


def _special_id(header: Header, name: str, size: int) -> int | None:
    key = f"tokenizer.ggml.{name}"
    if key not in header.metadata:
        return None
    token = header.whole(key)
    if token >= size:
        raise ModelError(f"{header.path}: {key} is {token}, expected less than {size}; fetch the file again")
    return token


def _eos_ids(header: Header, tokens: list[str], control: frozenset[int]) -> frozenset[int]:
    """The declared ends, and control tokens known to end a text: chat models may emit either."""
    declared = {_special_id(header, name, len(tokens)) for name in _END_KEYS} - {None}
    return frozenset(declared | {token for token in control if tokens[token] in _END_TEXTS})


def _flag(header: Header, key: str) -> bool:
    value = header.metadata.get(key, False)
    return value is True


def _chat_template(header: Header) -> str | None:
    key = "tokenizer.chat_template"
    return header.text(key) if key in header.metadata else None
