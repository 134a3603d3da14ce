"""Results of promptfoo, written by `promptfoo eval --output results.json` (or `.jsonl`), of `--repeat` above all.

Source: https://www.promptfoo.dev/docs/configuration/outputs. A result that promptfoo took from its own cache was not
computed again, and is no new answer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from temp0.core.run import Completion, Failure, Usage
from temp0.errors import LogFileError
from temp0.probe.dialect.field import told_object
from temp0.workflow.foreign.log import Answer, Log, number, tools_called, untold, written_conversation
from temp0.workflow.foreign.source import converted, lines, members, parsed, told

TOOL = "promptfoo"
WHAT = "a whole result of promptfoo"
CACHED = (("x-promptfoo-cache", "hit"),)
"""How a cached result is marked: as a header that says so, which excludes it from what counts."""


class _Tokens(Struct):
    prompt: int | None = None
    completion: int | None = None


class _Response(Struct, rename="camel"):
    output: object = None
    error: str | None = None
    cached: bool = False
    is_refusal: bool = False
    finish_reason: str | None = None
    token_usage: _Tokens | None = None


class _Provider(Struct):
    id: str
    label: str | None = None

    @property
    def name(self) -> str:
        """The provider with its label, since one model may stand there twice with other settings."""
        return f"{self.id} ({self.label})" if self.label and self.label != self.id else self.id


class _Prompt(Struct):
    raw: str


class _Result(Struct, rename="camel"):
    prompt: _Prompt
    provider: _Provider
    id: str | None = None
    response: _Response | None = None
    error: str | None = None
    score: float | None = None


class _Results(Struct):
    results: list[_Result]


class _File(Struct):
    results: _Results
    config: dict[str, object] = {}


def is_promptfoo_log(names: frozenset[bytes]) -> bool:
    """Whether a file is one of these."""
    return b"evalId" in names or {b"promptIdx", b"provider"} <= names


def read_promptfoo_log(path: Path, data: bytes) -> Log:
    """The answers of a results file. Raises LogFileError for one that cannot be read, or of several providers."""
    results, config = _read(path, data)
    providers = list(dict.fromkeys(result.provider.name for result in results))
    if not results:
        raise LogFileError(f"{path} holds no results")
    if len(providers) > 1:
        raise LogFileError(
            f"{path} holds results of {len(providers)} providers ({', '.join(providers[:4])}): write one file for each "
            "(--filter-providers)"
        )
    temperature = _temperature(config, results[0].provider)
    answers = tuple(_answer(result, temperature) for result in results)
    structured = sum(not isinstance(one.response.output, str | None) for one in results if one.response)
    return Log(
        tool=TOOL,
        model=providers[0],
        answers=answers,
        untold=untold(answers),
        notes=(f"{structured:,} of its outputs were kept as values, so that their white space is not known",)
        if structured
        else (),
        scored_by="score",
    )


def _read(path: Path, data: bytes) -> tuple[Sequence[_Result], Mapping[str, object]]:
    """The results of a file, and the configuration that it repeats; one that is JSONL repeats none."""
    if b"evalId" not in members(data):
        return [told(line, _Result, where=f"{path}, line {place}", what=WHAT) for place, line in lines(data)], {}
    value = told_object(parsed(data, where=str(path), what=WHAT))
    version = told_object(value.get("results")).get("version")
    if version != 3:
        raise LogFileError(f"{path} has results of version {version} of promptfoo, and temp0 reads version 3")
    file = converted(value, _File, where=str(path), what=WHAT)
    return file.results.results, file.config


def _temperature(config: Mapping[str, object], provider: _Provider) -> float | None:
    """What the configuration sets for the provider; `None` where it sets nothing."""
    listed = config.get("providers")
    for one in listed if isinstance(listed, list) else ():
        told_of = told_object(one)
        if told_of.get("id") == provider.id and (told_of.get("label") or None) == (provider.label or None):
            return number(told_object(told_of.get("config")).get("temperature"))
    return None


def _answer(result: _Result, temperature: float | None) -> Answer:
    return Answer(
        prompt=None,
        messages=written_conversation(result.prompt.raw),
        outcome=_outcome(result),
        score=number(result.score),
        uid=result.id,
        temperature=temperature,
    )


def _outcome(result: _Result) -> Completion | Failure:
    response = result.response or _Response()
    output = response.output
    if output is None or response.error:
        return Failure(reason="error", message=response.error or result.error or "the result has no output")
    message = told_object(output)
    calls = tools_called(message.get("tool_calls") or output)
    text = message.get("content") if message.get("tool_calls") else "" if calls else _text(output)
    usage = response.token_usage or _Tokens()
    return Completion(
        text="" if response.is_refusal or not isinstance(text, str) else text,
        refusal=_text(output) if response.is_refusal else None,
        finish=response.finish_reason,
        usage=Usage(prompt=usage.prompt, completion=usage.completion),
        headers=CACHED if response.cached else (),
        tool_calls=calls,
    )


def _text(output: object) -> str:
    return output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
