"""Reads a streamed answer of the openai-chat dialect: its text, its token counts, and when its tokens came.

Source: https://platform.openai.com/docs/api-reference/chat-streaming. An event counts from the moment at which its
line was complete. It reads any bytes without raising; what is no streamed answer is a failure.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from temp0.core.run import Failure, Usage
from temp0.probe.dialect.error import error_in
from temp0.probe.dialect.field import told_count, told_object
from temp0.probe.dialect.reason import CUT, ERROR_IN_200, MALFORMED, excerpt
from temp0.probe.stream import Piece, joined

_END = b"[DONE]"


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamedAnswer:
    """A whole answer. `first_s` and `last_s` are seconds from sending the request.

    The first token is the first event with something to read in it, text or reasoning; the last one comes with the
    event that says why the answer ended, since the last tokens may have no text. `events` counts those with
    something to read, which is what is left to count where `usage` tells nothing.
    """

    text: str
    first_s: float
    last_s: float
    events: int
    usage: Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """What the events so far have told."""

    text: str = ""
    first_s: float | None = None
    last_s: float | None = None
    events: int = 0
    usage: Usage = field(default_factory=Usage)
    error: str | None = None


def streamed_answer(pieces: Sequence[Piece]) -> StreamedAnswer | Failure:
    """The answer that came in these pieces, or the failure that it is."""
    reading, seen = _Reading(), 0
    for at_s, data in _events(pieces):
        if data == _END:
            break
        try:
            event = told_object(json.loads(data))
        except (ValueError, RecursionError):
            return Failure(
                reason=MALFORMED, message=f"an event is not JSON: {excerpt(data.decode('utf-8', 'replace'))}"
            )
        seen += 1
        reading = _with_event(reading, event, at_s)
    if reading.error is not None:
        return Failure(reason=ERROR_IN_200, message=reading.error)
    if not seen:
        return _unstreamed(pieces)
    if reading.last_s is None:
        return Failure(reason=CUT, message="the stream ended before the answer did")
    first_s = reading.last_s if reading.first_s is None else reading.first_s
    return StreamedAnswer(
        text=reading.text, first_s=first_s, last_s=reading.last_s, events=reading.events, usage=reading.usage
    )


def _events(pieces: Sequence[Piece]) -> Iterator[tuple[float, bytes]]:
    """The data of each event, with the moment at which its line was complete."""
    rest = b""
    for piece in pieces:
        *lines, rest = (rest + piece.data).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                yield piece.at_s, line.removeprefix(b"data:").strip()
    if rest.startswith(b"data:"):
        yield pieces[-1].at_s, rest.removeprefix(b"data:").strip()


def _with_event(reading: _Reading, event: Mapping[str, object], at_s: float) -> _Reading:
    if error := error_in(event):
        return replace(reading, error=reading.error or error)
    if usage := told_object(event.get("usage")):
        reading = replace(reading, usage=_usage(usage))
    choices = event.get("choices")
    choice = told_object(choices[0]) if isinstance(choices, list) and choices else {}
    text, is_read = _content(told_object(choice.get("delta")))
    if is_read:
        first_s = at_s if reading.first_s is None else reading.first_s
        reading = replace(reading, text=reading.text + text, first_s=first_s, events=reading.events + 1)
    return replace(reading, last_s=at_s) if choice.get("finish_reason") is not None else reading


def _content(delta: Mapping[str, object]) -> tuple[str, bool]:
    """The text of an event, and whether there is anything to read in it, reasoning included."""
    text = delta.get("content")
    if isinstance(text, str) and text:
        return text, True
    return "", any(bool(delta.get(field)) for field in ("reasoning_content", "reasoning"))


def _usage(usage: Mapping[str, object]) -> Usage:
    return Usage(
        prompt=told_count(usage.get("prompt_tokens")),
        completion=told_count(usage.get("completion_tokens")),
        cached=told_count(told_object(usage.get("prompt_tokens_details")).get("cached_tokens")),
    )


def _unstreamed(pieces: Sequence[Piece]) -> Failure:
    seen = excerpt(joined(pieces).decode("utf-8", "replace")) or "nothing"
    return Failure(reason=MALFORMED, message=f"a streamed answer was asked for, and no event came but: {seen}")
