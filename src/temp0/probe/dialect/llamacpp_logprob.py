r"""Token probabilities in llama.cpp's own shapes, put into the shape of OpenAI's chat answers.

Source: tools/server/README.md of ggml-org/llama.cpp, and its #10783, which changed the shape in December 2024. Since
then an entry has `logprob` and `top_logprobs`, or, after sampling, `prob` and `top_probs`; before, it had its text as
`content` and the likeliest tokens as `probs`, a byte that is no character written as `byte: \xf0`. A probability
becomes its natural logarithm; one of 0 becomes minus infinity, and one below 0 is not told.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from temp0.probe.dialect.field import told_number, told_object

_BYTE = re.compile(r"byte: \\x([0-9a-f]{2})")

Entry = Mapping[str, object]


def openai_logprobs(entries: object) -> list[Entry] | None:
    """The entries of `completion_probabilities` as those of `logprobs.content`; `None` where there is no list."""
    if not isinstance(entries, list):
        return None
    return [_old(told) if "probs" in told else _new(told) for told in map(told_object, entries)]


def _new(entry: Entry) -> Entry:
    listed = entry.get("top_probs")
    if isinstance(listed, list):
        entry = {**entry, "top_logprobs": [_with_logprob(told_object(other)) for other in listed]}
    return _with_logprob(entry)


def _with_logprob(entry: Entry) -> Entry:
    return {**entry, "logprob": _logarithm(entry["prob"])} if "prob" in entry else entry


def _old(entry: Entry) -> Entry:
    """An entry that tells no logprob of its own: it is that of its text among the likeliest."""
    listed = entry.get("probs")
    others = [told_object(other) for other in listed] if isinstance(listed, list) else []
    top = [_spelled(other.get("tok_str")) | {"logprob": _logarithm(other.get("prob"))} for other in others]
    chosen = _spelled(entry.get("content"))
    own = next((other["logprob"] for other in top if other["token"] == chosen["token"]), None)
    return {**chosen, "logprob": own, "top_logprobs": top}


def _spelled(text: object) -> dict[str, object]:
    byte = _BYTE.fullmatch(text) if isinstance(text, str) else None
    return {"token": text} | ({"bytes": [int(byte[1], 16)]} if byte else {})


def _logarithm(probability: object) -> float | None:
    told = told_number(probability)
    if told is None or told < 0:
        return None
    return math.log(told) if told else -math.inf
