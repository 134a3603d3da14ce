"""Plain JSONL: one answer a line, with what else is known of it.

A line has `text` (or `completion`, `output`, `response`), and `id` or `prompt` to know its prompt by; all else is
optional. It is what a small script of one's own writes.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import Struct

from temp0.core.plan import Message
from temp0.core.run import Completion, Failure
from temp0.errors import LogFileError
from temp0.workflow.foreign.log import Answer, Log, untold, user_turn

TOOL = "JSONL"
_TEXTS = ("text", "completion", "output", "response")


class _Turn(Struct):
    role: str
    content: str


class _Line(Struct):
    id: str | int | None = None
    prompt: str | None = None
    messages: list[_Turn] | None = None
    text: str | None = None
    completion: str | None = None
    output: str | None = None
    response: str | None = None
    error: str | None = None
    finish: str | None = None
    model: str | None = None
    fingerprint: str | None = None
    response_id: str | None = None
    created: int | None = None
    score: float | None = None


def is_jsonl(beginning: bytes) -> bool:
    """Whether a file looks like one of these: an object on its first line."""
    return beginning.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")


def read_jsonl(path: Path) -> Log:
    """The answers of a file. Raises LogFileError naming the line that cannot be read."""
    answers: list[Answer] = []
    names: dict[str, str] = {}
    for number, line in enumerate(path.read_bytes().removeprefix(b"\xef\xbb\xbf").splitlines(), start=1):
        if line.strip():
            try:
                told = msgspec.json.decode(line, type=_Line, strict=False)
            except msgspec.DecodeError as error:
                raise LogFileError(f"{path}, line {number} cannot be read: {error}") from None
            answers.append(_answer(told, names, f"{path}, line {number}"))
    if not answers:
        raise LogFileError(f"{path} holds no answers")
    models = [one.outcome.model for one in answers if isinstance(one.outcome, Completion) and one.outcome.model]
    return Log(
        tool=TOOL, model=models[0] if models else "unknown", answers=tuple(answers), untold=untold(tuple(answers))
    )


def _answer(told: _Line, names: dict[str, str], where: str) -> Answer:
    if told.messages:
        messages = tuple(Message(role=turn.role, content=turn.content) for turn in told.messages)
    else:
        messages = user_turn(told.prompt if told.prompt is not None else str(told.id or ""))
    asked = messages[-1].content
    if told.id is None and not asked:
        raise LogFileError(f"{where} names no prompt: expected `id`, `prompt` or `messages`")
    name = str(told.id) if told.id is not None else names.setdefault(asked, f"p{len(names) + 1}")
    texts = [text for field in _TEXTS if (text := getattr(told, field)) is not None]
    if len(texts) != 1 and told.error is None:
        raise LogFileError(f"{where} has {len(texts)} of {', '.join(_TEXTS)}, expected exactly one, or `error`")
    if told.error is not None:
        return Answer(prompt=name, messages=messages, outcome=Failure(reason="error", message=told.error))
    completion = Completion(
        text=texts[0],
        finish=told.finish,
        model=told.model,
        fingerprint=told.fingerprint,
        id=told.response_id,
        created=told.created,
    )
    return Answer(prompt=name, messages=messages, outcome=completion, score=told.score)
