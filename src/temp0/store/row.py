"""Attempts as rows of the file, and back.

A row names its texts, reasoning, messages and tokens by their hash; the contents themselves are kept apart, once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from temp0.core.run import Attempt, Completion, Failure, Sample, ToolCall
from temp0.core.text import from_utf8, utf8
from temp0.store.encoding import all_pairs_from, optional_utf8, pairs_bytes, pairs_from, usage_bytes, usage_from
from temp0.store.record import records
from temp0.store.tokens import packed, unpacked

Row = tuple[Any, ...]
Contents = dict[bytes, bytes]

# The columns of `schema.ATTEMPTS` fall into what every attempt has, what a failure has, what a completion has, and the
# two bodies.
_COMMON, _FAILURE, _COMPLETION = 11, 3, 12


def attempt_row(run: int, attempt: Attempt, contents: Contents) -> Row:
    """The row of an attempt of run number `run`; what it names by hash is added to `contents`."""
    outcome = attempt.outcome
    if isinstance(outcome, Failure):
        rest = (*_failure_row(outcome, contents), *(None,) * _COMPLETION)
    else:
        rest = (*(None,) * _FAILURE, *_completion_row(outcome, contents))
    return (
        run,
        attempt.order,
        utf8(attempt.prompt),
        utf8(attempt.condition),
        attempt.block,
        attempt.role,
        attempt.started_s,
        attempt.first_byte_s,
        attempt.ended_s,
        attempt.in_flight,
        attempt.predecessor,
        *rest,
        None if attempt.sent is None else _kept(attempt.sent, contents),
        None if attempt.received is None else bytes.fromhex(attempt.received),
    )


def _failure_row(failure: Failure, contents: Contents) -> Row:
    return utf8(failure.reason), _kept(utf8(failure.message), contents), failure.status


def _completion_row(completion: Completion, contents: Contents) -> Row:
    return (
        _kept(utf8(completion.text), contents),
        None if completion.reasoning is None else _kept(utf8(completion.reasoning), contents),
        None if completion.tokens is None else _kept(packed(completion.tokens), contents),
        optional_utf8(completion.finish),
        usage_bytes(completion.usage),
        optional_utf8(completion.model),
        optional_utf8(completion.fingerprint),
        optional_utf8(completion.id),
        None if completion.created is None else b"%d" % completion.created,
        pairs_bytes(completion.headers),
        pairs_bytes(tuple((call.name, call.arguments) for call in completion.tool_calls)),
        None if completion.refusal is None else _kept(utf8(completion.refusal), contents),
    )


def _kept(data: bytes, contents: Contents) -> bytes:
    digest = hashlib.sha256(data).digest()
    contents[digest] = data
    return digest


def sample_row(run: int, sample: Sample) -> Row:
    """The row of a sample of run number `run`."""
    return run, sample.at_s, sample.block, sample.running


class Reader:
    """Turns rows back into attempts; equal values are decoded once and become one object.

    `content` gives the bytes of a content by its hash.
    """

    def __init__(self, content: Callable[[bytes], bytes]) -> None:
        self._labels = Decoded(from_utf8)
        self._usages = Decoded(usage_from)
        self._texts = Decoded(lambda digest: from_utf8(content(digest)))
        self._tokens = Decoded(lambda digest: unpacked(content(digest)))
        self._bodies = Decoded(content)
        self._tool_calls = Decoded(tool_calls)

    def attempts(self, rows: Sequence[Row]) -> list[Attempt]:
        """The attempts of rows of `schema.ATTEMPTS`, column by column, which takes half as long as row by row."""
        if not rows:
            return []
        completions = iter(self._completions([row for row in rows if row[_COMMON] is None]))
        outcomes = [next(completions) if row[_COMMON] is None else self._failure(row) for row in rows]
        columns = islice(zip(*rows, strict=True), _COMMON)
        _, order, prompt, condition, block, role, started_s, first_byte_s, ended_s, in_flight, predecessor = columns
        return records(
            Attempt,
            len(rows),
            order=order,
            prompt=self._labels.all(prompt),
            condition=self._labels.all(condition),
            block=block,
            role=role,
            started_s=started_s,
            first_byte_s=first_byte_s,
            ended_s=ended_s,
            in_flight=in_flight,
            predecessor=predecessor,
            outcome=outcomes,
            sent=self._bodies.all(row[-2] for row in rows),
            received=[None if row[-1] is None else row[-1].hex() for row in rows],
        )

    def _failure(self, row: Row) -> Failure:
        reason, message, status = row[_COMMON : _COMMON + _FAILURE]
        return Failure(reason=from_utf8(reason), message=self._texts[message], status=status)

    def _completions(self, rows: Sequence[Row]) -> list[Completion]:
        if not rows:
            return []
        columns = islice(zip(*rows, strict=True), _COMMON + _FAILURE, _COMMON + _FAILURE + _COMPLETION)
        text, reasoning, tokens, finish, usage, model, fingerprint, id_, created, headers, calls, refusal = columns
        return records(
            Completion,
            len(rows),
            text=self._texts.all(text),
            finish=self._labels.all(finish),
            tokens=self._tokens.all(tokens),
            reasoning=self._texts.all(reasoning),
            usage=self._usages.all(usage),
            model=self._labels.all(model),
            fingerprint=self._labels.all(fingerprint),
            id=[None if each is None else from_utf8(each) for each in id_],
            created=[None if each is None else int(each) for each in created],
            headers=all_pairs_from(headers),
            tool_calls=[() if each is None else self._tool_calls[each] for each in calls],
            refusal=self._texts.all(refusal),
        )


def tool_calls(data: bytes) -> tuple[ToolCall, ...]:
    """The tool calls that `attempt_row` kept as pairs."""
    return tuple(ToolCall(name=name, arguments=arguments) for name, arguments in pairs_from(data))


class Decoded(dict[Any, Any]):
    """What values mean, decoded when first asked for; what is `None` stays so."""

    def __init__(self, decode: Callable[[Any], Any]) -> None:
        super().__init__({None: None})
        self._decode = decode

    def __missing__(self, data: Any) -> Any:
        value = self[data] = self._decode(data)
        return value

    def all(self, column: Iterable[Any]) -> Iterator[Any]:
        """What each value of a column means."""
        return map(self.__getitem__, column)
