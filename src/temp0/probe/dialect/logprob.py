"""Tokens and logprobs in the shape of OpenAI's chat answers, read into core values.

Tokens are kept only where their bytes spell the text exactly, but for end tokens after it and the reasoning before
it: a token list that says something else than the text would put forks in the wrong place. The tokens of the
reasoning are not kept. Whatever stands in the list, the text is not touched.
Values are kept as told, also those that cannot be right (above 0, contradicting each other): the analysis says so.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from temp0.core.run import Alternative, Token
from temp0.core.text import utf8
from temp0.probe.dialect.field import told_count, told_number, told_object

FLOOR = -9999.0
"""Stands for minus infinity, for which JSON has no number. OpenAI documents it for tokens too unlikely to list."""

_MOST_END_TOKENS = 2  # such as <|im_end|> and a line break; more would be another text than the one that was told
_NAMED_BY_ID = re.compile(r"token_id:(\d+)")  # vLLM's return_tokens_as_token_ids

_Entry = Mapping[str, object]
_Spelling = Callable[[_Entry], bytes]


def tokens(value: object, text: str, *, reasoning: str | None = None) -> tuple[Token, ...] | None:
    """The text's tokens in `logprobs.content`, or `None` where they are absent, unreadable or do not spell the text."""
    content = told_object(value).get("content")
    if not isinstance(content, list):
        return None
    entries = [told_object(entry) for entry in content]
    for spelling in (_bytes, _string):
        spelled = [spelling(entry) for entry in entries]
        start = _start(spelled, utf8(text), utf8((reasoning or "").strip()))
        if start is not None:
            told = zip(entries[start:], spelled[start:], strict=True)
            return tuple(_token(entry, data, spelling) for entry, data in told)
    return None


def _start(spelled: Sequence[bytes], text: bytes, reasoning: bytes) -> int | None:
    """The token with which the text begins, `None` where the tokens do not spell it.

    Beyond it there may be end tokens, which many servers list by their names. It begins with the first token, or after
    tokens that spell the reasoning among the marks that set it off.
    """
    whole = b"".join(spelled)
    borders = [0, *accumulate(map(len, spelled))]
    for end in borders[: -_MOST_END_TOKENS - 2 : -1]:
        start = end - len(text)
        place = bisect_right(borders, start) - 1
        if start < 0 or borders[place] != start or whole[start:end] != text:
            continue
        if start == 0 or (reasoning and reasoning in whole[:start]):
            return place if start else 0
    return None


def _token(entry: _Entry, data: bytes, spelling: _Spelling) -> Token:
    token = Token(bytes=data, id=_id(entry), logprob=_logprob(entry.get("logprob")))
    listed = entry.get("top_logprobs")
    others = map(told_object, listed) if isinstance(listed, list) else ()
    top = tuple(
        Alternative(bytes=_alternative_bytes(other, token, spelling), logprob=logprob)
        for other in others
        if (logprob := _logprob(other.get("logprob"))) is not None
    )
    return replace(token, top=top)


def _alternative_bytes(entry: _Entry, chosen: Token, spelling: _Spelling) -> bytes:
    """The bytes of an alternative; where it is named by its id alone they are known only of the chosen token."""
    named = _id_in_name(entry)
    return chosen.bytes if named is not None and named == chosen.id else spelling(entry)


def _bytes(entry: _Entry) -> bytes:
    """The token's bytes; its string where the server gives no bytes, or none that are."""
    told = entry.get("bytes")
    if isinstance(told, list):
        try:
            return bytes(told)
        except (TypeError, ValueError):
            return _string(entry)
    return _string(entry)


def _string(entry: _Entry) -> bytes:
    string = entry.get("token")
    return utf8(string) if isinstance(string, str) else b""


def _id(entry: _Entry) -> int | None:
    told = (told_count(entry.get("id")), told_count(entry.get("token_id")), _id_in_name(entry))
    return next((one for one in told if one is not None), None)


def _id_in_name(entry: _Entry) -> int | None:
    name = entry.get("token")
    named = _NAMED_BY_ID.fullmatch(name) if isinstance(name, str) else None
    return told_count(int(named[1])) if named and len(named[1]) < 19 else None


def _logprob(value: object) -> float | None:
    """A logprob (natural logarithm), minus infinity as the floor; `None` for what is no number."""
    return FLOOR if value == -math.inf else told_number(value)
