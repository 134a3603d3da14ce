"""Cause `not-measured`: fewer than two completions count in a planned condition, so that nothing can be compared."""

from __future__ import annotations

from collections.abc import Sequence

from temp0.core.analysis import ConditionAnalysis
from temp0.core.cause.evidence import Evidence
from temp0.core.cause.finding import NOTHING, Finding, Outcome
from temp0.core.cause.wording import counted


def not_measured(evidence: Evidence) -> Outcome:
    """The rule: a condition of a prompt with fewer than two counted completions. The remedy is the first failure."""
    short = [
        (one, condition) for one in evidence.prompts for condition in one.prompt.conditions if condition.completions < 2
    ]
    if not short:
        return NOTHING
    one, condition = short[0]
    given = f"{condition.completions} of {counted(one.planned[condition.name], 'attempt')} gave a completion"
    seen = f"prompt {one.prompt.id}, {condition.name}: {given}"
    if excluded := sum(tally.count for tally in condition.excluded):
        seen += f" that counts, {excluded} {'was' if excluded == 1 else 'were'} excluded"
    more = f"; {counted(len(short) - 1, 'more condition')} like it" if len(short) > 1 else ""
    return Outcome(
        finding=Finding(
            cause="not-measured",
            evidence=seen + more,
            remedy=_first_problem([condition for _, condition in short])
            or "finish the run with --resume, or ask at least twice under each condition",
            prompts=tuple(dict.fromkeys(one.prompt.id for one, _ in short)),
            n=condition.completions,
            proof="rule",
        )
    )


def _first_problem(conditions: Sequence[ConditionAnalysis]) -> str | None:
    problems = [tally for condition in conditions for tally in condition.failures]
    first = next((tally for tally in problems if tally.reason != "interrupted"), None)
    if first is None and any(condition.excluded for condition in conditions):
        return "have answers computed anew: those excluded were replayed, as cause response-cache says"
    return f"first see to the failure: {first.reason}: {first.message}" if first else None
