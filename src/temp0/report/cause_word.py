"""A cause in words: what it means, whom it holds for, and which causes are notes.

A note says what could not be seen or does not count; it never explains why answers differ.
"""

from __future__ import annotations

from temp0.core.analysis import Analysis, Cause, PromptAnalysis, Verdict
from temp0.core.cause.inquiry import NOTES
from temp0.core.run import Address
from temp0.report.command import held, measured_again
from temp0.report.figure import adjusted, every
from temp0.report.naming import who
from temp0.report.visible import elided, visible

_NOTES = NOTES | {"response-cache"}

_LONGEST = 900
_IS = {"found": "is", "suspected": "may be"}

_MEANINGS = {
    "not-measured": "too little came back",
    "response-cache": "answers were replayed, not computed",
    "sampling": "temperature 0 did not reach the model",
    "no-visible-output": "answers came back empty",
    "short-window": "answers were cut short",
    "finish": "equal texts ended for different reasons",
    "backend-mix": "the answer depends on which backend gives it",
    "cache-state": "the answer depends on what the prefix cache holds",
    "order": "the answer depends on what was asked before, or changed with time",
    "company": "the answer depends on what runs beside it",
    "observer": "asking for logprobs, or for a stream, changes the answer",
    "unseen-company": "it varies one at a time, and strangers may run beside it",
    "run-to-run": "it varies with nothing running beside it",
}


def is_note(cause: Cause) -> bool:
    """Whether a cause tells of what was not seen, rather than why answers differ."""
    return cause.cause in _NOTES


def meaning(cause: str) -> str:
    """What a cause says, in words; empty for one without any."""
    return _MEANINGS.get(cause, "")


def holds_for(cause: Cause, prompts: int) -> str:
    """The prompts of a cause, and its adjusted p; empty where there is but one prompt and nothing was adjusted."""
    whom = who(cause.prompts) if len(cause.prompts) < prompts else every(prompts, "prompt")
    told = [f"In {whom}"] if cause.prompts and prompts > 1 else []
    return "; ".join([*told, adjusted(cause)] if adjusted(cause) else told)


def evidence(cause: Cause) -> str:
    """The evidence as a sentence."""
    text = held(elided(cause.evidence, _LONGEST))
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def remedy(cause: Cause, address: Address) -> tuple[str, str | None]:
    """What to do, cut where a server's own words make it long, and the command that measures again, if it names one."""
    words, command = measured_again(cause.remedy, address)
    return held(elided(words, _LONGEST)), None if command is None else visible(command)


def observer_notes(analysis: Analysis) -> dict[str, str]:
    """For each prompt for which asking for logprobs changes the answer, what those that are told are worth."""
    standing = [cause for cause in analysis.causes if cause.cause == "observer"]
    told = {one.id for one in analysis.prompts if _tells_logprobs(one) and not _is_by_stream(one)}
    return {
        prompt: f"Margins and logprobs tell of the attempts that asked for them, which {_IS[cause.certainty]} another "
        f"computation here (observer, {cause.certainty})."
        for cause in standing
        for prompt in cause.prompts
        if prompt in told
    }


def _tells_logprobs(prompt: PromptAnalysis) -> bool:
    first, forks = prompt.first_difference, prompt.tree.forks() if prompt.tree else ()
    is_known = any(fork.margin.value is not None or fork.margin.distributions for fork in forks)
    return is_known or first.logprobs is not None or first.top_logprobs is not None


def _is_by_stream(prompt: PromptAnalysis) -> bool:
    """Whether its texts differ between streamed and whole answers, and not between those with logprobs and without."""
    condition = {one.name: one.condition for one in prompt.conditions}
    apart = {
        condition[pair.a].factors_apart(condition[pair.b])
        for pair in prompt.comparisons
        if pair.verdict is Verdict.DIVERGED
    }
    return ("stream",) in apart and ("logprobs",) not in apart
