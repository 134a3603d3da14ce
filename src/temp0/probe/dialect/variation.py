"""Variations of the openai-chat dialect: servers that speak it with fields of their own.

Nothing is read twice: an answer, or a chunk of one, is put into the shape of OpenAI's first, and the one reader reads
it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from temp0.core.run import Completion, Failure, Question
from temp0.probe.dialect.dialect import Dialect, Headers
from temp0.probe.dialect.field import FieldError, told_name
from temp0.probe.dialect.openai_chat import OPENAI_CHAT
from temp0.probe.dialect.openai_chat_stream import PartialChat
from temp0.probe.dialect.partial import chunk_in
from temp0.probe.event_stream import Event

Answer = Mapping[str, object]
Shape = Callable[[Answer], Answer]


def _as_told(part: Answer) -> Answer:
    return part


def variation(
    name: str,
    *,
    key_variable: str = OPENAI_CHAT.key_variable,
    body: Callable[[Question, str], Mapping[str, object]] = OPENAI_CHAT.body,
    choice: Shape = _as_told,
    answer: Shape = _as_told,
    told: Mapping[str, str] | None = None,
    dispensable: tuple[str, ...] = OPENAI_CHAT.dispensable,
    continues: bool = False,
) -> Dialect:
    """The openai-chat dialect with another body, and with answers that are shaped before they are read.

    `choice` puts a choice of an answer, or of a chunk, into OpenAI's shape, and `answer` what stands around them.
    `told` names fields at the top of an answer that tell a replica, a release or a route, each with the name under
    which it is kept among the headers.
    """
    kept = told or {}

    def read(payload: object, headers: Headers) -> Completion | Failure:
        if not isinstance(payload, dict):
            return OPENAI_CHAT.read(payload, headers)
        shaped = answer(with_choices(payload, choice))
        values = [(header, told_name(shaped.get(field))) for field, header in kept.items()]
        also = tuple((header, value) for header, value in values if value)
        return OPENAI_CHAT.read(shaped, tuple(sorted((*headers, *also))) if also else headers)

    return replace(
        OPENAI_CHAT,
        name=name,
        key_variable=key_variable,
        body=body,
        read=read,
        partial=lambda: _PartialVariation(choice, tuple(kept)),
        dispensable=dispensable,
        continues=continues,
    )


def with_choices(answer: Answer, shape: Shape) -> Answer:
    """The answer with each of its choices shaped; what is no list of choices is left for the reader to refuse."""
    choices = answer.get("choices")
    if not isinstance(choices, list):
        return answer
    return {**answer, "choices": [shape(choice) if isinstance(choice, dict) else choice for choice in choices]}


class _PartialVariation(PartialChat):
    """A streamed answer with what the first chunk that tells it says at its top."""

    def __init__(self, choice: Shape, kept: tuple[str, ...]) -> None:
        super().__init__(choice)
        self._marks = {f'"{field}"'.encode(): field for field in kept}
        self._first: dict[str, object] = {}

    def add(self, event: Event) -> None:
        if any(mark in event.data for mark in self._marks):
            self._note(event)
        super().add(event)

    def payload(self) -> Answer:
        return {**self._first, **super().payload()}

    def _note(self, event: Event) -> None:
        """Take what is told first; what is no chunk is left for the reader to refuse."""
        try:
            chunk = chunk_in(event)
        except FieldError:
            return
        self._first |= {field: chunk[field] for field in self._marks.values() if chunk.get(field)}
        self._marks = {mark: field for mark, field in self._marks.items() if field not in self._first}
