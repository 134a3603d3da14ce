"""Finds out what form a model's weights are in, and reads them.

The same numbers give the same Checkpoint, whatever the form.
"""

from __future__ import annotations

from pathlib import Path

from temp0.engine.checkpoint import Checkpoint
from temp0.engine.gguf_file import read_gguf
from temp0.engine.huggingface_directory import read_huggingface
from temp0.engine.huggingface_tensors import weight_files
from temp0.errors import ModelError

_DIRECTORY_FILES = (".safetensors", ".json")


def read_checkpoint(path: Path) -> Checkpoint:
    """The model in a GGUF file or in a Hugging Face directory, its weights rounded to bf16.

    Raises ModelError, which says what was seen, what was expected and what to do.
    """
    if path.is_dir():
        return read_huggingface(path)
    if not path.exists():
        raise ModelError(f"{path} does not exist, expected a GGUF file or a Hugging Face directory")
    if path.suffix in _DIRECTORY_FILES:
        raise ModelError(f"{path} is one file of a Hugging Face directory; give the directory, {path.parent}")
    return read_gguf(path)


def identifying_files(path: Path) -> list[Path]:
    """The files that decide which token comes next: the GGUF file, or config, tokenizer and safetensors, in order."""
    if not path.is_dir():
        return [path]
    return [path / "config.json", path / "tokenizer.json", *weight_files(path)]
