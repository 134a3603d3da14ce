"""Output files of OpenAI's batch API: one line for each request, with the whole answer in it.

Source: https://platform.openai.com/docs/guides/batch. What was asked is in the input file alone; requests whose
`custom_id` ends in a number after a dash, dot, hash or colon are taken for repeats of one prompt: `verse-1`, `verse-2`.
"""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
from msgspec import Struct

from temp0.core.run import Completion, Failure
from temp0.errors import LogFileError
from temp0.probe.dialect import DIALECTS
from temp0.workflow.foreign.log import Answer, Log, untold, user_turn

TOOL = "OpenAI batch"
_REPEAT = re.compile(r"[-.#_:]\d+$")


class _Problem(Struct):
    code: str = "error"
    message: str = ""


class _Response(Struct):
    status_code: int
    body: dict[str, object]
    request_id: str | None = None


class _Line(Struct):
    custom_id: str
    response: _Response | None = None
    error: _Problem | None = None


def is_openai_batch(beginning: bytes) -> bool:
    """Whether a file is one of these."""
    return b'"custom_id"' in beginning and b'"response"' in beginning


def read_openai_batch(path: Path) -> Log:
    """The answers of an output file. Raises LogFileError naming the line that cannot be read."""
    answers = []
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        if line.strip():
            try:
                told = msgspec.json.decode(line, type=_Line)
            except msgspec.DecodeError as error:
                raise LogFileError(f"{path}, line {number} is no line of a batch: {error}; was it cut short?") from None
            name = _REPEAT.sub("", told.custom_id)
            answers.append(Answer(prompt=name, messages=user_turn(name), outcome=_outcome(told)))
    models = [one.outcome.model for one in answers if isinstance(one.outcome, Completion) and one.outcome.model]
    told_model = max(set(models), key=lambda model: (models.count(model), model)) if models else "unknown"
    return Log(
        tool=TOOL,
        model=told_model,
        answers=tuple(answers),
        untold=untold(tuple(answers)),
        notes=("what was asked is not in the file: prompts are shown by their custom_id",),
    )


def _outcome(told: _Line) -> Completion | Failure:
    if told.response is None or told.error is not None:
        problem = told.error or _Problem(message="no response")
        return Failure(reason=problem.code, message=problem.message)
    if not 200 <= told.response.status_code < 300:
        status = told.response.status_code
        return Failure(reason=f"http-{status}", message=str(told.response.body.get("error")), status=status)
    body = told.response.body
    kind = {"response": "openai-responses", "text_completion": "openai-completions"}.get(str(body.get("object")))
    return DIALECTS[kind or "openai-chat"].completion(body)
