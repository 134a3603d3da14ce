"""Reads the event-stream format: bytes cut anywhere go in, whole events come out.

Source: https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream. How the bytes were cut
changes no event, and an event comes out with the very byte that completes it. An event without its final blank line
is discarded, as the standard has it: half an event is no news, whatever it seems to say, `[DONE]` included.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

EVENT_STREAM = "text/event-stream"
"""What such a body is called in Content-Type."""

_NAMED_EVENT = re.compile(rb"event: ([^\n]*)\ndata: ([^\n]*)")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event: its data, several lines of it joined by LF, and its name, `""` where the stream gives none.

    The data stays as bytes, where the standard would put U+FFFD for bytes that are no UTF-8: such an answer has to
    fail rather than pass for another text.
    """

    data: bytes
    name: str = ""


class EventReader:
    """The events of one stream, as its bytes come in. It takes no more memory than the longest event.

    Lines end with LF, CR or CRLF and with nothing else, so that U+2028 and U+0085 are text. They are cut as bytes,
    where no part of a character can look like a line end, and so a character may come in pieces.
    """

    def __init__(self) -> None:
        self._line = bytearray()  # what has come of the line that has no end yet
        self._is_first_line = True
        self._ended_with_cr = False
        self._data: list[bytes] = []
        self._name = b""

    def feed(self, data: bytes) -> list[Event]:
        """The events that these bytes complete."""
        data = self._with_plain_ends(data)
        first = data.find(b"\n\n")
        if first < 0:
            return self._line_by_line(data)
        # After a blank line nothing is pending: what lies between two of them is a whole event, usually of one line.
        last = data.rfind(b"\n\n")
        events = self._line_by_line(data[: first + 2])
        for block in data[first + 2 : last].split(b"\n\n") if last > first + 1 else ():
            if block.startswith(b"data: ") and b"\n" not in block:
                events.append(Event(data=block[6:]))
            elif named := _NAMED_EVENT.fullmatch(block):
                events.append(Event(data=named[2], name=named[1].decode("utf-8", "replace")))
            else:
                events += self._line_by_line(block + b"\n\n")
        return events + self._line_by_line(data[last + 2 :])

    def end(self) -> list[Event]:
        """Nothing: what has no blank line after it is no event."""
        return []

    def _with_plain_ends(self, data: bytes) -> bytes:
        """The bytes with LF for every line end."""
        if not data:
            return data
        if self._ended_with_cr:  # which ended its line already; an LF right after it is the rest of that end
            data = data.removeprefix(b"\n")
        self._ended_with_cr = data.endswith(b"\r")
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data

    def _line_by_line(self, data: bytes) -> list[Event]:
        return [event for line in self._lines(data) if (event := self._after(line)) is not None]

    def _lines(self, data: bytes) -> list[bytes]:
        """The lines that these bytes complete, without their ends."""
        if not data:
            return []
        first, *others = data.split(b"\n")
        self._line += first
        if not others:
            return []
        lines = [bytes(self._line), *others]
        self._line = bytearray(lines.pop())
        if self._is_first_line:
            self._is_first_line = False
            lines[0] = lines[0].removeprefix(_BYTE_ORDER_MARK)
        return lines

    def _after(self, line: bytes) -> Event | None:
        """The event that a line completes, or `None` where it only adds to one, or tells nothing of ours."""
        if line:
            field, _, value = line.partition(b":")
            if field == b"data":
                self._data.append(value.removeprefix(b" "))
            elif field == b"event":
                self._name = value.removeprefix(b" ")
            return None
        data, name = self._data, self._name
        self._data, self._name = [], b""
        return Event(data=b"\n".join(data), name=name.decode("utf-8", "replace")) if data else None
