"""A streamed answer of Ollama's own API, gathered line by line.

Source: https://docs.ollama.com/api/streaming. Each line adds to the text, the thinking, the tool calls and the
logprobs; the last one, which says `done`, describes the answer too. An error after the first line is a line of its own
under a status of success.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from temp0.probe.dialect.error import error_in
from temp0.probe.dialect.field import list_at, object_at, text_at
from temp0.probe.dialect.partial import chunk_in, joined
from temp0.probe.dialect.plain_piece import plain_line
from temp0.probe.event_stream import Event
from temp0.probe.json_lines import JSON_LINES

_TEXTS = ("content", "thinking")
_ADDED = frozenset({"message", "response", "thinking", "tool_calls", "logprobs"})
_DONE = re.compile(rb'"done"\s*:\s*true')  # in a text its quotation marks would be escaped

LINES = replace(JSON_LINES, is_last=lambda event: bool(_DONE.search(event.data)))


class PartialOllama:
    """What the lines so far have told."""

    def __init__(self) -> None:
        self.error: str | None = None
        self.is_whole = False
        self._told: dict[str, object] = {}
        self._texts: dict[str, list[str]] = {name: [] for name in _TEXTS}
        self._calls: list[object] = []
        self._logprobs: list[object] = []
        self._has_message = False

    def add(self, event: Event) -> None:
        """Take one more line; raises `FieldError` for one that no answer can be made of."""
        if self.is_whole:
            return
        text = plain_line(event.data)
        if text is not None:
            self._has_message = True
            self._texts["content"].append(text)
        elif event.data.strip():
            self._extend(chunk_in(event))

    def payload(self) -> Mapping[str, object]:
        """The answer as it would have come unstreamed."""
        if not self._has_message:
            return self._told
        message: dict[str, object] = {name: joined(pieces) for name, pieces in self._texts.items()}
        return {**self._told, "message": {**message, "tool_calls": self._calls}}

    def _extend(self, chunk: Mapping[str, object]) -> None:
        self.error = self.error or error_in(chunk)
        if chunk.get("done") is True:
            self.is_whole = True
            self._told |= {name: value for name, value in chunk.items() if name not in _ADDED}
        logprobs = chunk.get("logprobs")
        if logprobs is not None:
            self._told.setdefault("logprobs", self._logprobs)
            self._logprobs += list_at(logprobs, "logprobs")
        message = message_in(chunk)
        if message is not None:
            self._append(message)

    def _append(self, message: Mapping[str, object]) -> None:
        self._has_message = True
        for name, pieces in self._texts.items():
            piece = message.get(name)
            if piece is not None:
                pieces.append(text_at(piece, f"message.{name}"))
        calls = message.get("tool_calls")
        self._calls += list_at(calls, "message.tool_calls") if calls is not None else ()


def message_in(answer: Mapping[str, object]) -> Mapping[str, object] | None:
    """The message in an answer or a line, also where `/api/generate` has its fields at the top; `None` without one.

    Raises:
        FieldError: The message is no object.

    """
    if answer.get("message") is not None:
        return object_at(answer.get("message"), "message")
    if "response" not in answer:
        return None
    return {"content": answer["response"]} | {name: answer.get(name) for name in ("thinking", "tool_calls")}
