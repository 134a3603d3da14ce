"""Dose and response: how many answers are unlike the one alone, at each level of company."""

from __future__ import annotations

import analysis_samples as samples
import reason_samples as reasons

from temp0.core.analysis import Analysis
from temp0.core.plan import Condition
from temp0.report.ladder import Ladder, ladder_caption, ladders


def climbed(*levels: int, filler: str = "same") -> dict[Condition, list[str]]:
    """Alone always one text; in company of k, k of its answers are others."""
    return {
        Condition(company=k, filler=filler if k > 1 else "same"): ["one"] * (40 - k * (k > 1)) + ["two"] * (k * (k > 1))
        for k in levels
    }


def rungs(ladder: Ladder) -> list[tuple[int, int, int]]:
    return [(rung.company, rung.unlike, rung.completions) for rung in ladder.rungs]


def only(analysis: Analysis) -> Ladder:
    (ladder,) = ladders(analysis)
    return ladder


def test_each_level_counts_the_answers_unlike_the_commonest_alone() -> None:
    assert rungs(only(samples.analyzed({"A": climbed(1, 2, 8)}))) == [(1, 0, 40), (2, 2, 40), (8, 8, 40)]


def test_levels_come_by_company_whatever_their_order_in_the_plan() -> None:
    assert [company for company, *_ in rungs(only(samples.analyzed({"A": climbed(8, 1, 2)})))] == [1, 2, 8]


def test_prompts_are_pooled_each_against_its_own_text_alone() -> None:
    other = {
        condition: ["three" if text == "one" else "one" for text in texts]
        for condition, texts in climbed(1, 2, 8).items()
    }

    ladder = only(samples.analyzed({"A": climbed(1, 2, 8), "B": other}))

    assert rungs(ladder) == [(1, 0, 80), (2, 4, 80), (8, 16, 80)]
    assert ladder_caption([ladder]) == "Completions unlike the commonest text alone, by company, over both prompts"


def test_two_levels_are_no_ladder_and_neither_is_what_never_differs() -> None:
    assert ladders(samples.analyzed({"A": climbed(1, 8)})) == ()
    assert ladders(samples.analyzed({"A": {Condition(company=k): ["one"] * 8 for k in (1, 2, 8)}})) == ()


def test_alone_belongs_to_every_kind_of_filler() -> None:
    both = climbed(1, 2, 8) | climbed(2, 8, filler="mixed")

    assert [(ladder.setting, len(ladder.rungs)) for ladder in ladders(samples.analyzed({"A": both}))] == [
        ("", 3),
        ("mixed", 3),
    ]


def test_a_ladder_without_alone_says_what_it_compares_with() -> None:
    ladder = only(samples.analyzed({"A": climbed(2, 4, 8)}))

    assert rungs(ladder)[0] == (2, 2, 40)
    assert ladder_caption([ladder]).startswith("Completions unlike the commonest text in the least company")


def test_a_prompt_not_answered_at_the_lowest_level_is_left_out() -> None:
    unanswered = reasons.Condition(company=1)
    failed = samples.Failure(reason="timeout", message="")
    answers = {"A": climbed(1, 2, 8), "B": climbed(1, 2, 8) | {unanswered: [failed] * 3}}

    assert only(samples.analyzed(answers)).prompts == 1


def test_each_setting_crossed_with_company_has_its_own_ladder() -> None:
    settings = [ladder.setting for ladder in ladders(reasons.crossed())]

    assert settings == ["cache cold", "cache warm", "stream, cache cold", "stream, cache warm"]
