"""Plain JSONL: one answer a line, with what else is known of it.

A line has `text` (or `completion`, `output`, `response`), and `id` or `prompt` to know its prompt by; all else is
optional. It is what a small script of one's own writes.
"""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from temp0.core.run import Completion, Failure
from temp0.errors import LogFileError
from temp0.probe.json_value import json_value
from temp0.workflow.foreign.log import (
    Answer,
    Log,
    Turn,
    commonest,
    conversation,
    models_of,
    number,
    untold,
    user_turn,
)
from temp0.workflow.foreign.source import lines, told

TOOL = "JSONL"
_TEXTS = ("text", "completion", "output", "response")


class _Line(Struct):
    id: str | int | None = None
    prompt: str | None = None
    messages: list[Turn] | None = None
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
    temperature: float | None = None
    score: float | bool | None = None
    parsed: str | None = None


def is_jsonl(names: frozenset[bytes], data: bytes) -> bool:
    """Whether a file looks like one of these: an object on its first line, or one cut short that would be."""
    if names & {b"prompt", b"messages", *map(str.encode, _TEXTS)}:
        return True
    try:
        return isinstance(json_value(next(lines(data))[1]), dict)
    except (ValueError, RecursionError):
        return False


def read_jsonl(path: Path, data: bytes) -> Log:
    """The answers of a file. Raises LogFileError naming the line that cannot be read, or for several models."""
    answers = tuple(
        _answer(told(line, _Line, where=where, what="an answer"), where)
        for place, line in lines(data)
        for where in (f"{path}, line {place}",)
    )
    models = list(dict.fromkeys(model for model in models_of(answers) if model))
    if len(models) > 1:
        raise LogFileError(
            f"{path} holds answers of {len(models)} models ({', '.join(models[:4])}): write one file for each, then "
            "temp0 compare"
        )
    return Log(
        tool=TOOL,
        model=commonest(models),
        answers=answers,
        untold=untold(answers),
        scored_by="score" if any(one.score is not None for one in answers) else None,
    )


def _answer(line: _Line, where: str) -> Answer:
    name = None if line.id in {None, ""} else str(line.id)
    asked = conversation(line.messages) if line.messages else user_turn(line.prompt) if line.prompt else ()
    if name is None and not any(turn.content for turn in asked):
        raise LogFileError(f"{where} names no prompt: expected `id`, `prompt` or `messages`")
    texts = [text for field in _TEXTS if (text := getattr(line, field)) is not None]
    if len(texts) != 1 and line.error is None:
        raise LogFileError(f"{where} has {len(texts)} of {', '.join(_TEXTS)}, expected exactly one, or `error`")
    if line.error is not None:
        failure = Failure(reason="error", message=line.error)
        return Answer(prompt=name, messages=asked, outcome=failure, temperature=line.temperature)
    completion = Completion(
        text=texts[0],
        finish=line.finish,
        model=line.model,
        fingerprint=line.fingerprint,
        id=line.response_id,
        created=line.created,
    )
    return Answer(
        prompt=name,
        messages=asked,
        outcome=completion,
        score=number(line.score),
        parsed=line.parsed,
        temperature=line.temperature,
    )
