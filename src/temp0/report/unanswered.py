"""Prompts of which no completion counted, told together where they failed alike.

Such a prompt has nothing for a table; its failures are all there is to say, and none of them is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from temp0.core.analysis import PromptAnalysis
from temp0.report.figure import times
from temp0.report.visible import beginning

_MESSAGE = 240

Problem = tuple[str, str, str]
"""What became of an attempt (failed or excluded), for which reason, and the first message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unanswered:
    """Prompts by id, and what became of their attempts."""

    ids: tuple[str, ...]
    problems: tuple[str, ...]


def unanswered(prompts: Sequence[PromptAnalysis]) -> tuple[Unanswered, ...]:
    """The prompts without a completion that counts, in the plan's order, grouped by how they failed."""
    alike: dict[tuple[Problem, ...], list[PromptAnalysis]] = {}
    for prompt in prompts:
        if not is_answered(prompt):
            alike.setdefault(tuple(sorted(_problems(prompt))), []).append(prompt)
    return tuple(
        Unanswered(ids=tuple(prompt.id for prompt in group), problems=_told(group)) for group in alike.values()
    )


def is_answered(prompt: PromptAnalysis) -> bool:
    """Whether any completion of the prompt counts."""
    return any(condition.completions for condition in prompt.conditions)


def _problems(prompt: PromptAnalysis) -> Counter[Problem]:
    counts = Counter[Problem]()
    for one in prompt.conditions:
        for what, tallies in (("failed", one.failures), ("excluded", one.excluded)):
            for tally in tallies:
                counts[what, tally.reason, tally.message] += tally.count
    return counts


def _told(group: Sequence[PromptAnalysis]) -> tuple[str, ...]:
    counts = sum(map(_problems, group), Counter[Problem]())
    if not counts:
        return ("nothing was sent",)
    return tuple(
        f"{what} {times(count)}, {beginning(reason, 80)}{f': {beginning(message, _MESSAGE)}' if message else ''}"
        for (what, reason, message), count in counts.most_common()
    )
