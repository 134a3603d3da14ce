"""Reads a GGUF file of a supported architecture into a Checkpoint.

Every tensor of the file is used, or the file is refused: unknown biases, experts and the factors of a scaled rotary
embedding are never ignored.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from gguf import GGML_QUANT_SIZES

from temp0.engine.architecture import name_in_file, shapes_of
from temp0.engine.checkpoint import Array, Checkpoint, Settings
from temp0.engine.gguf_header import Header, TensorPlace, read_header
from temp0.engine.gguf_numbers import Bytes, dequantised
from temp0.engine.gguf_settings import architecture_of, settings_of
from temp0.engine.gguf_vocabulary import vocabulary_of
from temp0.engine.rounding import rounded_weights
from temp0.errors import ModelError

# How a file name says in what format its weights lie; whatever it was, they are used as bf16.
_STORED_AS = re.compile(r"[.-](I?Q\d\w*|BF16|F16|F32)$", re.IGNORECASE)
_NAMES = {
    "embed": "token_embd.weight",
    "attention_norm": "blk.{layer}.attn_norm.weight",
    "q": "blk.{layer}.attn_q.weight",
    "k": "blk.{layer}.attn_k.weight",
    "v": "blk.{layer}.attn_v.weight",
    "q_bias": "blk.{layer}.attn_q.bias",
    "k_bias": "blk.{layer}.attn_k.bias",
    "v_bias": "blk.{layer}.attn_v.bias",
    "q_norm": "blk.{layer}.attn_q_norm.weight",
    "k_norm": "blk.{layer}.attn_k_norm.weight",
    "o": "blk.{layer}.attn_output.weight",
    "feed_norm": "blk.{layer}.ffn_norm.weight",
    "gate": "blk.{layer}.ffn_gate.weight",
    "up": "blk.{layer}.ffn_up.weight",
    "down": "blk.{layer}.ffn_down.weight",
    "norm": "output_norm.weight",
    "head": "output.weight",
}


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


def _tensors(header: Header, data: Bytes, settings: Settings) -> dict[str, Array]:
    places = {name: _found(header, name_in_file(name, _NAMES), shape) for name, shape in shapes_of(settings)}
    unknown = header.tensors.keys() - {place.name for place in places.values()}
    if unknown:
        raise ModelError(
            f"{header.path} holds {len(unknown)} tensors that a plain {architecture_of(header)} model has not, such "
            f"as {min(unknown)}: this engine would ignore them and answer wrongly, so choose another model"
        )
    tensors = {name: _weights(header, place, data) for name, place in places.items()}
    if architecture_of(header) == "llama":
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
    block, block_bytes = GGML_QUANT_SIZES[place.kind]

    def numbers(first: int, last: int) -> Array:
        start, end = (place.start + index // block * block_bytes for index in (first, last))
        return dequantised(data[start:end], place.kind)

    try:
        return rounded_weights(place.shape, numbers, what=f"{header.path}: tensor {place.name}")
    except NotImplementedError as error:
        raise ModelError(
            f"{header.path}: tensor {place.name} is of type {place.kind.name}, which cannot be dequantised; "
            "use a BF16, F16, Q8_0 or Q4_1 file of the model"
        ) from error


def _half_split(rows: Array, head_dim: int) -> Array:
    """Rows 2i and 2i+1 of each head, which rotate together in GGUF's llama files, moved to i and i + head_dim / 2."""
    pairs = rows.reshape(-1, head_dim // 2, 2, rows.shape[1])
    return np.ascontiguousarray(pairs.swapaxes(1, 2)).reshape(rows.shape)


def _chat_template(header: Header) -> str | None:
    key = "tokenizer.chat_template"
    return header.text(key) if key in header.values else None
