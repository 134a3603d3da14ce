"""Typed reading of JSON fields: an essential one of a wrong type is an error that quotes it.

What decides the text is essential. What only describes it (ids, counts, times) is not: where it cannot be read it
counts as not told, since an odd time stamp must not void an answer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import cast

from temp0.probe.dialect.reason import excerpt, printable

_LARGEST_COUNT = 2**63 - 1  # what an SQL integer can hold


class FieldError(ValueError):
    """An essential field that is not of its type; `completion` turns it into a failure."""


def object_at(value: object, field: str) -> Mapping[str, object]:
    """The value as a JSON object."""
    if isinstance(value, dict):
        return value
    raise FieldError(_message(field, "an object", value))


def list_at(value: object, field: str) -> Sequence[object]:
    """The value as a JSON array."""
    if isinstance(value, list):
        return value
    raise FieldError(_message(field, "an array", value))


def text_at(value: object, field: str) -> str:
    """The value as a text, code point by code point."""
    if isinstance(value, str):
        return value
    raise FieldError(_message(field, "a string", value))


def name_at(value: object, field: str) -> str | None:
    """The value as a short name such as a finish reason, `None` where it is null."""
    return None if value is None else printable(text_at(value, field))


def names(answer: Mapping[str, object]) -> str:
    """The names of an answer's fields, as many as an excerpt holds."""
    return excerpt(str([*answer]))


def told_object(value: object) -> Mapping[str, object]:
    """The value as an object, an empty one where it is none."""
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}


def told_name(value: object) -> str | None:
    """The value as a short name, `None` where it is no string."""
    return printable(value) if isinstance(value, str) else None


def told_count(value: object) -> int | None:
    """The value as a count or a time in whole seconds, `None` where it is no such number."""
    if not isinstance(value, int | float) or told_number(value) is None:
        return None
    return int(value) if 0 <= value <= _LARGEST_COUNT else None


def told_number(value: object) -> float | None:
    """The value as a finite number, `None` where it is none; true and false are none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _message(field: str, expected: str, value: object) -> str:
    return f"{field} is {excerpt(repr(value))}, expected {expected}"
