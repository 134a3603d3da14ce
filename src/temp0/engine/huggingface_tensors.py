"""Reads the weights of a model's directory: model.safetensors, or the shards that its index lists.

Every tensor is used, or the directory is refused. The safetensors library checks each file; its numbers are then read
from the mapped file, because numpy has no bf16 for the library to hand out.
Format: https://github.com/huggingface/safetensors#format
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from temp0.engine.architecture import name_in_file, shapes_of
from temp0.engine.checkpoint import Array, Settings
from temp0.engine.file_fields import Fields
from temp0.engine.huggingface_json import json_fields, read_json
from temp0.engine.rounding import rounded_weights
from temp0.errors import ModelError

WHOLE, INDEX = "model.safetensors", "model.safetensors.index.json"

_STORED_AS: dict[str, np.dtype[np.generic]] = {"F32": np.dtype("<f4"), "F16": np.dtype("<f2"), "BF16": np.dtype("<u2")}
_NAMES = {
    "embed": "model.embed_tokens.weight",
    "attention_norm": "model.layers.{layer}.input_layernorm.weight",
    "q": "model.layers.{layer}.self_attn.q_proj.weight",
    "k": "model.layers.{layer}.self_attn.k_proj.weight",
    "v": "model.layers.{layer}.self_attn.v_proj.weight",
    "q_bias": "model.layers.{layer}.self_attn.q_proj.bias",
    "k_bias": "model.layers.{layer}.self_attn.k_proj.bias",
    "v_bias": "model.layers.{layer}.self_attn.v_proj.bias",
    "q_norm": "model.layers.{layer}.self_attn.q_norm.weight",
    "k_norm": "model.layers.{layer}.self_attn.k_norm.weight",
    "o": "model.layers.{layer}.self_attn.o_proj.weight",
    "feed_norm": "model.layers.{layer}.post_attention_layernorm.weight",
    "gate": "model.layers.{layer}.mlp.gate_proj.weight",
    "up": "model.layers.{layer}.mlp.up_proj.weight",
    "down": "model.layers.{layer}.mlp.down_proj.weight",
    "norm": "model.norm.weight",
    "head": "lm_head.weight",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stored:
    """A tensor in a file: flat numbers as they lie there, bf16 ones as their bits."""

    path: Path
    name: str
    kind: str
    shape: tuple[int, ...]
    numbers: NDArray[np.generic]


def weight_files(directory: Path) -> list[Path]:
    """The safetensors files of a directory, in order of name; ModelError where there are none or one is missing."""
    if (directory / WHOLE).exists():
        return [directory / WHOLE]
    if not (directory / INDEX).exists():
        raise ModelError(
            f"{directory} holds neither {WHOLE} nor {INDEX}: only safetensors are read, so convert the weights or "
            "fetch them in that format"
        )
    files = [directory / name for name in sorted(set(_weight_map(directory).values()))]
    for file in files:
        if not file.exists():
            raise ModelError(f"{file} is absent, but {INDEX} lists it; fetch the model again")
    return files


def tensors_of(directory: Path, settings: Settings) -> dict[str, Array]:
    """The weights under the names of Checkpoint, rounded to bf16; ModelError for any that is missing or too many."""
    stored = _stored(directory)
    found = {name: _found(directory, stored, name_in_file(name, _NAMES), shape) for name, shape in shapes_of(settings)}
    unknown = stored.keys() - {tensor.name for tensor in found.values()}
    if settings.tied:
        unknown -= _copy_of_the_embedding(stored)
    if unknown:
        raise ModelError(
            f"{directory} holds {len(unknown)} tensors that such a model has not, such as {min(unknown)}: this "
            "engine would ignore them and answer wrongly, so choose another model"
        )
    tensors = {name: _weights(tensor) for name, tensor in found.items()}
    if settings.tied:
        tensors["head"] = tensors["embed"]
    return tensors


def _weight_map(directory: Path) -> dict[str, str]:
    """File by tensor; only files of this directory are named."""
    listed = read_json(directory / INDEX).within("weight_map")
    names = {tensor: listed.text(tensor) for tensor in listed.values}
    for name in names.values():
        if Path(name).name != name:
            raise ModelError(f"{listed.path} names the file {name!r}, expected one of its own directory")
    return names


def _stored(directory: Path) -> dict[str, _Stored]:
    stored: dict[str, _Stored] = {}
    for path in weight_files(directory):
        found = _tensors_in(path)
        if stored.keys() & found.keys():
            raise ModelError(f"{path} holds {min(stored.keys() & found.keys())} once more; fetch the model again")
        stored |= found
    return stored


def _tensors_in(path: Path) -> dict[str, _Stored]:
    """Every tensor of a safetensors file, mapped but not read."""
    try:
        # Opening checks the header, that the tensors fill the file without gaps, and that none reaches past its end.
        with safe_open(path, framework="numpy"):
            data = np.memmap(path, mode="r")
    except (SafetensorError, OSError, ValueError) as error:
        raise ModelError(f"{path} is not a whole safetensors file ({error}); fetch the model again") from error
    (header_bytes,) = struct.unpack("<Q", data[:8].tobytes())
    header = json_fields(path, data[8 : 8 + header_bytes].tobytes().decode())
    body = np.asarray(data[8 + header_bytes :])
    return {name: _stored_tensor(header, name, body) for name in header.values if name != "__metadata__"}


def _stored_tensor(header: Fields, name: str, body: NDArray[np.uint8]) -> _Stored:
    entry = header.within(name)
    kind, (first, last) = entry.text("dtype"), entry.wholes("data_offsets")
    if kind not in _STORED_AS:
        raise ModelError(
            f"{header.path}: tensor {name} is of type {kind}, expected one of {', '.join(_STORED_AS)}; use a BF16 copy"
        )
    return _Stored(
        path=header.path,
        name=name,
        kind=kind,
        shape=tuple(entry.wholes("shape")),
        numbers=body[first:last].view(_STORED_AS[kind]),
    )


def _found(directory: Path, stored: Mapping[str, _Stored], name: str, shape: tuple[int, ...]) -> _Stored:
    tensor = stored.get(name)
    if tensor is None or tensor.shape != shape:
        seen = "is absent" if tensor is None else f"has shape {list(tensor.shape)}"
        raise ModelError(f"{directory}: tensor {name} {seen}, expected shape {list(shape)}; fetch the model again")
    return tensor


def _weights(tensor: _Stored) -> Array:
    def numbers(first: int, last: int) -> Array:
        part = tensor.numbers[first:last]
        return (part.astype(np.uint32) << 16).view(np.float32) if tensor.kind == "BF16" else part.astype(np.float32)

    return rounded_weights(tensor.shape, numbers, what=f"{tensor.path}: tensor {tensor.name}")


def _copy_of_the_embedding(stored: Mapping[str, _Stored]) -> set[str]:
    """The head that some files of tied models hold beside the embedding, where it is the same numbers."""
    head, embed = stored.get(_NAMES["head"]), stored[_NAMES["embed"]]
    same = head is not None and head.kind == embed.kind and np.array_equal(head.numbers, embed.numbers)
    return {_NAMES["head"]} if same else set()
