"""Reads the fields of a request body: typed, once, at the edge.

Whatever has the wrong type or range is refused with the field's path, what was seen and what was expected. A field
that is `null` counts as absent, as both SDKs and hand-written clients mean it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

from aiohttp import web

from temp0.engine.server.refusal import RefusedError

_SHOWN_CHARACTERS = 60


class Fields:
    """One JSON object of a body; `path` is where it stands, empty for the body itself."""

    def __init__(self, values: Mapping[str, object], *, path: str = "") -> None:
        self._values = values
        self._path = path

    def __contains__(self, name: str) -> bool:
        return self._values.get(name) is not None

    def raw(self, name: str) -> object:
        """The field as JSON gave it, or `None`."""
        return self._values.get(name)

    def path(self, name: str) -> str:
        """The field's full path: `messages[0].content`."""
        return f"{self._path}.{name}" if self._path else name

    def text(self, name: str) -> str | None:
        """A string that UTF-8 can carry, or `None`."""
        value = self.raw(name)
        return None if value is None else _text(value, self.path(name))

    def required_text(self, name: str) -> str:
        """A string that must be there."""
        value = self.text(name)
        if value is None:
            raise self.missing(name, "a string")
        return value

    def flag(self, name: str, *, default: bool = False) -> bool:
        """True or false, `default` where it is absent."""
        value = self.raw(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise _wrong(value, self.path(name), "true or false")
        return value

    def integer(self, name: str, *, low: int, high: int | None = None) -> int | None:
        """A whole number from `low` to `high`, both included, or `None`."""
        value = self.raw(name)
        expected = f"a whole number of at least {low}" if high is None else f"a whole number from {low} to {high}"
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool):
            raise _wrong(value, self.path(name), expected)
        if value < low or (high is not None and value > high):
            raise _wrong(value, self.path(name), expected)
        return value

    def number(self, name: str, *, low: float, high: float) -> float | None:
        """A finite number from `low` to `high`, both included, or `None`."""
        value = self.raw(name)
        expected = f"a number from {low:g} to {high:g}"
        if value is None:
            return None
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise _wrong(value, self.path(name), expected)
        if not low <= value <= high:
            raise _wrong(value, self.path(name), expected)
        return float(value)

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of non-empty strings, or one string alone; absent is no string at all."""
        value = self.raw(name)
        if value is None:
            return ()
        if isinstance(value, str):
            return (_filled(value, self.path(name)),)
        if not isinstance(value, list):
            raise _wrong(value, self.path(name), "a string or a list of strings")
        return tuple(_filled(item, f"{self.path(name)}[{index}]") for index, item in enumerate(value))

    def token_ids(self, name: str) -> tuple[int, ...]:
        """A list of whole numbers of at least 0 that must be there."""
        value = self.raw(name)
        if not isinstance(value, list):
            raise _wrong(value, self.path(name), "a list of token ids")
        for index, item in enumerate(value):
            if not isinstance(item, int) or isinstance(item, bool) or item < 0:
                raise _wrong(item, f"{self.path(name)}[{index}]", "a token id")
        return tuple(value)

    def object(self, name: str) -> Fields | None:
        """An object, or `None`."""
        value = self.raw(name)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise _wrong(value, self.path(name), "an object")
        return Fields(value, path=self.path(name))

    def objects(self, name: str) -> tuple[Fields, ...]:
        """A list of objects that must be there; it may be empty."""
        value = self.raw(name)
        if value is None:
            raise self.missing(name, "a list of objects")
        if not isinstance(value, list):
            raise _wrong(value, self.path(name), "a list of objects")
        for index, item in enumerate(value):
            if not isinstance(item, dict):
                raise _wrong(item, f"{self.path(name)}[{index}]", "an object")
        return tuple(Fields(item, path=f"{self.path(name)}[{index}]") for index, item in enumerate(value))

    def missing(self, name: str, expected: str) -> RefusedError:
        """The refusal for a required field that is absent."""
        return RefusedError(f"{self.path(name)} is missing, expected {expected}", field=self.path(name))


async def read_fields(request: web.Request) -> Fields:
    """The fields of a request's JSON body; refuses one that does not unpack or is not one JSON object."""
    try:
        return parsed(await request.read())
    except web.RequestPayloadError as error:
        raise RefusedError("the body cannot be unpacked as its headers say") from error


def parsed(body: bytes) -> Fields:
    """The fields of a JSON body; refuses what is not one JSON object."""
    try:
        value = json.loads(body, parse_constant=_refused_constant)
    except RecursionError as error:
        raise RefusedError("the body is JSON nested too deeply to be read") from error
    except ValueError as error:
        raise RefusedError(f"the body is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise RefusedError(f"the body is {_seen(value)}, expected a JSON object")
    return Fields(value)


def _refused_constant(name: str) -> object:
    raise ValueError(f"{name} is not a JSON number")


def _filled(value: object, path: str) -> str:
    text = _text(value, path)
    if not text:
        raise RefusedError(f"{path} is empty, expected at least one character", field=path)
    return text


def _text(value: object, path: str) -> str:
    if not isinstance(value, str):
        raise _wrong(value, path, "a string")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        message = f"{path} holds a lone surrogate at character {error.start}, which no tokenizer can read"
        raise RefusedError(message, field=path) from error
    return value


def _wrong(value: object, path: str, expected: str) -> RefusedError:
    return RefusedError(f"{path} is {_seen(value)}, expected {expected}", field=path)


def _seen(value: object) -> str:
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, float) and not math.isfinite(value):
        return "a number out of range"
    shown = json.dumps(value)
    return shown if len(shown) <= _SHOWN_CHARACTERS else f"{shown[:_SHOWN_CHARACTERS]}..."
