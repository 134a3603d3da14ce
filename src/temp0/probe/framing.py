"""How a streamed body is cut into events: by the event-stream rules, or otherwise where a dialect has it so.

The form is told by the body, not by what was asked for: some servers ignore `stream` and answer in one piece, others
stream unasked.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from temp0.probe.event_stream import EVENT_STREAM, Event, EventReader

_FIELD = re.compile(rb"(?:data|event|id|retry)?:")
_BLANKS = b"\xef\xbb\xbf \t\r\n"


class Reader(Protocol):
    """Bytes cut anywhere go in, whole events come out."""

    def feed(self, data: bytes) -> list[Event]:
        """The events that these bytes complete."""

    def end(self) -> list[Event]:
        """The events that only the end of the body completes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Framing:
    """One way of streaming: `begins` tells from the first bytes of a body and its type whether it is streamed so."""

    begins: Callable[[bytes, str], bool]
    reader: Callable[[], Reader]


def is_event_stream(body: bytes, content_type: str) -> bool:
    """Whether a body is a stream of events: it begins as one, or is called one and does not begin as JSON or HTML."""
    start = body[:256].lstrip(_BLANKS)
    if _FIELD.match(start):
        return True
    return content_type.lower().startswith(EVENT_STREAM) and not start.startswith((b"{", b"[", b"<"))


EVENTS = Framing(begins=is_event_stream, reader=EventReader)
