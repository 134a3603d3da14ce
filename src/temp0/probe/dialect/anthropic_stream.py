"""A streamed answer of the anthropic dialect, gathered event by event.

Source: https://platform.claude.com/docs/en/build-with-claude/streaming. A message is opened, its blocks are opened,
added to and closed, and at last it says why it ended. Events and deltas of other kinds (pings, signatures, citations)
add nothing. The answer is whole once it has said why it ended, or that it stops; not where its opening left the reason
open and none came. It may lack its opening: llama.cpp leaves it out where the first token is a part of a character, and
the text is whole without it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from temp0.probe.dialect.error import error_in, said
from temp0.probe.dialect.field import FieldError, list_at, object_at, text_at, told_count, told_object
from temp0.probe.dialect.partial import DONE, chunk_in, joined
from temp0.probe.dialect.plain_piece import plain_delta
from temp0.probe.event_stream import Event

_PIECES = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Block:
    """One block of the content: as it was opened, and what was added to its text, thinking or input since."""

    opened: Mapping[str, object]
    added: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in _PIECES.values()})

    def whole(self) -> Mapping[str, object]:
        grown = {name: joined((_start(self.opened, name), *pieces)) for name, pieces in self.added.items() if pieces}
        written = grown.pop("partial_json", "")  # the whole input, in place of the empty one it was opened with
        return {**self.opened, **grown} | ({"input": _input(written)} if written else {})


class PartialMessage:
    """What the events so far have told."""

    def __init__(self) -> None:
        self.error: str | None = None
        self._message: dict[str, object] = {}
        self._blocks: dict[int | None, _Block] = {}
        self._usage: dict[str, object] = {}
        self._is_done = False

    @property
    def is_whole(self) -> bool:
        """Whether the message has said why it ended, or that it stops and left nothing open."""
        reason = self._message.get("stop_reason", "")
        return bool(reason) or (self._is_done and reason is not None)

    def add(self, event: Event) -> None:
        """Take one more event; raises `FieldError` for one that no answer can be made of."""
        if self._is_done:
            return
        if event.name == "error":
            self.error = self.error or said(event.data.strip())
        elif (plain := plain_delta(event.data)) is not None and plain[0] in self._blocks:
            self._blocks[plain[0]].added["text"].append(plain[1])
        elif event.data.strip() not in {b"", DONE}:  # DONE is another dialect's end, which some proxies add
            self._extend(chunk_in(event), event.name)

    def payload(self) -> Mapping[str, object]:
        """The answer as it would have come unstreamed."""
        content = [block.whole() for block in self._blocks.values()]
        return {**self._message, "usage": self._usage} | ({"content": content} if content else {})

    def _extend(self, chunk: Mapping[str, object], name: str) -> None:
        self.error = self.error or error_in(chunk)
        kind = chunk.get("type") or name
        if kind == "message_start":
            self._open(object_at(chunk.get("message"), "message"))
        elif kind == "content_block_start":
            block = object_at(chunk.get("content_block"), "content_block")
            self._blocks[told_count(chunk.get("index"))] = _Block(opened=block)
        elif kind == "content_block_delta":
            self._append(told_count(chunk.get("index")), object_at(chunk.get("delta"), "delta"))
        elif kind == "message_delta":
            self._close(chunk)
        elif kind == "message_stop":
            self._is_done = True

    def _open(self, message: Mapping[str, object]) -> None:
        self._message = {**message, **self._message}
        self._count(message)
        content = message.get("content")
        for place, block in enumerate(list_at(content, "message.content") if content is not None else ()):
            self._blocks[place] = _Block(opened=object_at(block, "message.content[]"))

    def _append(self, index: int | None, delta: Mapping[str, object]) -> None:
        name = _PIECES.get(str(delta.get("type")))
        if name is None:
            return
        if index not in self._blocks:
            raise FieldError(f"a {name} is added to content block {index}, which was not opened")
        self._blocks[index].added[name].append(text_at(delta.get(name), f"delta.{name}"))

    def _close(self, chunk: Mapping[str, object]) -> None:
        """The reason why the message ended; the counts that come with it are of the whole message."""
        self._count(chunk)
        reason = told_object(chunk.get("delta")).get("stop_reason")
        if reason is not None:
            self._message["stop_reason"] = reason

    def _count(self, told: Mapping[str, object]) -> None:
        counts = told_object(told.get("usage"))
        self._usage |= {name: count for name, count in counts.items() if count is not None}


def _input(written: str) -> object:
    """The input that a text is; one that was cut stays the text that it is."""
    try:
        return json.loads(written)
    except (ValueError, RecursionError):
        return written


def _start(block: Mapping[str, object], name: str) -> str:
    start = block.get(name)
    return "" if start is None else text_at(start, f"content_block.{name}")
