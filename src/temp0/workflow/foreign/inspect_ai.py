"""Logs of inspect_ai with epochs: `.json`, and `.eval` where inspect_ai itself is installed.

Source: https://inspect.aisi.org.uk/eval-logs.html. A `.eval` file is an archive whose compression the standard library
does not read; inspect_ai's own reader does.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from temp0.core.run import Completion, Failure, Usage
from temp0.errors import LogFileError
from temp0.workflow.foreign.log import (
    Answer,
    Log,
    Turn,
    conversation,
    number,
    tool_call,
    untold,
    user_turn,
    words,
)
from temp0.workflow.foreign.source import converted, parsed

TOOL = "inspect_ai"
WHAT = "a whole log of inspect_ai"
CACHED = (("x-inspect-cache", "hit"),)
"""How an answer that inspect_ai took from its own cache is marked, which excludes it from what counts."""
_ARCHIVE = b"PK\x03\x04"
_SCORES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_FINISHES = {"model_length": "length"}


class _Call(Struct):
    function: str
    arguments: object = None


class _Told(Turn):
    tool_calls: list[_Call] | None = None


class _Choice(Struct):
    message: _Told
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
    answer: str | None = None


class _Problem(Struct):
    message: str


class _Limit(Struct):
    type: str


class _Config(Struct):
    temperature: float | None = None


class _Event(Struct):
    event: str = ""
    config: _Config | None = None
    cache: str | None = None


class _Sample(Struct):
    id: int | str
    input: str | list[Turn]
    output: _Output = msgspec.field(default_factory=_Output)
    epoch: int = 1
    scores: dict[str, _Score] | None = None
    error: _Problem | None = None
    error_retries: list[_Problem] | None = None
    limit: _Limit | None = None
    uuid: str | None = None
    events: list[_Event] = []

    @property
    def last_call(self) -> _Event:
        """The model's last call, from which the answer came, as far as the log has its events."""
        return next((one for one in reversed(self.events) if one.event == "model"), _Event())


class _Eval(Struct):
    model: str
    model_generate_config: _Config = msgspec.field(default_factory=_Config)


class _Plan(Struct):
    config: _Config = msgspec.field(default_factory=_Config)


class _Log(Struct):
    version: int
    eval: _Eval
    plan: _Plan = msgspec.field(default_factory=_Plan)
    status: str = "unknown"
    invalidated: bool = False
    samples: list[_Sample] | None = None


def is_inspect_log(names: frozenset[bytes], data: bytes) -> bool:
    """Whether a file is one of these logs."""
    return data.startswith(_ARCHIVE) or {b"version", b"eval"} <= names


def read_inspect_log(path: Path, data: bytes) -> Log:
    """The answers of a log, one for each sample and epoch. Raises LogFileError for a log that cannot be read.

    An attempt at a sample that failed and was made again is a failure of its own.
    """
    data = _archive(path) if data.startswith(_ARCHIVE) else data
    value = parsed(data, where=str(path), what=WHAT)
    version = value.get("version") if isinstance(value, dict) else None
    if version != 2:
        raise LogFileError(f"{path} is a log of version {version} of inspect_ai, and temp0 reads version 2")
    log = converted(value, _Log, where=str(path), what=WHAT)
    samples = log.samples or []
    scorer = next(
        (name for one in samples for name, score in (one.scores or {}).items() if _value(score) is not None), None
    )
    answers = tuple(
        _answers(samples, scorer, (log.plan.config.temperature, log.eval.model_generate_config.temperature))
    )
    if not answers:
        raise LogFileError(f"{path} holds no samples: it was written with --no-log-samples, or ended before any")
    return Log(
        tool=TOOL,
        model=log.eval.model,
        answers=answers,
        untold=untold(answers),
        notes=tuple(_notes(log, samples)),
        scored_by=scorer,
    )


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
        raise LogFileError(f"inspect_ai cannot read {path}: {error}; was it cut short?") from error
    return text.encode("utf-8", "surrogatepass")


def _notes(log: _Log, samples: Sequence[_Sample]) -> Iterator[str]:
    if log.status != "success":
        yield f"the log's status is {log.status}: not every sample may be there"
    if log.invalidated:
        yield "the log was marked as invalid"
    if several := sum(len(one.output.choices) > 1 for one in samples):
        yield f"{several:,} of its samples hold several answers to one request, of which the first is read"
    scorers = list(dict.fromkeys(name for one in samples for name in one.scores or {}))
    if len(scorers) > 1:
        yield f"of its scores only the first that is a number is read; it has {', '.join(scorers)}"


def _answers(samples: Sequence[_Sample], scorer: str | None, set_for_all: Sequence[float | None]) -> Iterator[Answer]:
    for sample in sorted(samples, key=lambda one: (isinstance(one.id, str), one.id, one.epoch)):
        asked = user_turn(sample.input) if isinstance(sample.input, str) else conversation(sample.input)
        uid = f"{sample.id} {sample.epoch} {sample.uuid}" if sample.uuid else None
        for place, problem in enumerate(sample.error_retries or []):
            yield Answer(
                prompt=str(sample.id),
                messages=asked,
                outcome=Failure(reason="error", message=problem.message),
                uid=uid and f"{uid} {place}",
            )
        score = (sample.scores or {}).get(scorer) if scorer else None
        yield Answer(
            prompt=str(sample.id),
            messages=asked,
            outcome=_outcome(sample),
            score=_value(score),
            parsed=score.answer if score else None,
            uid=uid,
            temperature=_temperature(sample, set_for_all),
        )


def _temperature(sample: _Sample, set_for_all: Sequence[float | None]) -> float | Literal["unset"] | None:
    """What was sent with the call: only its event knows it all, since a solver may set its own."""
    config = sample.last_call.config
    told = [one for one in (config.temperature if config else None, *set_for_all) if one is not None]
    return told[0] if told else "unset" if config else None


def _outcome(sample: _Sample) -> Completion | Failure:
    output = sample.output
    if sample.error or output.error or not output.choices:
        stopped = f"the sample was stopped by its {sample.limit.type} limit" if sample.limit else None
        said = sample.error.message if sample.error else output.error
        return Failure(reason="error", message=said or stopped or "the sample has no output")
    choice, usage = output.choices[0], output.usage or _Usage()
    return Completion(
        text=_text(choice.message),
        finish=_FINISHES.get(choice.stop_reason or "", choice.stop_reason),
        reasoning=_reasoning(choice.message),
        model=output.model,
        id=output.response_id,
        usage=Usage(
            prompt=usage.input_tokens,
            completion=usage.output_tokens,
            cached=usage.input_tokens_cache_read,
            reasoning=usage.reasoning_tokens,
        ),
        headers=CACHED if sample.last_call.cache == "read" else (),
        tool_calls=tuple(tool_call(call.function, call.arguments) for call in choice.message.tool_calls or []),
    )


def _text(turn: Turn) -> str:
    """The words of an answer: its parts of text."""
    content = turn.content
    if content is None or isinstance(content, str):
        return content or ""
    return words([one for one in content if isinstance(one, str) or one.get("type") == "text"])


def _reasoning(turn: Turn) -> str | None:
    parts = [] if turn.content is None or isinstance(turn.content, str) else turn.content
    told_there = [str(one.get("reasoning", "")) for one in parts if not isinstance(one, str) and "reasoning" in one]
    return "".join(told_there) or None


def _value(score: _Score | None) -> float | None:
    """A score that is a number, or a word that inspect_ai reads as one."""
    value = score.value if score else None
    if isinstance(value, str):
        value = _SCORES.get(value, _SCORES.get(value.lower(), value))
    if isinstance(value, str):
        try:
            return number(float(value))
        except ValueError:
            return None
    return number(value)
