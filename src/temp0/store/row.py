"""Attempts as rows of the file, and back.

A row names its texts, reasoning, messages and tokens by their hash; the contents themselves are kept apart, once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from temp0.core.run import Attempt, Completion, Failure, Sample
from temp0.core.text import from_utf8, utf8
from temp0.store.encoding import (
    label,
    optional_label,
    optional_utf8,
    pairs_bytes,
    pairs_from,
    usage_bytes,
    usage_from,
)
from temp0.store.tokens import packed, unpacked

Row = tuple[Any, ...]
Contents = dict[bytes, bytes]
Value = TypeVar("Value")

# The columns whose value is the hash of a content.
NAMED_BY_HASH = ("text", "reasoning", "tokens", "message")

# The columns of `schema.ATTEMPTS` fall into what every attempt has, what a failure has and what a completion has.
_COMMON, _FAILURE, _COMPLETION = 11, 3, 10


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
    )


def _kept(data: bytes, contents: Contents) -> bytes:
    digest = hashlib.sha256(data).digest()
    contents[digest] = data
    return digest


def sample_row(run: int, sample: Sample) -> Row:
    """The row of a sample of run number `run`."""
    return run, sample.at_s, sample.block, sample.running


class Reader:
    """Turns rows back into attempts; equal texts, and equal tokens, are decoded once and become one object."""

    def __init__(self, contents: Contents) -> None:
        self._texts = _Decoded(contents, from_utf8)
        self._tokens = _Decoded(contents, unpacked)

    def attempt(self, row: Sequence[Any]) -> Attempt:
        """The attempt of one row of `schema.ATTEMPTS`."""
        _, order, prompt, condition, block, role, started_s, first_byte_s, ended_s, in_flight, predecessor = row[
            :_COMMON
        ]
        failed = row[_COMMON] is not None
        return Attempt(
            order=order,
            prompt=label(prompt),
            condition=label(condition),
            block=block,
            role=role,
            started_s=started_s,
            first_byte_s=first_byte_s,
            ended_s=ended_s,
            in_flight=in_flight,
            predecessor=predecessor,
            outcome=self._failure(row) if failed else self._completion(row),
        )

    def _failure(self, row: Sequence[Any]) -> Failure:
        reason, message, status = row[_COMMON : _COMMON + _FAILURE]
        return Failure(reason=label(reason), message=self._texts[message], status=status)

    def _completion(self, row: Sequence[Any]) -> Completion:
        text, reasoning, tokens, finish, usage, model, fingerprint, id_, created, headers = row[_COMMON + _FAILURE :]
        return Completion(
            text=self._texts[text],
            reasoning=None if reasoning is None else self._texts[reasoning],
            tokens=None if tokens is None else self._tokens[tokens],
            finish=optional_label(finish),
            usage=usage_from(usage),
            model=optional_label(model),
            fingerprint=optional_label(fingerprint),
            id=None if id_ is None else from_utf8(id_),
            created=None if created is None else int(created),
            headers=pairs_from(headers),
        )


class _Decoded(dict[bytes, Value]):
    """What contents mean, by their hash, decoded when first asked for."""

    def __init__(self, contents: Contents, decode: Callable[[bytes], Value]) -> None:
        self._contents = contents
        self._decode = decode

    def __missing__(self, digest: bytes) -> Value:
        value = self[digest] = self._decode(self._contents[digest])
        return value
