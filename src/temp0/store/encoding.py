"""Strings, plans and pairs as bytes, and back.

Every string is the bytes of `core.text.utf8`, inside JSON too: JSON's own escapes would join two lone surrogates
that stand side by side into one character.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from temp0.core.plan import Condition, Message, Plan, Prompt
from temp0.core.run import Usage
from temp0.core.text import from_utf8, utf8

Pairs = tuple[tuple[str, str], ...]

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
    """The plan that `plan_bytes` made `data` from."""
    fields = json.loads(from_utf8(data))
    return Plan(
        prompts=tuple(_prompt(**prompt) for prompt in fields["prompts"]),
        conditions=tuple(Condition(**condition) for condition in fields["conditions"]),
        seed=fields["seed"],
    )


def pairs_bytes(pairs: Pairs) -> bytes:
    """Headers, or what is known of an environment, as JSON."""
    return _json(pairs)


@lru_cache(maxsize=4096)
def pairs_from(data: bytes) -> Pairs:
    """The pairs that `pairs_bytes` made `data` from."""
    return tuple((name, value) for name, value in json.loads(from_utf8(data)))


@lru_cache(maxsize=4096)
def usage_bytes(usage: Usage) -> bytes:
    """A usage as JSON."""
    return _json(asdict(usage))


@lru_cache(maxsize=4096)
def usage_from(data: bytes) -> Usage:
    """The usage that `usage_bytes` made `data` from."""
    return Usage(**json.loads(data))


def _json(value: object) -> bytes:
    return utf8(_JSON.encode(value))


def _prompt(messages: list[dict[str, str]], **fields: Any) -> Prompt:
    return Prompt(messages=tuple(Message(**message) for message in messages), **fields)
