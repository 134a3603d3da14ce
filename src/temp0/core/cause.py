"""Causes: why completions differ, or why nothing could be said.

Each cause is a small pure function from facts about the prompts to a `Cause` or nothing; `CAUSES` states the order
in which they are tried.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from temp0.core.analysis import Cause, ConditionAnalysis, DistinctText, PromptAnalysis

LENGTH_FINISHES = frozenset({"length", "max_tokens"})
"""How the dialects say that an answer was cut by the token limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All that a cause may look at: the prompts' own analyses, and what was planned for each condition."""

    prompts: Sequence[PromptAnalysis]
    planned: dict[tuple[str, str], int]
    reasoned: frozenset[str]


def not_measured(evidence: Evidence) -> Cause | None:
    """Fewer than two completions count in a planned condition, so that nothing can be compared in it."""
    short = [
        (prompt, condition)
        for prompt in evidence.prompts
        for condition in prompt.conditions
        if condition.completions < 2
    ]
    if not short:
        return None
    prompt, condition = short[0]
    wanted = evidence.planned[prompt.id, condition.name]
    seen = f"prompt {prompt.id}, {condition.name}: {condition.completions} of {wanted} attempts gave a completion"
    more = f"; {len(short) - 1} more {_plural(len(short) - 1, 'condition')} like it" if len(short) > 1 else ""
    first = _first_problem([condition for _, condition in short])
    return Cause(
        cause="not-measured",
        certainty="found",
        evidence=seen + more,
        remedy=first or "finish the run with --resume, or ask at least twice under each condition",
        prompts=_unique([prompt.id for prompt, _ in short]),
    )


def _first_problem(conditions: Sequence[ConditionAnalysis]) -> str | None:
    problems = [tally for condition in conditions for tally in (*condition.failures, *condition.excluded)]
    first = next((tally for tally in problems if tally.reason != "interrupted"), None)
    return f"first see to the failure: {first.reason}: {first.message}" if first else None


def no_visible_output(evidence: Evidence) -> Cause | None:
    """Completions came back empty: the answers, if any, could not be compared."""
    empty = {prompt.id: _empty_completions(prompt) for prompt in evidence.prompts}
    hit = tuple(prompt for prompt, count in empty.items() if count)
    if not hit:
        return None
    total = sum(empty.values())
    reasoned = " after reasoning that is not part of the text" if evidence.reasoned & set(hit) else ""
    return Cause(
        cause="no-visible-output",
        certainty="found",
        evidence=f"{total} {_plural(total, 'completion')} came back empty{reasoned}",
        remedy="raise --max-tokens, so that the answer itself fits",
        prompts=hit,
    )


def _empty_completions(prompt: PromptAnalysis) -> int:
    return sum(text.count for text in prompt.texts if not text.text)


def short_window(evidence: Evidence) -> Cause | None:
    """Every completion of a prompt was cut by the token limit: forks later than that cannot be seen."""
    cut = tuple(prompt.id for prompt in evidence.prompts if prompt.texts and all(map(_is_cut, prompt.texts)))
    if not cut:
        return None
    longest = max(len(text.text) for prompt in evidence.prompts if prompt.id in cut for text in prompt.texts)
    return Cause(
        cause="short-window",
        certainty="found",
        evidence=f"every completion ended by length, the longest after {longest} characters; "
        "forks later than that cannot be seen",
        remedy="raise --max-tokens to see further",
        prompts=cut,
    )


def _is_cut(text: DistinctText) -> bool:
    return all(finish.reason in LENGTH_FINISHES for finish in text.finishes)


def finish(evidence: Evidence) -> Cause | None:
    """One text ended for more than one reason: a note, not a divergence."""
    mixed = [(prompt.id, text) for prompt in evidence.prompts for text in prompt.texts if len(text.finishes) > 1]
    if not mixed:
        return None
    _, text = mixed[0]
    reasons = " and ".join(f"{one.reason or 'no reason given'} ({one.count})" for one in text.finishes)
    return Cause(
        cause="finish",
        certainty="found",
        evidence=f"text {text.sha256[:8]} ended by {reasons}; the texts are equal, so this is no divergence",
        remedy="compare finish reasons separately if your code acts on them",
        prompts=_unique([prompt for prompt, _ in mixed]),
    )


CAUSES: tuple[Callable[[Evidence], Cause | None], ...] = (
    not_measured,
    no_visible_output,
    short_window,
    finish,
)


def causes(evidence: Evidence) -> tuple[Cause, ...]:
    """Every cause that holds, in the stated order."""
    return tuple(cause for rule in CAUSES if (cause := rule(evidence)) is not None)


def _unique(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _plural(count: int, noun: str) -> str:
    return noun if count == 1 else f"{noun}s"
