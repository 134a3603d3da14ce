"""Logprobs in the lists of OpenAI's legacy completions, put into the shape of chat answers.

Source: https://platform.openai.com/docs/api-reference/completions/object. Alternatives are an object by string, in
which two tokens with one string are one entry: what is lost so stays lost. `text_offset` is not read: servers count it
from the prompt, from the answer, or by the length of a token's name, and what a token spells says where it stands.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from temp0.probe.dialect.field import told_object

_ESCAPED = re.compile(r"bytes:((?:\\x[0-9a-f]{2})+)")  # how OpenAI writes a token that is a part of a character


def chat_shaped(value: object, ids: object = None) -> object:
    """The logprobs in the shape of chat answers; what has that shape already, or is no such lists, is left as it is.

    A list that is not as long as that of the tokens is of other tokens, and counts as not told. `ids` are the ids of
    the tokens where the server told them elsewhere.
    """
    told = told_object(value)
    names = told.get("tokens")
    if not isinstance(names, list) or isinstance(told.get("content"), list):
        return value
    columns = (_column(column, len(names)) for column in (told.get("token_logprobs"), told.get("top_logprobs"), ids))
    return {
        "content": [
            {**_named(name), "logprob": logprob, "top_logprobs": _alternatives(top), "id": identity}
            for name, logprob, top, identity in zip(names, *columns, strict=True)
        ]
    }


def _column(told: object, length: int) -> Sequence[object]:
    return told if isinstance(told, list) and len(told) == length else [None] * length


def _alternatives(top: object) -> Sequence[object]:
    if isinstance(top, list):  # as chat answers have them
        return top
    return [{**_named(name), "logprob": logprob} for name, logprob in told_object(top).items()]


def _named(name: object) -> Mapping[str, object]:
    escaped = _ESCAPED.fullmatch(name) if isinstance(name, str) else None
    data = {"bytes": [*bytes.fromhex(escaped[1].replace("\\x", ""))]} if escaped else {}
    return {"token": name, **data}
