"""How answers change with company: completions unlike the commonest one alone, level by level.

Counts are pooled over the prompts and hold only completions that count; they estimate nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from temp0.core.analysis import Analysis, PromptAnalysis
from temp0.core.plan import Condition
from temp0.report.figure import every

_FEWEST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """One level of company: how many of its completions are unlike the commonest text at the lowest level."""

    company: int
    unlike: int
    completions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ladder:
    """The levels of company that were asked with all else equal; `setting` names what else was not the default."""

    setting: str
    prompts: int
    rungs: tuple[Rung, ...]


def ladders(analysis: Analysis) -> tuple[Ladder, ...]:
    """Every ladder of at least three levels on which some answer was unlike."""
    conditions = list(dict.fromkeys(one.condition for prompt in analysis.prompts for one in prompt.conditions))
    made = (_ladder(analysis.prompts, group) for group in by_company(conditions))
    return tuple(ladder for ladder in made if ladder and any(rung.unlike for rung in ladder.rungs))


def ladder_caption(climbed: Sequence[Ladder]) -> str:
    """What the ladders of a run count, and over how many prompts; one by itself has its setting here."""
    first = climbed[0]
    lowest = {ladder.rungs[0].company for ladder in climbed}
    where = "alone" if lowest == {1} else "in the least company"
    setting = f" ({first.setting})" if first.setting and not climbed[1:] else ""
    return f"Completions unlike the commonest text {where}, by company{setting}, over {every(first.prompts, 'prompt')}"


def rung_name(rung: Rung) -> str:
    """A level of company by its name."""
    return "alone" if rung.company == 1 else f"company {rung.company}"


def by_company(conditions: Sequence[Condition]) -> list[list[Condition]]:
    """Conditions that differ in company alone, the least first; being alone belongs to every kind of filler."""
    alone = [one for one in conditions if one.company == 1]
    groups: dict[tuple[object, ...], list[Condition]] = {}
    for one in sorted(conditions, key=lambda one: one.company):
        if one.company > 1:
            setting = (one.filler, *_setting(one))
            first = [single for single in alone if _setting(single) == _setting(one)]
            groups.setdefault(setting, first).append(one)
    return list(groups.values())


def _setting(one: Condition) -> tuple[object, ...]:
    return one.cache, one.logprobs, one.stream


def _ladder(prompts: Sequence[PromptAnalysis], group: Sequence[Condition]) -> Ladder | None:
    """The ladder over the prompts that were answered at its lowest level."""
    if len({one.company for one in group}) < _FEWEST:
        return None
    lowest, *_ = group
    first = {prompt.id: commonest for prompt in prompts if (commonest := _commonest(prompt, lowest.name))}
    rungs = []
    for one in group:
        counts = [
            (text.sha256 == first[prompt.id], count)
            for prompt in prompts
            if prompt.id in first
            for text in prompt.texts
            if (count := dict(text.conditions).get(one.name))
        ]
        total = sum(count for _, count in counts)
        unlike = sum(count for is_first, count in counts if not is_first)
        rungs.append(Rung(company=one.company, unlike=unlike, completions=total))
    return Ladder(setting=setting_name(group[-1]), prompts=len(first), rungs=tuple(rungs))


def _commonest(prompt: PromptAnalysis, condition: str) -> str | None:
    counts = [(count, text.sha256) for text in prompt.texts if (count := dict(text.conditions).get(condition))]
    return max(counts, key=lambda counted: counted[0])[1] if counts else None


def setting_name(one: Condition) -> str:
    """What a condition varies besides company."""
    return one.name.partition(f"company {one.company}")[2].strip(", ")
