"""What a server says when it refuses, in any of the shapes that servers have for it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

from temp0.core.run import Failure
from temp0.probe.dialect.field import told_object
from temp0.probe.dialect.reason import ERROR_IN_200, excerpt

_NOT_UNDERSTOOD = frozenset({400, 422})
_READ_BYTES = 2**16  # of a refusal, which says what it has to say within them
_OF_A_NAME = (
    r"unsupported|not support|unknown|unrecogni[sz]ed|unexpected|not allowed|not permitted|not available|forbidden|"
    r"deprecated|instead|additional propert"
)
_OF_A_VALUE = r"invalid(?!_request)|must|only|cannot|does not|not valid|greater|between"
_PASSING = re.compile(
    r"overloaded|rate.?limit|too many requests|temporar(?:y|ily)|try again|at capacity", re.IGNORECASE
)
_LASTING = re.compile(r"insufficient.quota|exceeded your current quota|billing|credit balance", re.IGNORECASE)
_PASSING_STATUSES = frozenset({408, 425, 429, 503, 529})


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
    kind = told_object(error).get("type")
    if isinstance(kind, str) and _PASSING.search(kind) and not _PASSING.search(words):
        words = f"{words} ({kind})"
    return excerpt(words) or "an error that says nothing"


def said(body: bytes) -> str:
    """What the body of a refusal says: its error, or its first 200 characters."""
    text = body.decode("utf-8", "replace")
    try:
        answer = told_object(json.loads(text))
        return error_in(answer) or excerpt(_message(answer) or text) or "nothing"
    except (ValueError, RecursionError):
        return excerpt(text) or "nothing"


def named_fields(refusal: Failure, fields: Iterable[str]) -> tuple[str, ...]:
    """Those of the fields that a server's refusal names, where it did not understand the request (400 or 422)."""
    if refusal.status not in _NOT_UNDERSTOOD:
        return ()
    return tuple(field for field in fields if re.search(rf"(?<!\w){re.escape(field)}(?!\w)", refusal.message))


def refused_fields(status: int, body: bytes, fields: Iterable[str], *, by_name: bool = False) -> tuple[str, ...]:
    """Those of the fields that a refusal (400 or 422) says it does not take, in words near the name of each.

    `by_name`: not known at all, rather than of a value that will not do. A field that stands there as a name with its
    value is what we sent, repeated, and says nothing.
    """
    if status not in _NOT_UNDERSTOOD:
        return ()
    text = body[:_READ_BYTES].decode("utf-8", "replace")
    words = _OF_A_NAME if by_name else f"{_OF_A_NAME}|{_OF_A_VALUE}"
    return tuple(field for field in fields if _stands_near(text, re.escape(field), words))


def _stands_near(text: str, name: str, words: str) -> bool:
    field = rf"(?<!\w){name}(?!\w)(?!\\?[\"']?\s*:\s*(?:[\"'\[{{\d-]|true|false|null))"
    near = rf"(?:{words}).{{0,60}}?{field}|{field}.{{0,60}}?(?:{words})"
    return bool(re.search(near, text, re.IGNORECASE | re.DOTALL))


def may_pass(failure: Failure) -> bool:
    """Whether a failure is one of the moment: a limit on the rate, or a server that has too much to do."""
    if _LASTING.search(failure.message):
        return False
    return failure.status in _PASSING_STATUSES or (
        failure.reason == ERROR_IN_200 and bool(_PASSING.search(failure.message))
    )


def _message(answer: Mapping[str, object]) -> str | None:
    for field in ("message", "detail"):
        value = answer.get(field)
        if isinstance(value, str) and value:
            return value
    return None
