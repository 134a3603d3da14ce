"""Reads a body as the endpoint does, piece by piece and with secrets taken out, and says what is wrong with the record.

A record is sound where it can be stored and shown: texts are texts, numbers are finite, tokens spell the text.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass

from mutation import KEY

from temp0.core.run import Completion, Failure
from temp0.core.text import utf8
from temp0.probe.body import json_outcome
from temp0.probe.connection import Connection
from temp0.probe.dialect import Dialect
from temp0.probe.dialect.reason import REASONS
from temp0.probe.intake import Intake
from temp0.probe.key import Key

_MOST_COUNT = 2**63 - 1


def connection() -> Connection:
    """A connection that sends the key, closed again: what is left of it takes secrets out."""

    async def opened() -> Connection:
        made = Connection("http://127.0.0.1", key=Key(value=KEY))
        await made.close()
        return made

    return asyncio.run(opened())


def record(
    dialect: Dialect, pieces: Iterable[bytes], content_type: str = "", secrets: Connection | None = None
) -> Completion | Failure:
    """What a body comes to that comes in these pieces under a status of success."""
    intake = Intake(dialect, redact=secrets.redact if secrets else None)
    intake.begin(200, content_type)
    for piece in pieces:
        assert intake.take(piece, 0.0), "no room for a small body"
    intake.end()
    outcome = intake.streamed(())
    if outcome is None:
        body = bytes(intake.data)
        outcome = json_outcome(dialect, secrets.redact(body) if secrets else body, ())
    if secrets is None:
        return outcome
    return secrets.redacted(outcome) if isinstance(outcome, Failure) else secrets.redacted_completion(outcome)


def unsound(outcome: object) -> Iterator[str]:
    """What cannot stand in a record."""
    if isinstance(outcome, Failure):
        message = outcome.message
        if outcome.reason not in REASONS or not message or not message.isprintable():
            yield f"a failure without a known reason or a message that can be shown: {outcome!r}"
    elif isinstance(outcome, Completion):
        yield from _wrong_texts(outcome)
        yield from _wrong_numbers(outcome)
    else:
        yield f"neither a completion nor a failure: {outcome!r}"


def leaks(outcome: Completion | Failure) -> Iterator[str]:
    """Where the key stands in a record."""
    yield from (f"the key is in {text!r}" for text in _strings(outcome) if KEY in text)
    tokens = (isinstance(outcome, Completion) and outcome.tokens) or ()
    if KEY.encode() in b"".join(token.bytes for token in tokens):
        yield "the tokens spell the key"


def _wrong_texts(outcome: Completion) -> Iterator[str]:
    if not all(isinstance(text, str) for text in (outcome.text, *_pairs(outcome))):
        yield f"a text that is none: {outcome!r}"
    names = (outcome.finish, outcome.model, outcome.fingerprint, outcome.id)
    if not all(name is None or (isinstance(name, str) and name.isprintable()) for name in names):
        yield f"a name that cannot be shown: {names!r}"
    if not all(told is None or (isinstance(told, str) and told) for told in (outcome.reasoning, outcome.refusal)):
        yield f"a reasoning or a refusal that is none: {outcome.reasoning!r}, {outcome.refusal!r}"
    if outcome.tokens is not None:
        spelled = b"".join(token.bytes for token in outcome.tokens)
        if not spelled.startswith(utf8(outcome.text)):
            yield f"tokens that do not spell the text: {spelled!r}, {outcome.text!r}"


def _pairs(outcome: Completion) -> Sequence[object]:
    return [part for call in outcome.tool_calls for part in (call.name, call.arguments)]


def _wrong_numbers(outcome: Completion) -> Iterator[str]:
    usage = outcome.usage
    counts = [usage.prompt, usage.completion, usage.cached, usage.reasoning, outcome.created]
    logprobs: list[object] = []
    for token in outcome.tokens or ():
        counts.append(token.id)
        logprobs += [token.logprob, *(other.logprob for other in token.top)]
    if not all(count is None or (type(count) is int and 0 <= count <= _MOST_COUNT) for count in counts):
        yield f"a count that is none: {counts}"
    for logprob in logprobs:
        if logprob is not None and not (type(logprob) in (int, float) and math.isfinite(float(logprob))):  # type: ignore[arg-type]
            yield f"a logprob that is none: {logprob!r}"


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for each in value:
            yield from _strings(each)
    elif is_dataclass(value):
        for field in fields(value):
            yield from _strings(getattr(value, field.name))
