"""A server's list of models: their names, and who the server says it is as their owner.

A list of any shape is read: what is no list has no names and no owners.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from temp0.probe.dialect.field import told_object


def model_names(body: bytes) -> tuple[str, ...]:
    """The names of the models: by `id` in OpenAI's shape, by `model` or `name` in Ollama's."""
    told = [entry.get("id") or entry.get("model") or entry.get("name") for entry in _entries(body)]
    return tuple(name for name in told if isinstance(name, str))


def owners(body: bytes, model: str | None) -> frozenset[str]:
    """Who owns the model, or every model where ours is not in the list under that name."""
    entries = _entries(body)
    ours = [entry for entry in entries if entry.get("id") == model] or entries
    return frozenset(str(entry.get("owned_by")) for entry in ours)


def _entries(body: bytes) -> list[Mapping[str, object]]:
    try:
        answer = told_object(json.loads(body))
    except (ValueError, RecursionError):
        return []
    listed = answer.get("data") if "data" in answer else answer.get("models")
    return [told_object(entry) for entry in listed] if isinstance(listed, list) else []
