r"""Reads JSON lines: bytes cut anywhere go in, one event comes out for each line.

Source: https://jsonlines.org. Lines end with LF, or CRLF, and with nothing else: JSON holds no raw line end inside a
string, and U+2028 there is text. Blank lines and a byte-order mark are passed over. A last line without its end counts
where it is whole JSON; half a line is no news, so that such a stream is known to be cut.
"""

from __future__ import annotations

import json

from temp0.probe.event_stream import Event
from temp0.probe.framing import Framing

_TYPES = ("application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BLANKS = b" \t\r\n"


class LineReader:
    """The lines of one body, as its bytes come in. It takes no more memory than the longest line."""

    def __init__(self) -> None:
        self._line = bytearray()  # what has come of the line that has no end yet
        self._is_first_line = True

    def feed(self, data: bytes) -> list[Event]:
        """The events that these bytes complete."""
        first, *others = data.split(b"\n")
        self._line += first
        if not others:
            return []
        lines = [self._without_mark(bytes(self._line)), *others]
        self._line = bytearray(lines.pop())
        return [Event(data=told) for line in lines if (told := line.strip(_BLANKS))]

    def end(self) -> list[Event]:
        """The last line where it has no end and is whole all the same."""
        line = self._without_mark(bytes(self._line)).strip(_BLANKS)
        self._line.clear()
        return [Event(data=line)] if _is_json(line) else []

    def _without_mark(self, line: bytes) -> bytes:
        mark = _BYTE_ORDER_MARK if self._is_first_line else b""
        self._is_first_line = False
        return line.removeprefix(mark)


def is_json_lines(body: bytes, content_type: str) -> bool:
    """Whether a body comes in lines: it is called so, or has more after a first line that is a whole object."""
    start = body[:256].removeprefix(_BYTE_ORDER_MARK).lstrip(_BLANKS)
    if content_type.lower().startswith(_TYPES):
        return not start.startswith(b"<")
    if not start.startswith(b"{"):
        return False
    begins = body.index(b"{")
    ends = body.find(b"\n", begins)
    return ends > 0 and bool(body[ends : ends + 256].strip(_BLANKS)) and _is_json(body[begins:ends])


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


JSON_LINES = Framing(begins=is_json_lines, reader=LineReader)
