"""A streamed answer of the openai-responses dialect, gathered event by event.

Source: https://platform.openai.com/docs/api-reference/responses-streaming. Events have types; those that are not named
here add nothing. The last one carries the whole answer, and that is the answer: what deltas came have to spell it, or
it is malformed, since a delta was lost, repeated or out of its place. So sequence numbers are not read, which some
servers leave out. Where the last event carries no output, as some proxies have it, the answer is its finished items,
or else what the deltas come to.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence

from temp0.probe.dialect.error import error_in, said
from temp0.probe.dialect.field import FieldError, list_at, object_at, text_at, told_object
from temp0.probe.dialect.partial import DONE, chunk_in, joined, spells
from temp0.probe.dialect.tool_call import arguments_text
from temp0.probe.event_stream import Event

CALLS = {"function_call": "arguments", "custom_tool_call": "input"}
"""The items that call for a tool of ours, and the field in which each has what the tool is called with."""

_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})
_BEGINNINGS = frozenset({"response.created", "response.queued", "response.in_progress"})
_DELTAS = {
    "response.output_text.delta": "text",
    "response.refusal.delta": "refusal",
    "response.function_call_arguments.delta": "arguments",
    "response.custom_tool_call_input.delta": "arguments",
    "response.reasoning_text.delta": "reasoning",
    "response.reasoning_summary_text.delta": "summary",
}
_Object = Mapping[str, object]


def items(answer: _Object) -> Sequence[_Object]:
    """The items of an answer's output."""
    return [object_at(item, "output[]") for item in list_at(answer.get("output"), "output")]


def kind(item: _Object) -> str:
    """What an item is; one that does not say is a message."""
    return str(item.get("type", "message"))


def parts(output: Iterable[_Object]) -> Iterator[_Object]:
    """The parts of the messages, one after the other; a content that is one text is one part."""
    for item in output:
        content = item.get("content")
        if kind(item) != "message" or content is None:
            continue
        if isinstance(content, str):
            yield {"type": "output_text", "text": content}
        else:
            yield from (object_at(part, "content[]") for part in list_at(content, "content"))


class PartialResponse:
    """What the events so far have told."""

    def __init__(self) -> None:
        self.error: str | None = None
        self._response: dict[str, object] = {}
        self._items: list[_Object] = []  # those that were said to be finished
        self._said = {field: io.StringIO() for field in _DELTAS.values()}
        self._logprobs: list[object] = []
        self._has_text = False
        self._is_done = False

    @property
    def is_whole(self) -> bool:
        """Whether the stream has said that the answer is complete, or as complete as it will be."""
        return self._is_done

    def add(self, event: Event) -> None:
        """Take one more event; raises `FieldError` for one that no answer can be made of."""
        data = event.data.strip()
        if self._is_done or data in {b"", DONE}:  # DONE is another dialect's end, which some proxies add
            return
        if event.name == "error":
            self.error = self.error or said(data)
        else:
            self._extend(chunk_in(event), event.name)

    def payload(self) -> _Object:
        """The answer as it would have come unstreamed."""
        if self._response.get("error"):
            return self._response
        output = items(self._response) if self._response.get("output") else self._items
        if output:
            self._compare(output)
        elif self._has_text or any(words.tell() for words in self._said.values()):
            output = list(self._gathered())
        return {**self._response, "output": self._with_logprobs(output)}

    def _extend(self, chunk: _Object, name: str) -> None:
        told = chunk.get("type")
        name = told if isinstance(told, str) else name
        if said := _DELTAS.get(name):
            self._said[said].write(text_at(chunk.get("delta"), f"the delta of {name}"))
            self._has_text |= said == "text"
            if logprobs := chunk.get("logprobs"):
                self._logprobs += list_at(logprobs, "logprobs")
            return
        self.error = self.error or error_in(chunk)
        if name == "response.output_item.done":
            self._items.append(object_at(chunk.get("item"), "item"))
        elif name in _BEGINNINGS:
            self._response |= told_object(chunk.get("response"))
        elif name in _ENDS:
            self._response |= object_at(chunk.get("response"), "response")
            self._is_done = True

    def _compare(self, output: Sequence[_Object]) -> None:
        """Refuse deltas that spell something else than the whole answer; no deltas at all are no contradiction."""
        told = list(parts(output))
        whole: Mapping[str, Sequence[object]] = {
            "text": [part.get("text") for part in told if kind(part) == "output_text"],
            "refusal": [part.get("refusal") for part in told if kind(part) == "refusal"],
            "arguments": [arguments_text(item.get(CALLS[kind(item)])) for item in output if kind(item) in CALLS],
        }
        for field, texts in whole.items():
            said = joined([self._said[field].getvalue()])
            if said and not spells(said, "".join(text for text in texts if isinstance(text, str))):
                raise FieldError(f"the deltas of a streamed answer spell another {field} than its end does")

    def _gathered(self) -> Iterator[_Object]:
        """The items that the deltas come to; calls have no name there, so they are only in items."""
        said = {field: joined([words.getvalue()]) for field, words in self._said.items()}
        if said["arguments"]:
            raise FieldError("a streamed answer calls for a tool and does not name it")
        if thought := said["reasoning"] or said["summary"]:
            yield {"type": "reasoning", "content": [{"text": thought}]}
        texts = [{"type": "output_text", "text": said["text"]}] if self._has_text else []
        refused = [{"type": "refusal", "refusal": said["refusal"]}] if said["refusal"] else []
        yield {"type": "message", "content": [*texts, *refused]}

    def _with_logprobs(self, output: Sequence[_Object]) -> Sequence[_Object]:
        """The items, with the logprobs of the deltas where the items have none."""
        told = list(parts(output)) if self._logprobs else []
        texts = [place for place, part in enumerate(told) if kind(part) == "output_text"]
        if not texts or any(told[place].get("logprobs") for place in texts):
            return output
        told[texts[0]] = {**told[texts[0]], "logprobs": self._logprobs}
        return [{"content": told}, *(item for item in output if kind(item) != "message")]
