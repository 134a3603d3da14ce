"""Writes a GGUF file's weights again as BF16 or F16, which is what the peers are given.

Nothing else of the file changes: metadata, tokenizer, the order of tensors and of rows (Q and K stay permuted as they
are), and vectors, which are kept in F32 as llama.cpp's own converter does.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import gguf
import numpy as np

Format = Literal["BF16", "F16"]

_FILE_TYPES = {"BF16": gguf.LlamaFileType.MOSTLY_BF16, "F16": gguf.LlamaFileType.MOSTLY_F16}
# The writer sets these itself: the architecture, and what no longer holds of the copy.
_NOT_COPIED = frozenset({"general.architecture", "general.file_type", "general.quantization_version"})


def write_copy(source: Path, target: Path, stored_as: Format) -> None:
    """Write `source` to `target` with every matrix as BF16 or F16, rounded to nearest even.

    BF16 holds what temp0's engine computes with, since that rounds its weights to bf16 too. F16 keeps more bits of a
    dequantised weight, so those values differ from ours in the last place of bf16.
    """
    unfinished = target.with_suffix(".unfinished")
    reader = gguf.GGUFReader(source)
    writer = gguf.GGUFWriter(unfinished, _text(reader, "general.architecture"))
    _copy_metadata(reader, writer)
    writer.add_file_type(_FILE_TYPES[stored_as])
    for tensor in reader.tensors:
        _add(writer, tensor, gguf.GGMLQuantizationType[stored_as])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    unfinished.replace(target)


def kept_copy(source: Path, folder: Path, stored_as: Format) -> Path:
    """The copy in `folder`, written there unless one newer than `source` is there already."""
    name = source.name.split(".")[0]
    target = folder / f"{name}-{stored_as}.gguf"
    if not target.exists() or target.stat().st_mtime < source.stat().st_mtime:
        folder.mkdir(parents=True, exist_ok=True)
        write_copy(source, target, stored_as)
    return target


def _copy_metadata(reader: gguf.GGUFReader, writer: gguf.GGUFWriter) -> None:
    for name, field in reader.fields.items():
        if name.startswith("GGUF.") or name in _NOT_COPIED:
            continue
        kind = field.types[0]
        parts = field.types[-1] if kind is gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(name, field.contents(), kind, parts)


def _add(writer: gguf.GGUFWriter, tensor: gguf.ReaderTensor, matrix: gguf.GGMLQuantizationType) -> None:
    values = np.ascontiguousarray(gguf.dequantize(tensor.data, tensor.tensor_type), np.float32)
    kind = matrix if values.ndim > 1 else gguf.GGMLQuantizationType.F32
    writer.add_tensor(tensor.name, gguf.quantize(values, kind), raw_dtype=kind)


def _text(reader: gguf.GGUFReader, name: str) -> str:
    return str(reader.fields[name].contents())
