"""Reads a GGUF file of the llama architecture into a Checkpoint.

Every tensor of the file is used, or the file is refused: biases, experts and the factors of a scaled rotary
embedding are never ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from gguf import GGML_QUANT_SIZES, dequantize

from temp0.engine.checkpoint import Array, Checkpoint, Settings
from temp0.engine.gguf_header import Header, TensorPlace, read_header
from temp0.engine.gguf_settings import settings_of
from temp0.engine.gguf_vocabulary import vocabulary_of
from temp0.errors import ModelError
from temp0.kernels import round_bf16

Bytes = np.ndarray[tuple[int], np.dtype[np.uint8]]

# How a file name says in what format its weights lie; whatever it was, they are used as bf16.
_STORED_AS = re.compile(r"[.-](I?Q\d\w*|BF16|F16|F32)$", re.IGNORECASE)
# Elements dequantised at a time: the temporaries stay in the cache, which makes loading three times as fast as
# whole tensors.
_CHUNK = 32_768
# Weights of this size would be infinite in bf16. No model has them; damaged ones do.
_LARGEST = 3e38


def read_gguf(path: Path) -> Checkpoint:
    """The model in a GGUF file, its weights rounded to bf16.

    Q4_1, Q8_0, F16, BF16, F32 and whatever else gguf can dequantise are read. Raises ModelError, which says what
    was seen, what was expected and what to do, for a file that is absent, damaged, truncated or of another kind.
    """
    data = _mapped(path)
    header = read_header(path, data.data)
    settings = settings_of(header)
    return Checkpoint(
        name=_STORED_AS.sub("", path.stem),
        settings=settings,
        tensors=_tensors(header, data, settings),
        vocabulary=vocabulary_of(header),
        chat_template=_chat_template(header),
    )


def _mapped(path: Path) -> Bytes:
    try:
        if path.stat().st_size:
            return np.asarray(np.memmap(path, mode="r"))
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}; expected a GGUF file") from error
    raise ModelError(f"{path} is empty, expected a GGUF file; fetch it again")


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


def _tensors(header: Header, data: Bytes, settings: Settings) -> dict[str, Array]:
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
        raise ModelError(f"{header.path}: tensor {name} {seen}, expected shape {list(shape)}; fetch the file again")
    return place


def _weights(header: Header, place: TensorPlace, data: Bytes) -> Array:
    out = np.empty(place.shape, np.float32)
    flat = out.reshape(-1)
    block, block_bytes = GGML_QUANT_SIZES[place.kind]
    for first in range(0, flat.size, _CHUNK):
        part = flat[first : first + _CHUNK]
        start = place.start + first // block * block_bytes
        part[:] = _dequantised(header, place, data[start : start + part.size // block * block_bytes])
        if not np.abs(part).max() < _LARGEST:
            raise ModelError(f"{header.path}: tensor {place.name} holds a NaN or an infinity; fetch the file again")
        round_bf16(part)
    return out


def _dequantised(header: Header, place: TensorPlace, packed: Bytes) -> Array:
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            numbers: Array = dequantize(packed[None], place.kind).reshape(-1)
    except NotImplementedError as error:
        raise ModelError(
            f"{header.path}: tensor {place.name} is of type {place.kind.name}, which cannot be dequantised; "
            "use a BF16, F16, Q8_0 or Q4_1 file of the model"
        ) from error
    return numbers


def _half_split(rows: Array, head_dim: int) -> Array:
    """Rows 2i and 2i+1 of each head, which rotate together in GGUF's llama files, moved to i and i + head_dim / 2."""
    pairs = rows.reshape(-1, head_dim // 2, 2, rows.shape[1])
    return np.ascontiguousarray(pairs.swapaxes(1, 2)).reshape(rows.shape)


def _chat_template(header: Header) -> str | None:
    key = "tokenizer.chat_template"
    return header.text(key) if key in header.metadata else None
