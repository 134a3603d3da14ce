"""Cause `no-visible-output`: completions came back empty, so that the answers, if any, could not be compared."""

from __future__ import annotations

from temp0.core.cause.evidence import Evidence
from temp0.core.cause.finding import NOTHING, Finding, Outcome
from temp0.core.cause.wording import counted


def no_visible_output(evidence: Evidence) -> Outcome:
    """The rule: a counted completion with an empty text."""
    empty = {one.prompt.id: sum(text.count for text in one.prompt.texts if not text.text) for one in evidence.prompts}
    hit = tuple(prompt for prompt, count in empty.items() if count)
    if not hit:
        return NOTHING
    total = sum(empty.values())
    has_reasoned = any(one.has_reasoned for one in evidence.prompts if one.prompt.id in hit)
    reasoned = " after reasoning that is not part of the text" if has_reasoned else ""
    return Outcome(
        finding=Finding(
            cause="no-visible-output",
            evidence=f"{counted(total, 'completion')} came back empty{reasoned}",
            remedy="raise --max-tokens, so that the answer itself fits",
            prompts=hit,
            n=total,
            proof="rule",
        )
    )
