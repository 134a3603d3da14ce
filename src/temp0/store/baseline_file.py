"""The baseline as a file in a repository: JSON that a person can review, the same bytes for the same baseline."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from temp0.core.baseline import Baseline, KnownEndpoint, KnownPrompt, KnownText
from temp0.errors import StoreError

SCHEMA, VERSION = "temp0/baseline", 1


def read_baseline(path: Path) -> Baseline | None:
    """The baseline in a file, or `None` where there is no such file.

    Raises StoreError, saying what to do, for a file that is no baseline or of another version.
    """
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise StoreError(
            f"the baseline {path} cannot be read ({error}); restore it, or delete it and make it anew with "
            "temp0 check --update"
        ) from None
    if not isinstance(told, dict) or told.get("schema") != SCHEMA:
        raise StoreError(f"{path} is no baseline of temp0: its schema is not {SCHEMA!r}")
    if told.get("version") != VERSION:
        raise StoreError(
            f"the baseline {path} has version {told.get('version')!r}, and this temp0 reads {VERSION}: make it anew "
            "with temp0 check --update, and review what changed"
        )
    try:
        return Baseline(endpoints=tuple(map(_endpoint, told["endpoints"])))
    except (KeyError, TypeError) as error:
        raise StoreError(f"the baseline {path} lacks a field or has one too many ({error}); restore it") from None


def write_baseline(path: Path, baseline: Baseline) -> None:
    """Write the file, whole or not at all. Raises StoreError where that cannot be."""
    told = {"schema": SCHEMA, "version": VERSION, **_without_none(asdict(baseline))}
    text = json.dumps(told, indent=1, ensure_ascii=True, allow_nan=False) + "\n"
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise StoreError(f"the baseline {path} cannot be written: {error.strerror}") from error


def _without_none(value: Any) -> Any:
    """The same value without fields that hold nothing."""
    if isinstance(value, dict):
        return {name: _without_none(each) for name, each in value.items() if each is not None}
    return [_without_none(each) for each in value] if isinstance(value, list | tuple) else value


def _endpoint(told: Mapping[str, Any]) -> KnownEndpoint:
    prompts = tuple(map(_prompt, told["prompts"]))
    return KnownEndpoint(**{**told, "conditions": tuple(told["conditions"]), "prompts": prompts})


def _prompt(told: Mapping[str, Any]) -> KnownPrompt:
    return KnownPrompt(**{**told, "texts": tuple(KnownText(**text) for text in told["texts"])})
