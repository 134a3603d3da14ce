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
_LAST_NAMES = frozenset({"message_stop", "response.completed", "response.incomplete", "response.failed"})
BLANKS = b"\xef\xbb\xbf \t\r\n"


class Reader(Protocol):
    """Bytes cut anywhere go in, whole events come out."""

    def feed(self, data: bytes) -> list[Event]:
        """The events that these bytes complete."""

    def end(self) -> list[Event]:
        """The events that only the end of the body completes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Framing:
    """One way of streaming.

    `begins` tells from the first bytes of a body and its type whether it is streamed so; `is_last` of an event whether
    nothing is told after it.
    """

    begins: Callable[[bytes, str], bool]
    reader: Callable[[], Reader]
    is_last: Callable[[Event], bool] = lambda _: False


def is_event_stream(body: bytes, content_type: str) -> bool:
    """Whether a body is a stream of events: it begins as one, or is called one and does not begin as JSON or HTML."""
    start = body[:256].lstrip(BLANKS)
    if _FIELD.match(start):
        return True
    return content_type.lower().startswith(EVENT_STREAM) and not start.startswith((b"{", b"[", b"<"))


def is_last_event(event: Event) -> bool:
    """Whether an event is the one that a stream ends with: `[DONE]`, or one so named."""
    return event.name in _LAST_NAMES or event.data.strip() == b"[DONE]"


EVENTS = Framing(begins=is_event_stream, reader=EventReader, is_last=is_last_event)
