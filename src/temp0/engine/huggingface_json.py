"""Reads a JSON file of a model's directory.

The outcome is an object, or a ModelError that names the file.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NoReturn

from temp0.engine.file_fields import Fields
from temp0.errors import ModelError


def read_json(path: Path) -> Fields:
    """The object in a JSON file; ModelError where there is no file, or something else in it."""
    return json_fields(path, read_text(path))


def read_json_if_any(path: Path) -> Fields:
    """The same, with no fields where there is no such file."""
    return read_json(path) if path.exists() else Fields(path=path, values={})


def read_text(path: Path) -> str:
    """The text of a file; ModelError where it is absent or not UTF-8."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ModelError(
            f"{path} cannot be read: {error.strerror}; a model's directory needs config.json, tokenizer.json and "
            "its weights in safetensors"
        ) from error
    except UnicodeDecodeError as error:
        raise ModelError(f"{path} is not UTF-8 ({error}); fetch the model again") from error


def json_fields(path: Path, text: str) -> Fields:
    """The object that a file's text is; ModelError for anything else."""
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path} is not JSON ({error}); fetch the model again") from error
    if not isinstance(value, dict):
        raise ModelError(f"{path} holds no object but {text[:40]!r}; fetch the model again")
    return Fields(path=path, values=value)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")
