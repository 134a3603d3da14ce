"""Tokens and logprobs in the shape of OpenAI's chat answers, read into core values.

Tokens are kept only where their bytes spell the text exactly: a token list that says something else than the text
would put forks in the wrong place.
"""

from __future__ import annotations

from collections.abc import Mapping

from temp0.core.run import Alternative, Token
from temp0.core.text import utf8
from temp0.probe.dialect.field import told_count, told_number, told_object


def tokens(value: object, text: str) -> tuple[Token, ...] | None:
    """The tokens of `logprobs.content`, or `None` where they are absent, unreadable or do not spell the text."""
    content = told_object(value).get("content")
    if not isinstance(content, list):
        return None
    found = tuple(_token(told_object(entry)) for entry in content)
    return found if b"".join(token.bytes for token in found) == utf8(text) else None


def _token(entry: Mapping[str, object]) -> Token:
    return Token(
        bytes=_bytes(entry),
        id=told_count(entry.get("id")),
        logprob=_logprob(entry.get("logprob")),
        top=_alternatives(entry.get("top_logprobs")),
    )


def _alternatives(value: object) -> tuple[Alternative, ...]:
    if not isinstance(value, list):
        return ()
    read = [(told_object(entry), _logprob(told_object(entry).get("logprob"))) for entry in value]
    return tuple(Alternative(bytes=_bytes(entry), logprob=logprob) for entry, logprob in read if logprob is not None)


def _bytes(entry: Mapping[str, object]) -> bytes:
    """The token's bytes; its string where the server gives no bytes."""
    told = entry.get("bytes")
    if isinstance(told, list):
        try:
            return bytes(told)
        except (TypeError, ValueError):
            return b""
    string = entry.get("token")
    return utf8(string) if isinstance(string, str) else b""


def _logprob(value: object) -> float | None:
    """A logprob, natural logarithm; what is positive or not finite is no logprob."""
    number = told_number(value)
    return number if number is not None and number <= 0 else None
