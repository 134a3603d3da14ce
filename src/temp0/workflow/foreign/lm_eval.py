"""Sample files of lm-evaluation-harness, written by `--log_samples`: one line for each document and filter.

Source: https://github.com/EleutherAI/lm-evaluation-harness, docs/interface.md. Several responses to one document, by
`repeats` of its task, are repeated answers; so are several files of one task.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from temp0.core.plan import Message
from temp0.core.run import Completion
from temp0.errors import LogFileError
from temp0.workflow.foreign.log import Answer, Log, untold, user_turn

TOOL = "lm-evaluation-harness"
_NAME = re.compile(r"samples_(?P<task>.+?)_\d{4}-\d\d-\d\dT[\d.:-]+$")
_METRICS = ("exact_match", "acc", "pass@1", "f1")


class _Turn(Struct):
    role: str
    content: str


class _Line(Struct):
    doc_id: int
    resps: list[list[object]]
    arguments: object = None
    filter: str = "none"


def is_lm_eval_log(beginning: bytes) -> bool:
    """Whether a file is one of these."""
    return b'"doc_id"' in beginning and b'"resps"' in beginning


def read_lm_eval_log(path: Path) -> Log:
    """The answers of a sample file. Raises LogFileError naming the line that cannot be read.

    Where several filters were logged, the responses are the same and those of the first filter are read.
    """
    named = _NAME.match(path.stem)
    task = named["task"] if named else path.stem
    answers: list[Answer] = []
    filters: dict[str, int] = {}
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        if not line.strip():
            continue
        try:
            told, fields = msgspec.json.decode(line, type=_Line), msgspec.json.decode(line, type=dict)
        except msgspec.DecodeError as error:
            raise LogFileError(f"{path}, line {number} is no sample of {TOOL}: {error}; was it cut short?") from None
        filters[told.filter] = filters.get(told.filter, 0) + 1
        if told.filter == next(iter(filters)):
            answers += _answers(told, f"{task}:{told.doc_id}", _score(fields))
    if not answers:
        raise LogFileError(f"{path} holds no generated text: tasks that only score given answers repeat nothing")
    return Log(tool=TOOL, model=path.parent.name or "unknown", answers=tuple(answers), untold=untold(tuple(answers)))


def _answers(told: _Line, prompt: str, score: float | None) -> Iterator[Answer]:
    messages = _messages(told.arguments)
    for response in (each for group in told.resps for each in group):
        if isinstance(response, str):
            yield Answer(prompt=prompt, messages=messages, outcome=Completion(text=response), score=score)


def _messages(arguments: object) -> tuple[Message, ...]:
    """What was asked: the first argument of the first request, a text or a conversation written as JSON."""
    first = next(iter(arguments.values()), None) if isinstance(arguments, dict) else arguments
    text = first.get("arg_0") if isinstance(first, dict) else first
    while isinstance(text, list) and text:
        text = text[0]
    if not isinstance(text, str):
        return user_turn("")
    try:
        turns = msgspec.json.decode(text, type=list[_Turn])
    except msgspec.DecodeError:
        return user_turn(text)
    return tuple(Message(role=turn.role, content=turn.content) for turn in turns)


def _score(fields: dict[str, object]) -> float | None:
    names = fields.get("metrics")
    listed = [name for name in names if isinstance(name, str)] if isinstance(names, list) else list(_METRICS)
    values = [fields.get(name) for name in listed]
    return next((float(value) for value in values if isinstance(value, bool | int | float)), None)
