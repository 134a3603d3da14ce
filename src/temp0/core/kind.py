"""What kind of answer a completion is: whole, or one of the ways in which an answer is no answer.

Every completion has exactly one kind; those of unlike kinds are counted apart, and all of them are compared.
"""

from __future__ import annotations

from typing import Literal

from temp0.core.fork import LENGTH_FINISHES
from temp0.core.run import Completion

Kind = Literal[
    "answer", "cut-by-length", "tool-call", "refusal", "filtered", "reasoning-cut", "reasoning-only", "empty"
]

REFUSALS = frozenset({"refusal"})
FILTERS = frozenset({"content_filter", "content-filter", "guardrail_intervened", "prohibited_content", "safety"})
"""How the dialects say that an answer was refused, or taken away by a filter, in lower case."""


def kind(completion: Completion) -> Kind:
    """The kind of a completion: what the server said of it first, then what it holds."""
    finish = (completion.finish or "").lower()
    if completion.refusal or finish in REFUSALS:
        return "refusal"
    if finish in FILTERS:
        return "filtered"
    is_cut = finish in LENGTH_FINISHES
    if completion.text:
        return "cut-by-length" if is_cut else "answer"
    if completion.tool_calls:
        return "tool-call"
    if completion.reasoning or completion.usage.reasoning:
        return "reasoning-cut" if is_cut else "reasoning-only"
    return "cut-by-length" if is_cut else "empty"
