"""Cause `finish`: one text ended for more than one reason; a note, not a divergence."""

from __future__ import annotations

from temp0.core.cause.evidence import Evidence
from temp0.core.cause.finding import NOTHING, Finding, Outcome


def finish(evidence: Evidence) -> Outcome:
    """The rule: equal texts with different finish reasons."""
    mixed = [(one.prompt.id, text) for one in evidence.prompts for text in one.prompt.texts if len(text.finishes) > 1]
    if not mixed:
        return NOTHING
    _, text = mixed[0]
    reasons = " and ".join(f"{one.reason or 'no reason given'} ({one.count})" for one in text.finishes)
    return Outcome(
        finding=Finding(
            cause="finish",
            evidence=f"text {text.sha256[:8]} ended by {reasons}; the texts are equal, so this is no divergence",
            remedy="compare finish reasons separately if your code acts on them",
            prompts=tuple(dict.fromkeys(prompt for prompt, _ in mixed)),
            n=text.count,
            proof="rule",
        )
    )
