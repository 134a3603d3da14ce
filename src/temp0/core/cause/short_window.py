"""Cause `short-window`: every completion was cut by the token limit, so that later forks cannot be seen."""

from __future__ import annotations

from temp0.core.analysis import DistinctText
from temp0.core.cause.evidence import Evidence
from temp0.core.cause.finding import NOTHING, Finding, Outcome
from temp0.core.cause.wording import counted
from temp0.core.fork import LENGTH_FINISHES


def short_window(evidence: Evidence) -> Outcome:
    """The rule: all completions of a prompt ended by length. Forks before that count as any other."""
    prompts = [one.prompt for one in evidence.prompts]
    cut = [prompt for prompt in prompts if prompt.texts and all(map(_is_cut, prompt.texts))]
    if not cut:
        return NOTHING
    longest = max(len(text.text) for prompt in cut for text in prompt.texts)
    return Outcome(
        finding=Finding(
            cause="short-window",
            evidence=f"every completion ended by length, the longest after {counted(longest, 'character')}; "
            "forks later than that cannot be seen",
            remedy="raise --max-tokens to see further",
            prompts=tuple(prompt.id for prompt in cut),
            n=sum(text.count for prompt in cut for text in prompt.texts),
            proof="rule",
        )
    )


def _is_cut(text: DistinctText) -> bool:
    return all(finish.reason in LENGTH_FINISHES for finish in text.finishes)
