"""On a terminal company is followed level by level, as bars or as columns."""

from __future__ import annotations

import re

import analysis_samples as samples
from rich.console import Group

from temp0.core.analysis import Analysis
from temp0.core.plan import Condition
from temp0.report.screen import rendered
from temp0.report.witness_screen import witness_screen


def shown(analysis: Analysis) -> str:
    return rendered(Group(*witness_screen(analysis)), width=80)


def ladder(*settings: Condition) -> Analysis:
    texts = {1: ["one"] * 32, 8: ["one"] * 24 + ["two"] * 8, 32: ["two"] * 31 + ["one"]}
    answers = {
        Condition(company=k, stream=each.stream, cache=each.cache): texts[k] for each in settings for k in (1, 8, 32)
    }
    return samples.analyzed({"A": answers})


def test_one_ladder_is_drawn_with_bars() -> None:
    lines = shown(ladder(Condition())).splitlines()[1:]

    assert lines == [
        "Completions unlike the commonest text alone, by company, over the prompt",
        "  alone       ························   0 of 32 completions",
        "  company 8   ━━━━━━··················   8 of 32 completions",
        "  company 32  ━━━━━━━━━━━━━━━━━━━━━━━·  31 of 32 completions",
    ]


def test_what_is_unlike_even_once_has_a_bar() -> None:
    rare = {Condition(company=k): ["one"] * 100 + ["two"] * (k == 8) for k in (1, 2, 8)}

    assert "━" in shown(samples.analyzed({"A": rare}))


def test_several_ladders_stand_side_by_side() -> None:
    text = shown(ladder(Condition(), Condition(stream=True)))

    assert re.search(r"^ +all else at its default +stream$", text, re.MULTILINE)
    assert re.search(r"^  company 8 +8 of 32 +8 of 32$", text, re.MULTILINE)
    assert "━" not in text


def test_more_ladders_than_fit_are_counted() -> None:
    settings = [
        Condition(stream=stream, cache=cache) for stream in (False, True) for cache in ("as-found", "cold", "warm")
    ]

    assert "… and 2 more ladders" in shown(ladder(*settings))


def test_nothing_is_shown_where_all_was_met_and_company_had_two_levels() -> None:
    assert shown(samples.five_prompts()) == ""
