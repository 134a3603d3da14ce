"""A streamed continuation of llama.cpp's native API, gathered chunk by chunk.

Source: tools/server/README.md of ggml-org/llama.cpp. Each chunk adds to the text and to the probabilities; the last
one says `stop`, adds nothing as a rule, and describes the whole. There is no `[DONE]`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from temp0.probe.dialect.error import error_in, said
from temp0.probe.dialect.field import list_at, text_at
from temp0.probe.dialect.partial import DONE, chunk_in, joined
from temp0.probe.dialect.plain_piece import plain_continuation
from temp0.probe.event_stream import Event
from temp0.probe.framing import EVENTS

PROBABILITIES = "completion_probabilities"
_STOP = re.compile(rb'"stop"\s*:\s*true')  # in a text its quotation marks would be escaped

CHUNKS = replace(EVENTS, is_last=lambda event: bool(_STOP.search(event.data)))


class PartialContinuation:
    """What the chunks so far have told."""

    def __init__(self) -> None:
        self.error: str | None = None
        self.is_whole = False
        self._told: dict[str, object] = {}
        self._content: list[str] = []
        self._probabilities: list[object] = []

    def add(self, event: Event) -> None:
        """Take one more event; raises `FieldError` for one that no answer can be made of."""
        if self.is_whole:
            return
        if event.name == "error":
            self.error = self.error or said(event.data.strip())
        elif (text := plain_continuation(event.data)) is not None:
            self._content.append(text)
        elif event.data.strip() not in {b"", DONE}:
            self._extend(chunk_in(event))

    def payload(self) -> Mapping[str, object]:
        """The answer as it would have come unstreamed."""
        told = {"content": joined(self._content)} if self._content else {}
        probabilities = {PROBABILITIES: self._probabilities} if self._probabilities else {}
        return {**self._told, **told, **probabilities}

    def _extend(self, chunk: Mapping[str, object]) -> None:
        self.error = self.error or error_in(chunk)
        if chunk.get("stop") is True:
            self.is_whole = True
            self._told = dict(chunk)
        content, probabilities = chunk.get("content"), chunk.get(PROBABILITIES)
        if content is not None:
            self._content.append(text_at(content, "content"))
        if probabilities is not None:
            self._probabilities += list_at(probabilities, PROBABILITIES)
