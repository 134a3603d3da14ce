"""What a server says when it refuses, in any of the shapes that servers have for it."""

from __future__ import annotations

import json
from collections.abc import Mapping

from temp0.probe.dialect.field import told_object
from temp0.probe.dialect.reason import excerpt


def error_in(answer: Mapping[str, object]) -> str | None:
    """The error an answer carries, or `None`: `error` as an object or a text, at the top or beside a choice."""
    error = answer.get("error")
    if not error:
        return None
    return excerpt(_message(told_object(error)) or (error if isinstance(error, str) else json.dumps(error)))


def said(body: bytes) -> str:
    """What the body of a refusal says: its error, or its first 200 characters."""
    text = body.decode("utf-8", "replace")
    try:
        answer = told_object(json.loads(text))
    except (ValueError, RecursionError):
        return excerpt(text) or "nothing"
    return error_in(answer) or excerpt(_message(answer) or text)


def _message(answer: Mapping[str, object]) -> str | None:
    for field in ("message", "detail"):
        value = answer.get(field)
        if isinstance(value, str) and value:
            return value
    return None
