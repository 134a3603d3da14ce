"""A streamed answer of the openai-chat dialect, gathered chunk by chunk.

Source: https://platform.openai.com/docs/api-reference/chat-streaming. A delta adds to the text, and chunks may come
without choices (filter results first, usage last) or without a delta. What nothing was added to is empty, never
null: a stream has no way to tell the two apart. The answer is whole once it has said why it ended, or with `[DONE]`.
"""

from __future__ import annotations

from collections.abc import Mapping

from temp0.probe.dialect.error import error_in, said
from temp0.probe.dialect.field import FieldError, list_at, name_at, object_at, text_at, told_count, told_object
from temp0.probe.dialect.partial import DONE, chunk_in, joined
from temp0.probe.event_stream import Event

REASONING = ("reasoning_content", "reasoning")
_DESCRIPTIONS = ("id", "created", "model", "system_fingerprint")


class PartialChat:
    """What the chunks so far have told."""

    def __init__(self) -> None:
        self.error: str | None = None
        self.pieces = 0  # that had something to read in them, text or reasoning
        self._told: dict[str, object] = {}
        self._content: list[object] = []
        self._thoughts: dict[str, list[str]] = {field: [] for field in REASONING}
        self._logprobs: list[object] | None = None
        self._finish: str | None = None
        self._has_choice = False
        self._is_done = False

    @property
    def is_whole(self) -> bool:
        """Whether the answer has said why it ended, or the stream that it is done."""
        return self._is_done or bool(self._finish)

    def add(self, event: Event) -> None:
        """Take one more event; raises `FieldError` for one that no answer can be made of."""
        data = event.data.strip()
        if self._is_done or not data:  # an empty event keeps the connection awake
            return
        if data == DONE:
            self._is_done = True
        elif event.name == "error":
            self.error = self.error or said(data)
        else:
            self._extend(chunk_in(event))

    def payload(self) -> Mapping[str, object]:
        """The answer as it would have come unstreamed."""
        if not self._has_choice:
            return self._told
        message: dict[str, object] = {"content": self._whole_content()}
        message |= {field: joined(thoughts) for field, thoughts in self._thoughts.items() if thoughts}
        logprobs = None if self._logprobs is None else {"content": self._logprobs}
        return {
            **self._told,
            "choices": [{"message": message, "finish_reason": self._finish, "logprobs": logprobs}],
        }

    def _extend(self, chunk: Mapping[str, object]) -> None:
        self.error = self.error or error_in(chunk)
        for field in _DESCRIPTIONS:
            # Some servers send a first chunk before they know anything, with "" and 0 in its fields.
            if not self._told.get(field) and chunk.get(field) is not None:
                self._told[field] = chunk[field]
        if usage := told_object(chunk.get("usage")):
            self._told["usage"] = usage
        choices = chunk.get("choices")
        for entry in list_at(choices, "choices") if choices is not None else ():
            choice = object_at(entry, "choices[]")
            if not told_count(choice.get("index")):  # one answer was asked for: any other is not ours
                self._choose(choice)

    def _choose(self, choice: Mapping[str, object]) -> None:
        self._has_choice = True
        self.error = self.error or error_in(choice)
        finish = name_at(choice.get("finish_reason"), "choices[].finish_reason")
        self._finish = finish if finish or self._finish is None else self._finish
        logprobs = told_object(choice.get("logprobs")).get("content")
        if isinstance(logprobs, list):
            self._logprobs = [] if self._logprobs is None else self._logprobs
            self._logprobs += logprobs  # as many entries as a chunk has tokens, which may be several
        delta = choice.get("delta")
        if delta is not None:
            self._append(object_at(delta, "choices[].delta"))
        elif choice.get("message") or choice.get("text"):
            raise FieldError(f"a chunk of a streamed answer has no delta; its fields are {list(choice)}")

    def _append(self, delta: Mapping[str, object]) -> None:
        content = delta.get("content")
        if isinstance(content, list):
            self._content += content
        elif content is not None:
            self._content.append(text_at(content, "choices[].delta.content"))
        thoughts = [(field, delta.get(field)) for field in REASONING]
        for field, thought in thoughts:
            if isinstance(thought, str) and thought:
                self._thoughts[field].append(thought)
        self.pieces += bool(content) or any(bool(thought) for _, thought in thoughts)

    def _whole_content(self) -> str | list[object]:
        """One text, or parts where any delta came in parts."""
        texts = [piece for piece in self._content if isinstance(piece, str)]
        if len(texts) == len(self._content):
            return joined(texts)
        return [{"type": "text", "text": piece} if isinstance(piece, str) else piece for piece in self._content]
