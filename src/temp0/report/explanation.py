"""Why the answers of a run differ: its causes, and for what none of them explains, what the difference lines up with.

That a difference lines up with what was varied is a fact about this run and never called a cause.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from temp0.core.analysis import Analysis, Cause, ConditionAnalysis, PromptAnalysis, Verdict
from temp0.core.company import is_shown
from temp0.core.plan import Condition
from temp0.report.cause_word import is_note
from temp0.report.command import can_be_asked, held
from temp0.report.figure import probability, some
from temp0.report.naming import listed, who
from temp0.report.visible import beginning

_LINES = 6
_TOLD = 4
_LONGEST = 300
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
    """What stands under one heading: causes, sentences where no cause explains, and what could not be tested.

    Each entry of `untested` has causes, listed, and the reason they share.
    """

    heading: str
    causes: tuple[Cause, ...] = ()
    sentences: tuple[str, ...] = ()
    untested: tuple[tuple[str, str], ...] = ()


def why(analysis: Analysis) -> tuple[Explanation, ...]:
    """Causes in the order given; notes under a heading of their own where a difference is to be explained.

    That nothing at all was measured is the headline of such a run, and not told again.
    """
    diverged = analysis.verdict is Verdict.DIVERGED
    causes = [cause for cause in analysis.causes if analysis.exit_code != 3 or cause.cause != "not-measured"]
    reasons = tuple(cause for cause in causes if not diverged or not is_note(cause))
    notes = tuple(cause for cause in causes if diverged and is_note(cause))
    told = (
        Explanation(
            heading="Why" if diverged else "What to know",
            causes=reasons,
            sentences=_contrasts(_unexplained(analysis, reasons)),
        ),
        Explanation(heading="Also to know", causes=notes),
        Explanation(heading="Not tested", untested=_untested(analysis)),
    )
    return tuple(one for one in told if one.causes or one.sentences or one.untested)


def is_settled(analysis: Analysis) -> bool:
    """Whether nothing waits for a reason: all agreed, or a cause was found for every prompt that diverged."""
    found = [cause for cause in analysis.causes if cause.certainty == "found" and not is_note(cause)]
    return analysis.verdict is not Verdict.UNDECIDED and not _unexplained(analysis, found)


def _unexplained(analysis: Analysis, reasons: Sequence[Cause]) -> list[PromptAnalysis]:
    """The diverged prompts that no cause names; one that names no prompt holds for all."""
    if any(not cause.prompts for cause in reasons):
        return []
    named = {prompt for cause in reasons for prompt in cause.prompts}
    return [one for one in analysis.prompts if one.verdict is Verdict.DIVERGED and one.id not in named]


def _untested(analysis: Analysis) -> tuple[tuple[str, str], ...]:
    """What could not be tested, where that may be the reason wanted; nothing where nothing was measured at all.

    Which flag would test it is told where somebody can be asked.
    """
    if is_settled(analysis) or analysis.exit_code == 3:
        return ()
    alike: dict[str, list[str]] = {}
    for one in analysis.untested:
        reason = one.reason if can_be_asked(analysis.address) else one.reason.partition("; --")[0]
        alike.setdefault(reason, []).append(one.cause)
    return tuple((listed(causes), held(beginning(reason, _LONGEST))) for reason, causes in alike.items())


def contrast(prompt: PromptAnalysis) -> str | None:
    """What the difference between a prompt's conditions lines up with, with its p; `None` where with nothing.

    It lines up with what was varied where one setting always gave one text and another gave another, or several.
    """
    answered = [one for one in prompt.conditions if one.completions]
    texts = {one.name: frozenset(_hashes(prompt, one)) for one in answered}
    varied = [name for name, setting in _VARIED if _lines_up(answered, texts, setting)]
    if not varied:
        return None
    told = [_told(one, texts, answered[:place]) for place, one in enumerate(answered)]
    each = f": {', '.join(told)}" if len(told) <= _TOLD else ""
    return f"{beginning(prompt.id, 40)} lines up with {' and '.join(varied)}{each}{_by_chance(prompt)}."


def _contrasts(parted: Sequence[PromptAnalysis]) -> tuple[str, ...]:
    if not parted:
        return ()
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
