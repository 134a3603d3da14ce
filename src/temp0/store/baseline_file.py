"""The baseline as a file in a repository: JSON that a person can review, the same bytes for the same baseline."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import msgspec

from temp0.core.baseline import Baseline, KnownEndpoint, KnownPrompt, KnownText
from temp0.errors import StoreError

SCHEMA, VERSION = "temp0/baseline", 1
_FIELDS = {"schema", "version"} | {
    field.name for kind in (Baseline, KnownEndpoint, KnownPrompt, KnownText) for field in fields(kind)
}
_MERGING = ("<<<<<<<", "=======", ">>>>>>>")
_AGAIN = "delete it and make it anew with temp0 check --update, and review what changed"


def read_baseline(path: Path) -> Baseline | None:
    """The baseline in a file, or `None` where there is no such file.

    Raises StoreError, saying what to do, for a file that is no baseline or of another version.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise StoreError(f"the baseline {path} cannot be read: {error}") from None
    if any(line.startswith(_MERGING) for line in text.splitlines()):
        raise StoreError(f"the baseline {path} holds the marks of a merge conflict; {_AGAIN}")
    try:
        told = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise StoreError(f"the baseline {path} is no JSON ({error}); restore it, or {_AGAIN}") from None
    if not isinstance(told, dict) or told.get("schema") != SCHEMA:
        raise StoreError(f"{path} is no baseline of temp0: its schema is not {SCHEMA!r}")
    if told.get("version") != VERSION:
        raise StoreError(
            f"the baseline {path} has version {told.get('version')!r}, and this temp0 reads {VERSION}; {_AGAIN}"
        )
    try:
        return _baseline(told)
    except ValueError as error:  # msgspec's own errors are of this kind
        raise StoreError(f"the baseline {path} is damaged: {error}; restore it, or {_AGAIN}") from None


def write_baseline(path: Path, baseline: Baseline) -> None:
    """Write the file, whole or not at all. Raises StoreError where that cannot be."""
    told = {"schema": SCHEMA, "version": VERSION, "endpoints": _held(asdict(baseline)["endpoints"])}
    text = json.dumps(told, indent=1, ensure_ascii=True, allow_nan=False) + "\n"
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise StoreError(f"the baseline {path} cannot be written: {error.strerror}") from error


def _held(value: Any) -> Any:
    """The same value without fields that hold nothing."""
    if isinstance(value, dict):
        return {name: _held(each) for name, each in value.items() if each is not None and each != ()}
    return [_held(each) for each in value] if isinstance(value, list | tuple) else value


def _baseline(told: Mapping[str, Any]) -> Baseline:
    """Raises ValueError, saying which part cannot be right."""
    if unknown := [name for name in _names(told) if name not in _FIELDS]:
        raise ValueError(f"there is no field {unknown[0]!r}")
    if "endpoints" not in told:
        raise ValueError("it lacks the field 'endpoints'")
    baseline = msgspec.convert({"endpoints": told["endpoints"]}, Baseline)
    _check_once([endpoint.name for endpoint in baseline.endpoints], "endpoint")
    for endpoint in baseline.endpoints:
        _check_once([prompt.id for prompt in endpoint.prompts], f"in endpoint {endpoint.name!r} prompt")
        if bare := next((prompt.id for prompt in endpoint.prompts if not prompt.texts), None):
            raise ValueError(f"in endpoint {endpoint.name!r} prompt {bare!r} has no text")
    return baseline


def _names(value: object) -> Iterator[str]:
    """Every name in a JSON value, however deep."""
    if isinstance(value, dict):
        yield from value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _names(inner)


def _check_once(names: Sequence[str], what: str) -> None:
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"{what} {twice!r} stands there twice, as after a merge")
