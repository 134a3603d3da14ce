"""That answers differ one at a time, between two conditions, or only in company is told as what it is."""

from __future__ import annotations

from collections.abc import Sequence

import analysis_samples as samples
import reason_samples as reasons

from temp0.core.analysis import Analysis, Verdict
from temp0.core.plan import Condition
from temp0.report.parting import where

STREAMED = Condition(stream=True)


def told(analysis: Analysis) -> Sequence[str]:
    parted = [prompt for prompt in analysis.prompts if prompt.verdict is Verdict.DIVERGED]
    return where(parted, len(analysis.prompts))


def cold_against_warm(*names: str) -> samples.Answers:
    return {name: {reasons.COLD: [f"{name} one"] * 4, reasons.WARM: [f"{name} two"] * 4} for name in names}


def test_a_difference_between_cold_and_warm_is_told_as_one() -> None:
    assert told(reasons.untold_cache()) == (
        "Asked one at a time, A gave one text under “alone, cache cold” and another under “alone, cache warm”.",
    )


def test_all_prompts_that_part_alike_are_told_together() -> None:
    assert told(samples.analyzed(cold_against_warm("A", "B"))) == (
        "Asked one at a time, both prompts gave one text each under “alone, cache cold” and another under "
        "“alone, cache warm”.",
    )


def test_prompts_that_part_within_and_between_conditions_are_told_apart() -> None:
    answers = {**cold_against_warm("A"), "B": {reasons.COLD: ["one", "two"], reasons.WARM: ["one", "two"]}}

    first, second = told(samples.analyzed(answers))

    assert first == "Asked one at a time, B already got more than one answer."
    assert second.startswith("Asked one at a time, A gave one text under “alone, cache cold”")


def test_prompts_that_part_between_different_conditions_are_told_in_general() -> None:
    found = {samples.ALONE: ["one"] * 4, reasons.COLD: ["one"] * 4, reasons.WARM: ["two"] * 4}
    cold = {samples.ALONE: ["one"] * 4, reasons.COLD: ["two"] * 4, reasons.WARM: ["one"] * 4}

    assert told(samples.analyzed({"A": found, "B": cold})) == (
        "Asked one at a time, both prompts gave one text each under each condition, but not the same under all.",
    )


def test_a_difference_across_streaming_is_no_second_answer() -> None:
    answers = {samples.ALONE: ["one"] * 4, STREAMED: ["one "] * 4, samples.COMPANY: ["two"] * 16}

    assert told(samples.analyzed({"A": answers})) == ("Asked one at a time, it gave one text; in company another.",)
