"""Results of promptfoo, written by `promptfoo eval --output results.json`, of `--repeat` above all.

Source: https://www.promptfoo.dev/docs/configuration/outputs. A result that promptfoo took from its own cache was not
computed again, and is no new answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from temp0.core.run import Completion, Failure, Usage
from temp0.errors import LogFileError
from temp0.workflow.foreign.log import Answer, Log, untold, user_turn

TOOL = "promptfoo"
CACHED = (("x-promptfoo-cache", "hit"),)
"""How a cached result is marked: as a header that says so, which excludes it from what counts."""


class _Tokens(Struct):
    prompt: int | None = None
    completion: int | None = None


class _Response(Struct, rename="camel"):
    output: object = None
    error: str | None = None
    cached: bool = False
    finish_reason: str | None = None
    token_usage: _Tokens | None = None


class _Provider(Struct):
    id: str


class _Prompt(Struct):
    raw: str


class _Result(Struct, rename="camel"):
    prompt: _Prompt
    provider: _Provider
    test_idx: int = 0
    prompt_idx: int = 0
    response: _Response | None = None
    error: str | None = None
    score: float | None = None
    vars: dict[str, object] = {}


class _Results(Struct):
    version: int
    results: list[_Result]


class _File(Struct):
    results: _Results


def is_promptfoo_log(beginning: bytes) -> bool:
    """Whether a file is one of these."""
    return b'"evalId"' in beginning


def read_promptfoo_log(path: Path) -> Log:
    """The answers of a results file. Raises LogFileError for one that cannot be read, or of several providers."""
    try:
        told = msgspec.json.decode(path.read_bytes(), type=_File, strict=False).results
    except msgspec.DecodeError as error:
        raise LogFileError(f"{path} is no whole result of promptfoo: {error}; was it cut short?") from None
    if told.version != 3:
        raise LogFileError(f"{path} has results of version {told.version} of promptfoo, and temp0 reads version 3")
    providers = list(dict.fromkeys(result.provider.id for result in told.results))
    if len(providers) != 1:
        raise LogFileError(
            f"{path} holds results of {len(providers)} providers ({', '.join(providers[:4])}): write one file for each "
            "(--filter-providers)"
        )
    answers = tuple(_answers(told.results))
    return Log(tool=TOOL, model=providers[0], answers=answers, untold=untold(answers))


def _answers(results: list[_Result]) -> Iterator[Answer]:
    names = _names(results)
    for result in results:
        yield Answer(
            prompt=names[result.prompt.raw],
            messages=user_turn(result.prompt.raw),
            outcome=_outcome(result),
            score=result.score,
        )


def _names(results: list[_Result]) -> Mapping[str, str]:
    """A name for each text that was asked: repeats of one test have the same text, whatever their numbers."""
    return {raw: f"p{place}" for place, raw in enumerate(dict.fromkeys(one.prompt.raw for one in results), start=1)}


def _outcome(result: _Result) -> Completion | Failure:
    response = result.response or _Response()
    if response.output is None:
        return Failure(reason="error", message=response.error or result.error or "the result has no output")
    text = response.output if isinstance(response.output, str) else msgspec.json.encode(response.output).decode()
    usage = response.token_usage or _Tokens()
    return Completion(
        text=text,
        finish=response.finish_reason,
        usage=Usage(prompt=usage.prompt, completion=usage.completion),
        headers=CACHED if response.cached else (),
    )
