"""Under which conditions answers parted, in a sentence or two, as far as the verdicts alone say it.

That answers asked one at a time differ within one condition, and that they differ only between two, are told apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from temp0.core.analysis import Comparison, ConditionAnalysis, PromptAnalysis, Verdict
from temp0.report.answer import deciding
from temp0.report.contrast import counts
from temp0.report.figure import every
from temp0.report.naming import who


def where(parted: Sequence[PromptAnalysis], prompts: int) -> tuple[str, ...]:
    """What the prompts that diverged, of so many, gave one at a time and in company."""
    forked = [prompt.id for prompt in parted if any(one.verdict is Verdict.DIVERGED for one in _alone(prompt))]
    apart = {prompt.id: pair for prompt in parted if prompt.id not in forked and (pair := _apart_alone(prompt))}
    if forked or apart:
        within = f"Asked one at a time, {_whom(forked, prompts)} already got more than one answer."
        return (*((within,) if forked else ()), *_between(apart, prompts))
    together = [one for prompt in parted for one in deciding(prompt) if one.condition.company > 1]
    alone = [one for prompt in parted for one in _alone(prompt)]
    if together and alone and all(one.verdict is Verdict.AGREED for one in alone):
        subject = "each of them" if parted[1:] else "it"
        then = "another" if all(one.distinct.text == 1 for one in together) else "it did not stay so"
        return (f"Asked one at a time, {subject} gave one text; in company {then}.",)
    return ()


def _alone(prompt: PromptAnalysis) -> list[ConditionAnalysis]:
    return [one for one in deciding(prompt) if one.condition.company == 1]


def _apart_alone(prompt: PromptAnalysis) -> Comparison | None:
    """The first two conditions asked one at a time whose answers differ, where that counts."""
    alone = {one.name for one in _alone(prompt)}
    differing = (pair for pair in prompt.comparisons if pair.verdict is Verdict.DIVERGED and counts(prompt, pair))
    return next((pair for pair in differing if pair.a in alone and pair.b in alone), None)


def _between(pairs: Mapping[str, Comparison], prompts: int) -> tuple[str, ...]:
    """What prompts gave that are steady under each condition asked one at a time, but not over them."""
    names = list(dict.fromkeys((pair.a, pair.b) for pair in pairs.values()))
    if not names:
        return ()
    (a, b), *others = names
    under = "under each condition, but not the same under all" if others else f"under “{a}” and another under “{b}”"
    each = " each" if len(pairs) > 1 else ""
    return (f"Asked one at a time, {_whom(list(pairs), prompts)} gave one text{each} {under}.",)


def _whom(ids: Sequence[str], prompts: int) -> str:
    return every(prompts, "prompt") if len(ids) == prompts > 1 else who(ids)
