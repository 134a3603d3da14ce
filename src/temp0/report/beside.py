"""What stands beside the texts: answers that are no answers, by kind, and reasoning and tool calls, compared apart.

Nothing is told where every completion is a whole answer in words.
"""

from __future__ import annotations

from collections import Counter

from temp0.core.analysis import Distinct, PromptAnalysis
from temp0.report.figure import some
from temp0.report.naming import listed

_KINDS = {
    "answer": "whole",
    "cut-by-length": "cut by the token limit",
    "tool-call": "without text but with a tool to call",
    "refusal": "refused",
    "filtered": "taken away by a filter",
    "reasoning-cut": "reasoning that ate the token limit",
    "reasoning-only": "reasoning without a text",
    "empty": "empty",
}
_NAMED = 8


def beside(prompt: PromptAnalysis) -> tuple[str, ...]:
    """Sentences on what a prompt's completions are and hold besides their texts."""
    told = (_kinds(prompt), _calls(prompt.distinct), _reasoning(prompt.distinct))
    return tuple(sentence for sentence in told if sentence)


def _kinds(prompt: PromptAnalysis) -> str | None:
    counts = Counter[str]()
    for condition in prompt.conditions:
        counts.update({one.kind: one.count for one in condition.kinds})
    if set(counts) <= {"answer", "cut-by-length"}:
        return None
    ordered = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return (
        f"Of {some(counts.total(), 'completion')}: {listed([f'{n:,} {_KINDS[kind]}' for kind, n in ordered], _NAMED)}."
    )


def _calls(distinct: Distinct) -> str | None:
    if distinct.tool_calls is None:
        return None
    if distinct.tool_calls == 1:
        return "The tools to be called are the same in every answer."
    folded = distinct.tool_calls_folded
    alike = "" if folded == distinct.tool_calls else f", {folded} once their arguments are read as JSON"
    return f"The tools to be called differ: {some(distinct.tool_calls, 'different call')}{alike}."


def _reasoning(distinct: Distinct) -> str | None:
    if distinct.reasoning is None:
        return None
    if distinct.reasoning == 1:
        return "The reasoning beside the text is the same in every answer."
    return f"The reasoning beside the text differs: {some(distinct.reasoning, 'different one')}; no verdict uses it."
