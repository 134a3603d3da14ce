"""Logs of inspect_ai with epochs: `.json`, and `.eval` where inspect_ai itself is installed.

Source: https://inspect.aisi.org.uk/eval-logs.html. A `.eval` file is an archive whose compression the standard library
does not read; inspect_ai's own reader does.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from temp0.core.plan import Message
from temp0.core.run import Completion, Failure, Usage
from temp0.errors import LogFileError
from temp0.workflow.foreign.log import Answer, Log, untold, user_turn

TOOL = "inspect_ai"
_ARCHIVE = b"PK\x03\x04"
_SCORES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}


class _Part(Struct):
    type: str = "text"
    text: str = ""


class _Turn(Struct):
    role: str
    content: str | list[_Part] = ""


class _Choice(Struct):
    message: _Turn
    stop_reason: str | None = None


class _Usage(Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    input_tokens_cache_read: int | None = None
    reasoning_tokens: int | None = None


class _Output(Struct):
    choices: list[_Choice] = []
    model: str | None = None
    usage: _Usage | None = None
    response_id: str | None = None
    error: str | None = None


class _Score(Struct):
    value: str | float | bool | list[object] | dict[str, object] | None = None


class _Problem(Struct):
    message: str


class _Sample(Struct):
    id: int | str
    input: str | list[_Turn]
    output: _Output = msgspec.field(default_factory=_Output)
    epoch: int = 1
    scores: dict[str, _Score] | None = None
    error: _Problem | None = None


class _Eval(Struct):
    model: str


class _Log(Struct):
    version: int
    eval: _Eval
    status: str = "unknown"
    samples: list[_Sample] | None = None


def is_inspect_log(beginning: bytes) -> bool:
    """Whether a file is one of these logs."""
    return beginning.startswith(_ARCHIVE) or (b'"eval"' in beginning and b'"version"' in beginning)


def read_inspect_log(path: Path) -> Log:
    """The answers of a log, one for each sample and epoch. Raises LogFileError for a log that cannot be read."""
    data = path.read_bytes()
    data = _archive(path) if data.startswith(_ARCHIVE) else data
    try:
        told = msgspec.json.decode(data, type=_Log, strict=False)
    except msgspec.DecodeError as error:
        raise LogFileError(f"{path} is no whole log of inspect_ai: {error}; was it cut short?") from None
    if told.version != 2:
        raise LogFileError(f"{path} is a log of version {told.version} of inspect_ai, and temp0 reads version 2")
    answers = tuple(_answers(told.samples or []))
    if not answers:
        raise LogFileError(f"{path} holds no samples: it was written with --no-log-samples, or ended before any")
    notes = (f"the log's status is {told.status}: not every sample may be there",) if told.status != "success" else ()
    return Log(tool=TOOL, model=told.eval.model, answers=answers, untold=untold(answers), notes=notes)


def _archive(path: Path) -> bytes:
    """A `.eval` archive as JSON, by inspect_ai's own reader."""
    try:
        logs = importlib.import_module("inspect_ai.log")
    except ImportError:
        raise LogFileError(
            f"{path} needs inspect_ai to be read: install it, or write it as JSON with "
            f"`inspect log convert --to json --output-dir logs-json {path.name}`"
        ) from None
    try:
        text: str = logs.read_eval_log(str(path)).model_dump_json()
    except Exception as error:
        raise LogFileError(f"inspect_ai cannot read {path}: {error}") from error
    return text.encode()


def _answers(samples: list[_Sample]) -> Iterator[Answer]:
    for sample in sorted(samples, key=lambda sample: (str(sample.id), sample.epoch)):
        yield Answer(
            prompt=str(sample.id),
            messages=_messages(sample.input),
            outcome=_outcome(sample),
            score=_score(sample),
        )


def _messages(told: str | list[_Turn]) -> tuple[Message, ...]:
    if isinstance(told, str):
        return user_turn(told)
    return tuple(Message(role=turn.role, content=_text(turn)) for turn in told)


def _text(turn: _Turn) -> str:
    return turn.content if isinstance(turn.content, str) else "".join(part.text for part in turn.content)


def _outcome(sample: _Sample) -> Completion | Failure:
    output = sample.output
    if sample.error or output.error or not output.choices:
        said = sample.error.message if sample.error else output.error
        return Failure(reason="error", message=said or "the sample has no output")
    usage = output.usage or _Usage()
    return Completion(
        text=_text(output.choices[0].message),
        finish=output.choices[0].stop_reason,
        model=output.model,
        id=output.response_id,
        usage=Usage(
            prompt=usage.input_tokens,
            completion=usage.output_tokens,
            cached=usage.input_tokens_cache_read,
            reasoning=usage.reasoning_tokens,
        ),
    )


def _score(sample: _Sample) -> float | None:
    """The first score that is a number, or one of inspect_ai's letters."""
    for score in (sample.scores or {}).values():
        value = score.value
        if isinstance(value, str) and value in _SCORES:
            return _SCORES[value]
        if isinstance(value, bool | int | float):
            return float(value)
    return None
