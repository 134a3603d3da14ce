"""The comparisons of a prompt that are worth a line: few of them, the most telling first, the others counted.

A pair tells most where its conditions differ in one setting alone; that two agree is what most pairs say.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal

from temp0.core.analysis import Comparison, PromptAnalysis, Verdict
from temp0.report.answer import deciding
from temp0.report.figure import some
from temp0.report.level import between

_ALL = 3
_ALIKE = 3
_MOST = 6
_OFTEN_BY_CHANCE = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrasts:
    """The pairs to show, and what is left of the others in one line; empty where none are left."""

    shown: tuple[Comparison, ...]
    others: str


def contrasts(prompt: PromptAnalysis) -> Contrasts:
    """All pairs where they are few; else those that diverged, or differ below the text, some for each setting."""
    pairs = prompt.comparisons
    if len(pairs) <= _ALL:
        return Contrasts(shown=pairs, others="")
    conditions = {one.name: one.condition for one in prompt.conditions}

    def apart(pair: Comparison) -> tuple[str, ...]:
        return conditions[pair.a].factors_apart(conditions[pair.b])

    diverged = sorted((pair for pair in pairs if pair.verdict is Verdict.DIVERGED), key=_chance)
    telling = [pair for pair in diverged if _chance(pair) <= _OFTEN_BY_CHANCE] or diverged[:1]
    alike: dict[tuple[str, ...], list[Comparison]] = {}
    for pair in [*telling, *(pair for pair in pairs if between(pair))]:
        alike.setdefault(apart(pair), []).append(pair)
    kinds: list[tuple[str, ...]] = [kind for kind in alike if len(kind) == 1] or sorted(alike, key=len)
    shown = [pair for kind in kinds for pair in alike[kind][:_ALIKE]][:_MOST]
    left = Counter(pair.verdict for pair in pairs if pair not in shown)
    return Contrasts(shown=tuple(shown), others=_counted(left, "other pair" if shown else "pair"))


def _chance(pair: Comparison) -> float:
    return 1.0 if pair.p is None else pair.p


def _counted(left: Counter[Verdict], pairs: str) -> str:
    """`7 other pairs agreed, 2 are undecided`; nothing where none are left."""
    words = {Verdict.DIVERGED: "diverged", Verdict.AGREED: "agreed", Verdict.UNDECIDED: "are undecided"}
    told = [(left[verdict], word) for verdict, word in words.items() if left[verdict]]
    first = [f"{some(count, pairs)} {word}" for count, word in told[:1]]
    return ", ".join([*first, *(f"{count:,} {word}" for count, word in told[1:])])


def counts(prompt: PromptAnalysis, pair: Comparison) -> bool:
    """Whether a pair that diverged makes its prompt diverge; one that did not always counts."""
    return uncounted_for(prompt, pair) is None


def uncounted_for(prompt: PromptAnalysis, pair: Comparison) -> Literal["logprobs", "stream"] | None:
    """For what a pair that diverged does not count: logprobs beside plain attempts, or streaming; `None` if it does."""
    conditions = {one.name: one.condition for one in deciding(prompt)}
    if pair.verdict is not Verdict.DIVERGED:
        return None
    if pair.a not in conditions or pair.b not in conditions:
        return "logprobs"
    return None if conditions[pair.a].stream == conditions[pair.b].stream else "stream"
