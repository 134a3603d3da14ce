"""What a server says when it refuses, in any of the shapes that servers have for it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from temp0.core.run import Failure
from temp0.probe.dialect.field import told_object
from temp0.probe.dialect.reason import excerpt

_NOT_UNDERSTOOD = frozenset({400, 422})


def error_in(answer: Mapping[str, object]) -> str | None:
    """The error an answer carries, or `None`.

    It is `error` as an object or a text, at the top or beside a choice, or all of an answer that calls itself one.
    """
    error = answer.get("error")
    if not error and "error" in (answer.get("object"), answer.get("type")):
        error = answer
    if not error:
        return None
    words = _message(told_object(error)) or (error if isinstance(error, str) else json.dumps(error))
    return excerpt(words) or "an error that says nothing"


def said(body: bytes) -> str:
    """What the body of a refusal says: its error, or its first 200 characters."""
    text = body.decode("utf-8", "replace")
    try:
        answer = told_object(json.loads(text))
    except (ValueError, RecursionError):
        return excerpt(text) or "nothing"
    return error_in(answer) or excerpt(_message(answer) or text)


def named_fields(refusal: Failure, fields: Iterable[str]) -> tuple[str, ...]:
    """Those of the fields that a server's refusal names, where it did not understand the request (400 or 422)."""
    return tuple(field for field in fields if refusal.status in _NOT_UNDERSTOOD and field in refusal.message)


def _message(answer: Mapping[str, object]) -> str | None:
    for field in ("message", "detail"):
        value = answer.get(field)
        if isinstance(value, str) and value:
            return value
    return None
