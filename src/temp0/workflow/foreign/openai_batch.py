"""Output files of OpenAI's batch API: one line for each request, with the whole answer in it.

Source: https://platform.openai.com/docs/guides/batch. What was asked is in the input file alone. Without it, requests
whose `custom_id` ends in a number after a dash, dot, hash or colon are taken for repeats of one prompt, `verse-1` and
`verse-2`, unless the server counted other numbers of tokens in what they asked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from temp0.core.plan import Message
from temp0.core.run import Completion, Failure
from temp0.errors import LogFileError
from temp0.probe.dialect import DIALECTS
from temp0.probe.dialect.field import told_object
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
from temp0.workflow.foreign.source import converted, lines, told

TOOL = "OpenAI batch"
WHAT = "a line of a batch"
_REPEAT = re.compile(r"[-.#_:]\d+$")
_DIALECTS = {"response": "openai-responses", "text_completion": "openai-completions", "chat.completion": "openai-chat"}


class _Problem(Struct):
    code: str | None = None
    message: str | None = None


class _Response(Struct):
    status_code: int
    body: object = None


class _Line(Struct):
    custom_id: str
    id: str | None = None
    response: _Response | None = None
    error: _Problem | None = None


class _Request(Struct):
    custom_id: str
    body: dict[str, object]


class Asked(Struct):
    """What a line of the input file asked."""

    messages: tuple[Message, ...]
    temperature: float | None


def is_openai_batch(names: frozenset[bytes]) -> bool:
    """Whether a file is an output file."""
    return b"custom_id" in names and bool(names & {b"response", b"error"})


def is_openai_batch_input(names: frozenset[bytes]) -> bool:
    """Whether a file is an input file."""
    return {b"custom_id", b"body"} <= names


def read_openai_batch(path: Path, data: bytes, requests: Mapping[str, Asked]) -> Log:
    """The answers of an output file; `requests` are those of its input file, empty where that was not given.

    Raises LogFileError naming the line that cannot be read, for requests that are not in the input file, and without it
    for requests that are repeats by name and not by what they asked.
    """
    read = [(place, told(line, _Line, where=f"{path}, line {place}", what=WHAT)) for place, line in lines(data)]
    if missing := [line.custom_id for _, line in read if requests and line.custom_id not in requests]:
        raise LogFileError(f"{path} answers {len(missing):,} requests that the input file has not: {missing[0]}")
    answers = tuple(_answer(line, requests.get(line.custom_id), f"{path}, line {place}") for place, line in read)
    if not requests:
        _check_repeats(path, answers)
    return Log(
        tool=TOOL,
        model=commonest(models_of(answers)),
        answers=answers,
        untold=untold(answers),
        notes=() if requests else (_GUESSED,),
    )


_GUESSED = (
    "what was asked is not in an output file: requests are taken for repeats of one prompt by their custom_id; "
    "give the input file as well to know"
)


def read_requests(path: Path, data: bytes) -> dict[str, Asked]:
    """What each request of an input file asked. Raises LogFileError naming the line that cannot be read."""
    asked = {}
    for place, line in lines(data):
        where = f"{path}, line {place}"
        request = told(line, _Request, where=where, what="a request of a batch")
        asked[request.custom_id] = Asked(
            messages=_messages(request.body, where), temperature=number(request.body.get("temperature"))
        )
    return asked


def _messages(body: Mapping[str, object], where: str) -> tuple[Message, ...]:
    instructions = body.get("instructions")
    before = (Message(role="system", content=instructions),) if isinstance(instructions, str) else ()
    for field in ("messages", "prompt", "input"):
        match body.get(field):
            case str(text):
                return (*before, *user_turn(text))
            case list(turns):
                return (*before, *conversation(converted(turns, list[Turn], where=where, what="a conversation")))
    raise LogFileError(f"{where} asks nothing that has an answer in words: expected messages, prompt or input")


def _answer(line: _Line, asked: Asked | None, where: str) -> Answer:
    outcome = _outcome(line, where)
    body = told_object(line.response.body if line.response else None)
    name = _REPEAT.sub("", line.custom_id)
    temperature = asked.temperature if asked else None
    return Answer(
        prompt=None if asked else name,
        messages=asked.messages if asked else (),
        outcome=outcome,
        uid=line.id and f"{line.custom_id} {line.id}",
        temperature=number(body.get("temperature")) if temperature is None else temperature,
    )


def _outcome(line: _Line, where: str) -> Completion | Failure:
    if line.response is None or line.error is not None:
        problem = line.error or _Problem(message="no response")
        return Failure(reason=problem.code or "error", message=problem.message or "")
    body = line.response.body
    status = line.response.status_code
    if not 200 <= status < 300:
        return Failure(reason=f"http-{status}", message=str(told_object(body).get("error", body)), status=status)
    kind = str(told_object(body).get("object", "chat.completion"))
    if kind not in _DIALECTS:
        raise LogFileError(f"{where} is no answer in words but a {kind}")
    return DIALECTS[_DIALECTS[kind]].completion(body)


def _check_repeats(path: Path, answers: Sequence[Answer]) -> None:
    """Refuse requests of one name that cannot have asked the same, since they were of other lengths."""
    lengths: dict[str, int] = {}
    for one in answers:
        length = one.outcome.usage.prompt if isinstance(one.outcome, Completion) else None
        if length is not None and one.prompt and lengths.setdefault(one.prompt, length) != length:
            raise LogFileError(
                f"{path}: the requests called {one.prompt} asked prompts of {lengths[one.prompt]} and of {length} "
                "tokens, so they are no repeats of one prompt: give the input file as well, which tells what was asked"
            )
