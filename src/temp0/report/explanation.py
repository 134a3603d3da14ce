"""Why the answers of a run differ: its named causes, else what the difference lines up with.

That a difference lines up with what was varied is a fact about this run and never called a cause.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from temp0.core.analysis import Analysis, ConditionAnalysis, PromptAnalysis, Verdict
from temp0.core.company import is_shown
from temp0.core.plan import Condition
from temp0.report.figure import probability, some
from temp0.report.headline import who
from temp0.report.visible import beginning

_NOTES = frozenset({"not-measured", "no-visible-output", "short-window", "finish"})
"""Causes that say what could not be seen; they never explain a difference."""
_LINES = 6
_OFTEN_BY_CHANCE = 0.1

_VARIED: tuple[tuple[str, Callable[[Condition], object]], ...] = (
    ("company", lambda condition: condition.company),
    ("filler", lambda condition: condition.filler),
    ("cache", lambda condition: condition.cache),
    ("logprobs", lambda condition: condition.logprobs),
    ("stream", lambda condition: condition.stream),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The heading above the causes, and sentences where no cause explains a difference."""

    heading: str
    sentences: tuple[str, ...]


def why(analysis: Analysis) -> Explanation:
    """What stands in place of, or above, the causes."""
    if analysis.verdict is not Verdict.DIVERGED:
        nothing = () if analysis.causes else ("There is no difference to explain.",)
        return Explanation(heading="What to know", sentences=nothing)
    explained = any(cause.cause not in _NOTES for cause in analysis.causes)
    parted = [prompt for prompt in analysis.prompts if prompt.verdict is Verdict.DIVERGED]
    return Explanation(heading="Why", sentences=() if explained else _contrasts(parted))


def contrast(prompt: PromptAnalysis) -> str | None:
    """What the difference between a prompt's conditions lines up with, with its p; `None` where with nothing.

    It lines up with what was varied where one setting always gave one text and another gave another, or several.
    """
    answered = [one for one in prompt.conditions if one.completions]
    texts = {one.name: frozenset(_hashes(prompt, one)) for one in answered}
    varied = [name for name, setting in _VARIED if _lines_up(answered, texts, setting)]
    if not varied:
        return None
    told = ", ".join(_told(one, texts, answered[:place]) for place, one in enumerate(answered))
    return f"{beginning(prompt.id, 40)} lines up with {' and '.join(varied)}: {told}{_by_chance(prompt)}."


def _contrasts(parted: Sequence[PromptAnalysis]) -> tuple[str, ...]:
    lines = {prompt.id: line for prompt in parted if (line := contrast(prompt))}
    told = list(lines.values())[:_LINES]
    if len(lines) > _LINES:
        told.append(f"{some(len(lines) - _LINES, 'more prompt lines', 'more prompts line')} up with what was varied.")
    others = [prompt.id for prompt in parted if prompt.id not in lines]
    if others:
        where = f" in {who(others)}" if lines else ""
        told.append(f"Nothing asked here lines up with the difference{where}{_only(parted[0])}.")
    return tuple(told)


def _only(prompt: PromptAnalysis) -> str:
    """Says so where nothing was varied at all."""
    return f": only “{prompt.conditions[0].name}” was asked" if len(prompt.conditions) == 1 else ""


def _hashes(prompt: PromptAnalysis, one: ConditionAnalysis) -> list[str]:
    return [text.sha256 for text in prompt.texts if dict(text.conditions).get(one.name)]


def _lines_up(
    answered: Sequence[ConditionAnalysis],
    texts: dict[str, frozenset[str]],
    setting: Callable[[Condition], object],
) -> bool:
    """Whether one value of a setting always gave one text, and another value did not give just that one."""
    by_value: dict[object, frozenset[str]] = {}
    for one in answered:
        value = setting(one.condition)
        by_value[value] = by_value.get(value, frozenset()) | texts[one.name]
    return len(set(by_value.values())) > 1 and any(len(seen) == 1 for seen in by_value.values())


def _told(one: ConditionAnalysis, texts: dict[str, frozenset[str]], before: Sequence[ConditionAnalysis]) -> str:
    """What one condition gave, beside those told before it."""
    seen = texts[one.name]
    if len(seen) > 1:
        return f"{_under(one)} {len(seen):,} different texts in {one.completions:,}"
    always = "" if one.completions == 1 else "always "
    count = "asked once" if one.completions == 1 else f"{one.completions:,} of {one.completions:,}"
    earlier = [texts[other.name] for other in before]
    which = "one text" if not any(len(each) == 1 for each in earlier) else "another"
    which = "the same" if seen in earlier else which
    return f"{_under(one)} {always}{which} ({count})"


def _under(one: ConditionAnalysis) -> str:
    condition = one.condition
    name = f"in {one.name}" if condition.company > 1 else one.name
    name = f"under “{one.name}”" if "," in one.name else name
    return name if is_shown(one.company) else f"{name} (not shown)"


def _by_chance(prompt: PromptAnalysis) -> str:
    """The p of the comparison that diverged; of several, the smallest and the largest."""
    ps = [pair.p for pair in prompt.comparisons if pair.verdict is Verdict.DIVERGED and pair.p is not None]
    if not ps:
        return ""
    least, most = probability(min(ps)), probability(max(ps))
    told = f", {least}" if least == most else f", {least} to {most.rpartition('=')[2].strip()}"
    return f"{told}, as chance alone would often give" if min(ps) > _OFTEN_BY_CHANCE else told
