"""Asks a scenario as a user does, and says in short what temp0 concluded."""

from __future__ import annotations

from typing import Any

import temp0
from temp0.core.analysis import Analysis, Cause, Comparison, ConditionAnalysis, PromptAnalysis


def probed(url: str, **options: Any) -> Analysis:
    """Ask and analyse; the model is named, so that nothing is asked but what is planned."""
    return temp0.analyze(temp0.ask(url, model="m", **options))


def named(analysis: Analysis) -> dict[str, str]:
    """Give every cause named, with its certainty."""
    return {cause.cause: cause.certainty for cause in analysis.causes}


def found(analysis: Analysis) -> set[str]:
    """Give the causes that were found, not only suspected."""
    return {cause.cause for cause in analysis.causes if cause.certainty == "found"}


def cause(analysis: Analysis, name: str) -> Cause:
    """Give the cause of that name, which must be there with its evidence and a remedy."""
    causes = {cause.cause: cause for cause in analysis.causes}
    assert name in causes, f"{name} is not among {named(analysis)}"
    assert causes[name].evidence
    assert causes[name].remedy
    return causes[name]


def untested(analysis: Analysis) -> set[str]:
    """Give the causes that could be neither found nor ruled out."""
    return {each.cause for each in analysis.untested}


def condition(prompt: PromptAnalysis, name: str) -> ConditionAnalysis:
    """Give the condition of that name."""
    conditions = {each.name: each for each in prompt.conditions}
    assert name in conditions, f"{name} is not among {list(conditions)}"
    return conditions[name]


def comparison(prompt: PromptAnalysis, one: str, other: str) -> Comparison:
    """Give the comparison of two conditions, whichever side comes first."""
    return next(each for each in prompt.comparisons if {each.a, each.b} == {one, other})


def excluded(conditions: ConditionAnalysis) -> int:
    """Count the completions that do not count."""
    return sum(tally.count for tally in conditions.excluded)


def failures(conditions: ConditionAnalysis) -> dict[str, int]:
    """Count the failures by reason."""
    return {tally.reason: tally.count for tally in conditions.failures}
