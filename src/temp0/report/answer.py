"""What a prompt got, in a few words: its answers, completions and blocks, and the conditions that decide."""

from __future__ import annotations

from temp0.core.analysis import ConditionAnalysis, PromptAnalysis, Verdict
from temp0.report.figure import percent, some
from temp0.report.naming import quoted

_TABLED = 6


def answers(prompt: PromptAnalysis) -> str:
    """How many different answers a prompt got: `12 different texts in 30 completions`."""
    total = completions(prompt)
    if not total:
        return "no completion counted"
    if prompt.verdict is not Verdict.DIVERGED and prompt.distinct.text > 1:
        names = {one.name for one in deciding(prompt)}
        counted = [text for text in prompt.texts if names & {name for name, _ in text.conditions}]
        which = "one text streamed and another whole" if counted[1:] else "one text"
        return f"{which} in {some(sum(one.completions for one in deciding(prompt)), 'completion')} that count"
    texts = "one text" if prompt.distinct.text == 1 else f"{prompt.distinct.text:,} different texts"
    return f"{texts} in {some(total, 'completion')}"


def completions(prompt: PromptAnalysis) -> int:
    """The completions of a prompt that count, over all conditions."""
    return sum(condition.completions for condition in prompt.conditions)


def blocks(one: ConditionAnalysis) -> int:
    """The blocks that hold a completion of a condition; one completion stands in one block."""
    return one.agreement.n if one.agreement else one.completions


def deciding(prompt: PromptAnalysis) -> tuple[ConditionAnalysis, ...]:
    """The conditions that decide a verdict: those without logprobs, where there are any."""
    plain = tuple(one for one in prompt.conditions if not one.condition.logprobs)
    return plain or prompt.conditions


def one_text_under_all(prompt: PromptAnalysis) -> str | None:
    """One sentence in place of a long table, where every one of many conditions agreed on one text."""
    conditions = prompt.conditions
    is_plain = all(one.verdict is Verdict.AGREED and one.completions == one.attempts for one in conditions)
    if prompt.distinct.text != 1 or len(conditions) <= _TABLED or not is_plain:
        return None
    bounds = [(one.variant_rate_upper, one.name) for one in conditions if one.variant_rate_upper is not None]
    upper, name = max(bounds, default=(None, ""))
    bound = f"; at most {percent(upper)} of blocks unlike it, under “{name}”" if bounds else ""
    unbounded = [one.name for one in conditions if one.variant_rate_upper is None]
    none = f"; no bound under {quoted(unbounded)}, with one block{' each' if unbounded[1:] else ''}"
    return f"One text under all {len(conditions)} conditions{bound}{none if unbounded else ''}."
