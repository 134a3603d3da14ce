"""Strings, plans and pairs as bytes, and back.

Every string is the bytes of `core.text.utf8`, inside JSON too: JSON's own escapes would join two lone surrogates
that stand side by side into one character.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from functools import lru_cache
from itertools import islice
from typing import Any, TypeVar

from temp0.core.plan import Condition, Message, Plan, Prompt
from temp0.core.run import Usage
from temp0.core.text import from_utf8, utf8
from temp0.errors import StoreError

Pairs = tuple[tuple[str, str], ...]
Part = TypeVar("Part", Plan, Condition, Prompt, Message, Usage)

_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def optional_utf8(text: str | None) -> bytes | None:
    """The bytes of a text, or `None`."""
    return None if text is None else utf8(text)


# Prompt ids, models, finish reasons and the like repeat in nearly every row: each is decoded once and then shared.
@lru_cache(maxsize=4096)
def label(data: bytes) -> str:
    """The string of a short field that repeats."""
    return from_utf8(data)


def optional_label(data: bytes | None) -> str | None:
    """The string of a short field that repeats, or `None`."""
    return None if data is None else label(data)


def plan_bytes(plan: Plan) -> bytes:
    """A plan as JSON."""
    return _json(asdict(plan))


def plan_from(data: bytes) -> Plan:
    """The plan that `plan_bytes` made `data` from; what an older version did not know yet is at its default."""
    told = json.loads(from_utf8(data))
    prompts = tuple(
        _part(Prompt, {**prompt, "messages": tuple(_part(Message, message) for message in prompt["messages"])})
        for prompt in told["prompts"]
    )
    conditions = tuple(_part(Condition, condition) for condition in told["conditions"])
    return _part(Plan, {**told, "prompts": prompts, "conditions": conditions})


def pairs_bytes(pairs: Pairs) -> bytes:
    """Headers, or what is known of an environment, as JSON."""
    return _json(pairs)


def pairs_from(data: bytes) -> Pairs:
    """The pairs that `pairs_bytes` made `data` from."""
    return tuple((name, value) for name, value in json.loads(from_utf8(data)))


def all_pairs_from(column: Sequence[bytes]) -> list[Pairs]:
    """The pairs of each of many headers.

    Headers hardly ever repeat, since each answer has a request id of its own, so that no cache would help; cutting all
    of them at their quotes at once takes half the time of parsing each.
    """
    text = from_utf8(b"".join(column))
    if "\\" in text:
        return [pairs_from(data) for data in column]
    # Without an escape, every quote begins or ends a string.
    strings = text.split('"')[1::2]
    pairs = zip(strings[::2], strings[1::2], strict=True)
    return [tuple(islice(pairs, data.count(b'"') // 4)) for data in column]


@lru_cache(maxsize=4096)
def usage_bytes(usage: Usage) -> bytes:
    """A usage as JSON."""
    return _json(asdict(usage))


@lru_cache(maxsize=4096)
def usage_from(data: bytes) -> Usage:
    """The usage that `usage_bytes` made `data` from."""
    return _part(Usage, json.loads(data))


def _json(value: object) -> bytes:
    return utf8(_JSON.encode(value))


def _part(kind: type[Part], told: Mapping[str, Any]) -> Part:
    """A value of that kind from its fields. Raises StoreError for a field that only a newer version knows."""
    unknown = sorted(told.keys() - {field.name for field in fields(kind)})
    if unknown:
        raise StoreError(
            f"a {kind.__name__.lower()} in the store has a field {unknown[0]!r}, which this temp0 does not know:"
            " upgrade temp0 (pip install --upgrade temp0)"
        )
    return kind(**told)
