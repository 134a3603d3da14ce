"""Reads the header of a GGUF file: its metadata and where each tensor lies.

Whatever the bytes are, the outcome is a Header whose tensors lie inside the file, or a ModelError. The gguf package
supplies the names and sizes of types; its GGUFReader is not used, because it makes a numpy array of every string
(2.2 s for the 147,000 of SmolLM2, where this takes 0.2 s) and answers a truncated file with an IndexError.
Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, GGUFValueType

from temp0.engine.file_fields import Fields
from temp0.errors import ModelError

Value: TypeAlias = "bool | int | float | str | list[bool] | list[int] | list[float] | list[str]"
_Entry: TypeAlias = "tuple[str, tuple[int, ...], int, int]"

MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_DEFAULT_ALIGNMENT = 32
_MOST_DIMENSIONS = 4
_AGAIN = "the file is damaged, so fetch it again"
_FORMATS = {
    GGUFValueType.UINT8: "B",
    GGUFValueType.INT8: "b",
    GGUFValueType.UINT16: "H",
    GGUFValueType.INT16: "h",
    GGUFValueType.UINT32: "I",
    GGUFValueType.INT32: "i",
    GGUFValueType.FLOAT32: "f",
    GGUFValueType.BOOL: "?",
    GGUFValueType.UINT64: "Q",
    GGUFValueType.INT64: "q",
    GGUFValueType.FLOAT64: "d",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorPlace:
    """Where a tensor lies: bytes `start` to `end` of the file. `shape` is [out, in], the reverse of GGUF's order."""

    name: str
    kind: GGMLQuantizationType
    shape: tuple[int, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Header(Fields):
    """Metadata by key, which are its fields, and tensors by name, both in the order of the file."""

    tensors: Mapping[str, TensorPlace]


def read_header(path: Path, data: memoryview) -> Header:
    """The header of the GGUF file whose bytes are `data`; ModelError if it is none, is damaged or is truncated."""
    if bytes(data[:4]) != MAGIC:
        raise ModelError(f"{path} begins with {bytes(data[:4])!r}, expected {MAGIC!r}: it is not a GGUF file")
    cursor = _Cursor(path, data)
    version, tensor_count, metadata_count = cursor.numbers("<IQQ")
    if version not in _VERSIONS:
        raise ModelError(
            f"{path} is GGUF version {version}, expected 2 or 3, little-endian: convert the model again with a "
            "current llama.cpp"
        )
    metadata = {cursor.text(): cursor.value() for _ in range(metadata_count)}
    if len(metadata) < metadata_count:
        raise ModelError(f"{path} has a metadata key twice; {_AGAIN}")
    alignment = metadata.get("general.alignment", _DEFAULT_ALIGNMENT)
    if not isinstance(alignment, int) or alignment < 1:
        raise ModelError(f"{path}: general.alignment is {alignment!r}, expected a positive number; {_AGAIN}")
    entries = [cursor.entry() for _ in range(tensor_count)]
    first = -(-cursor.offset // alignment) * alignment
    tensors = {entry[0]: _place(entry, first, cursor) for entry in entries}
    if len(tensors) < tensor_count:
        raise ModelError(f"{path} has a tensor twice; {_AGAIN}")
    return Header(path=path, values=metadata, tensors=tensors)


class _Cursor:
    """Walks over the bytes of a header and refuses to leave them."""

    def __init__(self, path: Path, data: memoryview) -> None:
        self.path = path
        self.data = data
        self.offset = len(MAGIC)

    def numbers(self, layout: str) -> tuple[int, ...]:
        size = struct.calcsize(layout)
        self.require(self.offset + size, "the header")
        self.offset += size
        return struct.unpack_from(layout, self.data, self.offset - size)

    def require(self, end: int, what: str) -> None:
        if end > len(self.data):
            raise ModelError(
                f"{self.path} has {len(self.data)} bytes, but {what} needs {end}: it is truncated or damaged, "
                "so fetch it again"
            )

    def text(self) -> str:
        (size,) = self.numbers("<Q")
        self.require(self.offset + size, "a string of the header")
        self.offset += size
        return self._decoded(self.offset - size, self.offset)

    def value(self) -> Value:
        kind = self._kind()
        if kind is GGUFValueType.STRING:
            return self.text()
        if kind is GGUFValueType.ARRAY:
            return self._array()
        value: bool | int | float = self.numbers("<" + _FORMATS[kind])[0]
        return value

    def entry(self) -> _Entry:
        """Name, shape, type and relative offset of a tensor."""
        name = self.text()
        (dimensions,) = self.numbers("<I")
        if not 1 <= dimensions <= _MOST_DIMENSIONS:
            raise ModelError(f"{self.path}: tensor {name!r} has {dimensions} dimensions, expected 1 to 4; {_AGAIN}")
        shape = self.numbers(f"<{dimensions}Q")[::-1]
        kind, relative = self.numbers("<IQ")
        return name, shape, kind, relative

    def _kind(self) -> GGUFValueType:
        (number,) = self.numbers("<I")
        try:
            return GGUFValueType(number)
        except ValueError as error:
            raise ModelError(f"{self.path}: metadata of unknown type {number} at {self.offset}; {_AGAIN}") from error

    def _array(self) -> Value:
        kind = self._kind()
        (count,) = self.numbers("<Q")
        if kind is GGUFValueType.STRING:
            return self._strings(count)
        if kind not in _FORMATS:
            raise ModelError(f"{self.path}: an array of arrays at {self.offset}, expected a flat one; {_AGAIN}")
        self.require(self.offset + count * struct.calcsize("<" + _FORMATS[kind]), "an array of the header")
        return list(self.numbers(f"<{count}{_FORMATS[kind]}"))

    def _strings(self, count: int) -> list[str]:
        self.require(self.offset + count * 8, "an array of the header")
        return [self.text() for _ in range(count)]

    def _decoded(self, start: int, end: int) -> str:
        try:
            return str(self.data[start:end], "utf-8")
        except UnicodeDecodeError as error:
            raise ModelError(f"{self.path}: the string at byte {start} is not UTF-8; {_AGAIN}") from error


def _place(entry: _Entry, first: int, cursor: _Cursor) -> TensorPlace:
    name, shape, number, relative = entry
    try:
        kind = GGMLQuantizationType(number)
    except ValueError as error:
        raise ModelError(f"{cursor.path}: tensor {name} has the unknown type {number}; use a bf16 file") from error
    block, block_bytes = GGML_QUANT_SIZES[kind]
    if shape[-1] % block:
        raise ModelError(
            f"{cursor.path}: tensor {name} has rows of {shape[-1]}, expected a multiple of {block}; {_AGAIN}"
        )
    start = first + relative
    end = start + math.prod(shape) // block * block_bytes
    cursor.require(end, f"tensor {name}")
    return TensorPlace(name=name, kind=kind, shape=shape, start=start, end=end)
