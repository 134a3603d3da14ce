"""A streamed answer of the openai-chat dialect, gathered chunk by chunk.

Source: https://platform.openai.com/docs/api-reference/chat-streaming. A delta adds to the text, and chunks may come
without choices (filter results first, usage last) or without a delta. What nothing was added to is empty, never
null: a stream has no way to tell the two apart. The answer is whole once it has said why it ended; with `[DONE]` alone
only where its chunks have no place for a reason: one that was left open is what a proxy makes of a stream that was cut.

What servers do beyond that: an end that is sent twice is one end, and of two reasons the last stands; text after
the end is malformed, unless each of its chunks says again why it ends; a whole message instead of a delta is the
answer where it is alone, and has to say what the deltas said where it is not.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from temp0.probe.dialect.chat_message import REASONING, of_parts, text_and_reasoning
from temp0.probe.dialect.error import error_in, said
from temp0.probe.dialect.field import FieldError, list_at, name_at, names, object_at, text_at, told_count, told_object
from temp0.probe.dialect.partial import DONE, chunk_in, joined, spells
from temp0.probe.dialect.plain_chunk import plain_chat
from temp0.probe.dialect.reason import excerpt
from temp0.probe.dialect.tool_call import PartialCalls
from temp0.probe.event_stream import Event

_DESCRIPTIONS = ("id", "created", "model", "system_fingerprint")
_Object = Mapping[str, object]


@lru_cache
def _names(fields: tuple[str, ...]) -> Callable[[bytes], object]:
    """Whether a chunk names one of these fields."""
    return re.compile("|".join(f'"{field}"' for field in fields).encode()).search


class PartialChat:
    """What the chunks so far have told.

    `shape` puts a choice of another dialect into the shape of this one, and `plain` reads its plain chunks: a chunk is
    tried as one where the last had only text, and where it names no description that is still to be told.
    """

    def __init__(
        self,
        shape: Callable[[_Object], _Object] | None = None,
        plain: Callable[[bytes], str | None] = plain_chat,
    ) -> None:
        self.error: str | None = None
        self.pieces = 0  # that had something to read in them, text or reasoning
        self._shape = shape
        self._plain = plain
        self._has_only_text = False  # the last chunk
        self._told: dict[str, object] = {}
        self._untold: tuple[str, ...] = _DESCRIPTIONS
        self._names_untold = _names(_DESCRIPTIONS)
        self._text = io.StringIO()
        self._thoughts = {field: io.StringIO() for field in REASONING}
        self._thinking = io.StringIO()  # of parts
        self._refusal = io.StringIO()
        self._calls = PartialCalls()
        self._function = PartialCalls()
        self._logprobs: list[object] | None = None
        self._message: _Object = {}
        self._is_message_alone = False
        self._finish: str | None = None
        self._is_open = False  # whether a chunk has said that a reason is still to come
        self._ending = b""  # the event that said so
        self._has_choice = False
        self._is_done = False

    @property
    def is_whole(self) -> bool:
        """Whether the answer has said why it ended, or the stream that it is done and nothing was left open."""
        return bool(self._finish) or (self._is_done and not (self._is_open and self._finish is None))

    def add(self, event: Event) -> None:
        """Take one more event; raises `FieldError` for one that no answer can be made of."""
        data = event.data
        if self._is_done or data == self._ending:  # an empty event keeps the connection awake
            return
        if not data.startswith(b"{"):
            data = data.strip()
            if data in {b"", DONE}:
                self._is_done = bool(data)
                return
        if event.name == "error":
            self.error = self.error or said(data)
        elif self._may_be_plain(data) and (text := self._plain(data)) is not None:
            self.pieces += bool(self._text.write(text))
        else:
            self._read(event)

    def payload(self) -> _Object:
        """The answer as it would have come unstreamed."""
        if not self._has_choice:
            return self._told
        logprobs = None if self._logprobs is None else {"content": self._logprobs}
        choice = {"message": self._whole_message(), "finish_reason": self._finish, "logprobs": logprobs}
        return {**self._told, "choices": [choice]}

    def _may_be_plain(self, data: bytes) -> bool:
        opens = not self._is_open and b'"finish_reason"' in data  # the first that says a reason is still to come
        return self._has_only_text and not opens and not (self._untold and self._names_untold(data))

    def _read(self, event: Event) -> None:
        finish, length = self._finish, self._text.tell()
        self._extend(chunk_in(event))
        if self._finish is not finish:
            self._ending = event.data
        self._has_only_text = self._text.tell() > length and self._logprobs is None and not self._finish

    def _extend(self, chunk: _Object) -> None:
        self.error = self.error or error_in(chunk)
        self._describe(chunk)
        if usage := told_object(chunk.get("usage")):
            self._told["usage"] = usage
        choices = chunk.get("choices")
        for entry in list_at(choices, "choices") if choices is not None else ():
            choice = object_at(entry, "choices[]")
            if not told_count(choice.get("index")):  # one answer was asked for: any other is not ours
                self._choose(choice if self._shape is None else self._shape(choice))

    def _describe(self, chunk: _Object) -> None:
        """Take the descriptions; some servers send a first chunk before they know any, with "" and 0 for them."""
        told = {name: chunk[name] for name in self._untold if chunk.get(name) is not None}
        self._told |= told
        if any(told.values()):
            self._untold = tuple(name for name in self._untold if not told.get(name))
            self._names_untold = _names(self._untold)

    def _choose(self, choice: _Object) -> None:
        self._has_choice = True
        self.error = self.error or error_in(choice)
        delta, message, finish = choice.get("delta"), choice.get("message"), choice.get("finish_reason")
        self._is_open |= bool(delta) and not message and "finish_reason" in choice
        if delta is None and choice.get("text"):
            raise FieldError(f"a chunk of a streamed answer has no delta; its fields are {names(choice)}")
        if message:
            self._take(object_at(message, "choices[].message"), is_alone=delta is None)
        if not (message and self._logprobs):
            self._weigh(told_object(choice.get("logprobs")).get("content"))
        has_ended = bool(self._finish) and not finish
        if delta is not None and self._append(object_at(delta, "choices[].delta")) and has_ended:
            raise FieldError(f"text came after the answer had ended: {excerpt(self._finish or '')}")
        if finish is not None:
            finish = name_at(finish, "choices[].finish_reason")
            self._finish = finish if finish or self._finish is None else self._finish

    def _take(self, message: _Object, *, is_alone: bool) -> None:
        """Take a whole message: beside a delta it is what was said so far, without one it is the answer."""
        if is_alone and self._is_message_alone and message != self._message:
            raise FieldError("a streamed answer has two messages that differ")
        self._message, self._is_message_alone = message, is_alone or self._is_message_alone

    def _weigh(self, entries: object) -> None:
        """Take logprobs: as many entries as a chunk has tokens, which may be several."""
        if isinstance(entries, list):
            self._logprobs = [] if self._logprobs is None else self._logprobs
            self._logprobs += entries

    def _append(self, delta: _Object) -> bool:
        """Add what a delta says, and whether it says anything."""
        has_said = False
        for field, value in delta.items():
            if field == "content":
                has_said |= self._say(value)
            elif not value:
                continue
            elif field in self._thoughts and isinstance(value, str):
                has_said |= bool(self._thoughts[field].write(value))
            elif field == "refusal" and isinstance(value, str):
                self._refusal.write(value)
            elif field == "tool_calls":
                for call in list_at(value, "choices[].delta.tool_calls"):
                    self._calls.add(object_at(call, "choices[].delta.tool_calls[]"))
            elif field == "function_call":
                self._function.add({"function": object_at(value, "choices[].delta.function_call")})
        self.pieces += has_said
        return has_said

    def _say(self, content: object) -> bool:
        if isinstance(content, list):
            text, thought = of_parts(content)
            return bool(self._text.write(text) + self._thinking.write(thought))
        return content is not None and bool(self._text.write(text_at(content, "choices[].delta.content")))

    def _whole_message(self) -> _Object:
        """The message that the deltas come to, or the one that came in their place."""
        text, thinking = joined([self._text.getvalue()]), joined([self._thinking.getvalue()])
        parts = [{"type": "thinking", "thinking": thinking}, {"type": "text", "text": text}]
        message: dict[str, object] = {
            "content": parts if thinking else text,
            **{field: joined([thought.getvalue()]) for field, thought in self._thoughts.items()},
            "refusal": joined([self._refusal.getvalue()]),
            "tool_calls": self._calls.payload(),
            "function_call": next(iter(self._function.payload()), {}).get("function"),
        }
        if self._message and not any(message.values()):
            return self._message
        if self._is_message_alone and not spells(text, text_and_reasoning(self._message)[0] or ""):
            raise FieldError("a streamed answer has a message that does not say what its deltas said")
        return message
