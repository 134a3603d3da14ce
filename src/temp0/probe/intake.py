"""One body as it comes: read event by event where it is streamed, gathered where it is one document.

A stream takes no more memory than what it tells and its longest event, unless its raw bytes are kept. How its bytes
were cut changes nothing of what is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from temp0.core.run import Completion, Failure
from temp0.probe.dialect import Dialect
from temp0.probe.dialect.dialect import UNREADABLE, Headers, malformed
from temp0.probe.dialect.partial import PartialAnswer
from temp0.probe.event_stream import Event
from temp0.probe.framing import BLANKS, Reader

LARGEST_BYTES = 64 * 2**20
"""Of a document, of one event, of what a stream tells, and of raw bytes that are kept: no honest answer has more."""

_HEAD_BYTES = 64 * 2**10  # of a body, within which a stream is known while it comes; a later one is known at its end


class Intake:
    """What has come of one body, decompressed, and when. Streams are known only where a `dialect` says how they look.

    `redact` takes secrets out of each event before it is read. Times are seconds from sending the request.
    """

    def __init__(
        self,
        dialect: Dialect | None = None,
        *,
        redact: Callable[[bytes], bytes] | None = None,
        keeps_raw: bool = False,
    ) -> None:
        self.data = bytearray()  # the document, or the raw bytes where they are kept
        self.size_bytes = 0
        self.first_byte_s: float | None = None
        self.last_byte_s = 0.0
        self.answer: PartialAnswer | None = None
        self.is_over = False  # whether the last event of a stream has come, after which nothing is told
        self._dialect = dialect
        self._redact = redact
        self._keeps_raw = keeps_raw
        self._content_type = ""
        self._may_stream = False
        self._reader: Reader | None = None
        self._fault: Failure | None = None
        self._seen_bytes = 0  # of the head, which need not be looked at again
        self._event_bytes = 0  # since the last event
        self._weighed_at_bytes = LARGEST_BYTES

    def begin(self, status: int, content_type: str) -> None:
        """The headers have come; only an answer is streamed, never a refusal."""
        self._content_type = content_type
        self._may_stream = self._dialect is not None and 200 <= status < 300

    @property
    def has_told_all(self) -> bool:
        """Whether a stream has said that its answer is whole, or what went wrong; a count may still follow."""
        return self.answer is not None and (self.answer.is_whole or self.answer.error is not None)

    def take(self, piece: bytes, at_s: float) -> bool:
        """Add a piece; whether there is room for more."""
        if self.first_byte_s is None:
            self.first_byte_s = at_s
        self.last_byte_s = at_s
        self.size_bytes += len(piece)
        if self._reader is None or self._keeps_raw:
            self.data += piece
        if self._reader is None and not self._is_stream():
            return len(self.data) <= LARGEST_BYTES
        self._read(self._begun() if self._reader is None else piece)
        return self._has_room()

    def end(self) -> None:
        """No more will come."""
        if self._reader is None and self._may_stream and self._begins(bytes(self.data)):
            self._read(self._begun())
        if self._reader is not None:
            self._add(self._reader.end())

    def streamed(self, headers: Headers) -> Completion | Failure | None:
        """What a stream that has ended came to; `None` where the body is one document."""
        if self.answer is None or self._dialect is None:
            return None
        return self._fault or self._dialect.gathered(self.answer, headers)

    def _begins(self, head: bytes) -> bool:
        return self._dialect is not None and self._dialect.framing.begins(head, self._content_type)

    def _is_stream(self) -> bool:
        """Whether what has come is enough to know a stream: a first byte that says something, and what follows."""
        if not self._may_stream or self._seen_bytes > _HEAD_BYTES:
            return False
        self._seen_bytes = len(self.data)
        return bool(self.data[:_HEAD_BYTES].strip(BLANKS)) and self._begins(bytes(self.data))

    def _begun(self) -> bytes:
        """Begin to read events; what has come of them so far."""
        assert self._dialect is not None
        self.answer, self._reader = self._dialect.partial(), self._dialect.framing.reader()
        head = bytes(self.data)
        if not self._keeps_raw:
            self.data.clear()
        return head

    def _read(self, piece: bytes) -> None:
        assert self._reader is not None
        self._event_bytes += len(piece)
        if events := self._reader.feed(piece):
            self._event_bytes = 0
            self._add(events)

    def _add(self, events: Sequence[Event]) -> None:
        """Take events, up to one that no answer can be made of: what follows it is let pass."""
        if self.answer is None or self._fault:
            return
        try:
            for event in events if self._redact is None else map(self._redacted, events):
                self.answer.add(event)
        except UNREADABLE as error:
            self._fault = malformed(error)
        if self.answer.is_whole and self._dialect is not None:
            self.is_over = self.is_over or any(map(self._dialect.framing.is_last, events))

    def _redacted(self, event: Event) -> Event:
        assert self._redact is not None
        data, name = self._redact(event.data), event.name
        if name:
            name = self._redact(name.encode()).decode()
        return event if (data, name) == (event.data, event.name) else replace(event, data=data, name=name)

    def _has_room(self) -> bool:
        if self._event_bytes > LARGEST_BYTES or len(self.data) > LARGEST_BYTES:
            return False
        if self.size_bytes < self._weighed_at_bytes or self.answer is None or self._fault:
            return True
        self._weighed_at_bytes = self.size_bytes + LARGEST_BYTES
        try:
            return _weight(self.answer.payload()) <= LARGEST_BYTES
        except UNREADABLE:
            return True  # which is said when the stream has ended


def _weight(value: object) -> int:
    """The characters and values in a JSON value, which is what it takes of memory, roughly."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        return sum(map(_weight, value.values()))
    return sum(map(_weight, value)) if isinstance(value, Sequence) else 1
