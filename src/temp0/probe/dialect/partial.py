"""A streamed answer as far as it has come: what the dialects share in reading one.

A stream is gathered into the answer that would have come unstreamed, and that is read by the dialect's one reader, so
that the same answer gives the same record either way. Text that cannot be read is an error, never passed over: an
answer with a hole in it would look like a fork.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Protocol

from temp0.probe.dialect.field import FieldError, object_at
from temp0.probe.dialect.reason import MASK, excerpt
from temp0.probe.event_stream import Event
from temp0.probe.json_value import json_value

DONE = b"[DONE]"
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


class PartialAnswer(Protocol):
    """What the events so far have told."""

    @property
    def is_whole(self) -> bool:
        """Whether the stream has said that the answer is complete."""

    @property
    def error(self) -> str | None:
        """The first error that stood in the stream, in the server's words."""

    def add(self, event: Event) -> None:
        """Take one more event; those after the end are passed over.

        Raises:
            FieldError: The event holds what no answer of the dialect can be made of.

        """

    def payload(self) -> Mapping[str, object]:
        """The answer as it would have come unstreamed."""


def chunk_in(event: Event) -> Mapping[str, object]:
    """The JSON object that an event carries.

    Raises:
        FieldError: It carries something else.

    """
    try:
        value = json_value(event.data)
    except (ValueError, RecursionError):
        raise FieldError(f"an event is not JSON: {excerpt(event.data.decode('utf-8', 'replace'))}") from None
    return value if isinstance(value, dict) else object_at(value, "an event")


def joined(pieces: Iterable[str]) -> str:
    r"""The text that came in pieces, a surrogate pair that was cut in two put together again.

    Joining alone would leave two lone surrogates, where an unstreamed answer has one character.

    >>> joined(["\ud83c", "\udf78"])
    '🍸'
    """
    text = "".join(pieces)
    return text if text.isascii() else _PAIR.sub(_character, text)


def spells(said: str, whole: str) -> bool:
    """Whether what came in pieces is the whole text; where a key was taken out of that, it may have come in pieces.

    >>> spells("the key is sk-1234!", "the key is [key]!"), spells("the key is", "the key is [key]!")
    (True, False)
    """
    first, *others = whole.split(MASK)
    if not others or said == whole:
        return said == whole
    at = len(first)
    for part in others[:-1]:
        found = said.find(part, at + 1)
        if found < 0:
            return False
        at = found + len(part)
    return said.startswith(first) and said.endswith(others[-1]) and len(said) - len(others[-1]) > at


def _character(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le")
