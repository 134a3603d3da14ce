"""The figures of a prompt: company with intervals, margins with forks, attempts in time; in words as well."""

from __future__ import annotations

import itertools
from dataclasses import replace
from xml.etree.ElementTree import fromstring

import analysis_samples as samples
from analysis_samples import ALONE, COMPANY, analyzed

from temp0.core.detail import Position
from temp0.core.plan import Condition
from temp0.core.run import Failure
from temp0.report.company_figure import company_figure, series
from temp0.report.margin_figure import margin_figure, margin_words
from temp0.report.plot import apart, ticks
from temp0.report.timeline_figure import timeline_figure

HOSTILE = "</svg><script>alert(1)</script>\u202e"
FORK = Position(prompt="A", char=9, token=3, text=HOSTILE, rival="b", margin=0.02, has_forked=True)
NEAR = replace(FORK, char=4, margin=0.3, has_forked=False)
FAR = replace(NEAR, char=20, margin=7.0)


def test_company_is_drawn_level_by_level_with_its_interval() -> None:
    prompt = samples.five_prompts().prompts[2]
    figure = company_figure(prompt)

    assert figure is not None
    assert figure.count('class="whisker') == 2
    assert "alone: 100\u00a0% (≥\u00a0" in figure
    assert "company 8: 60.5\u00a0% (" in figure
    assert "reached 7.9\u00a0of\u00a08" in figure


def test_company_that_was_not_varied_or_changed_nothing_is_not_drawn() -> None:
    assert company_figure(samples.ended().prompts[0]) is None
    assert company_figure(samples.five_prompts().prompts[0]) is None


def test_conditions_that_differ_in_more_than_company_stand_apart() -> None:
    other = Condition(logprobs=True), Condition(company=8, logprobs=True)
    texts = ["one"] * 5 + ["two"] * 3
    prompt = analyzed({"A": {ALONE: texts, COMPANY: texts, other[0]: texts, other[1]: texts}}).prompts[0]

    assert [name for name, _ in series(prompt)] == ["", "logprobs"]


def test_margins_count_near_ties_and_the_forks_among_them() -> None:
    assert margin_words([NEAR, FORK, FAR]).startswith("3 positions, 2 of them near ties (at most 0.5 nats)")
    assert margin_words([NEAR, FORK, FAR]).endswith("answers forked at 1 of those.")
    assert margin_words([replace(FAR, has_forked=True)]).endswith("at 0 of those; 1 fork elsewhere.")


def test_forks_are_diamonds_with_their_tokens_shown_as_text() -> None:
    figure = margin_figure([NEAR, FORK, FAR])

    assert figure is not None
    assert margin_figure([]) is None
    tree = fromstring(figure)
    assert len(tree.findall("path[@class='fork']")) == 1
    assert "<script" not in figure
    assert "\u202e" not in figure
    assert any("9: “</svg><script…” over “b” by 0.0200" in (one.text or "") for one in tree.iter("text"))


def test_a_tie_and_a_token_behind_its_rival_lie_on_the_lowest_line() -> None:
    figure = margin_figure([replace(FAR, margin=0.0), replace(FAR, margin=-0.4)])

    assert figure is not None
    dots = fromstring(figure).find("path[@class='dots']")
    assert dots is not None
    assert len(set(dots.attrib["d"].removeprefix("M").removesuffix("h0").split("h0M"))) == 1


def test_attempts_in_time_have_a_row_for_each_text_and_for_failures() -> None:
    answers = ["one", "two", "one", Failure(reason="timed out", message="")]
    prompt = analyzed({"A": {ALONE: answers}}).prompts[0]
    figure = timeline_figure(prompt)

    assert figure is not None
    rows = [one for one in fromstring(figure).findall("path") if one.attrib["class"].startswith("took")]
    assert [one.attrib["class"] for one in rows] == ["took mode", "took t1", "took failed"]
    assert [one.attrib["d"].count("M") for one in rows] == [2, 1, 1]
    assert "1 failed: 1 attempt" in figure


def test_attempts_that_are_all_alike_and_runs_too_large_are_not_drawn() -> None:
    assert timeline_figure(samples.agreed().prompts[0]) is None
    assert timeline_figure(samples.many().prompts[7]) is None
    assert timeline_figure(samples.many(30).prompts[7]) is not None


def test_many_texts_share_a_row_and_many_conditions_are_told_by_company() -> None:
    crowded = timeline_figure(samples.crowded().prompts[0])
    conditions = [Condition(company=k, stream=stream) for k in (1, 2, 4) for stream in (False, True)]
    crossed = timeline_figure(analyzed({"A": {one: ["one", "two"] for one in conditions}}).prompts[0])

    assert crowded is not None
    assert "293 other texts: 293 attempts" in crowded
    assert crossed is not None
    names = [one.text for one in fromstring(crossed).findall("text[@class='dim']")]
    assert names[:3] == ["alone", "company 2", "company 4"]
    assert crossed.count('class="ran') == 3


def test_labels_never_cover_each_other_and_stay_inside() -> None:
    placed = sorted(apart([50, 51, 100, 100], 0, 100))

    assert all(b - a >= 13 for a, b in itertools.pairwise(placed))
    assert placed[-1] <= 100


def test_ticks_are_round_and_few() -> None:
    assert ticks(4000) == (0, 1000, 2000, 3000, 4000)
    assert ticks(0.4) == (0,)


def test_attempts_without_times_are_not_drawn() -> None:
    prompt = analyzed({"A": {ALONE: ["one", "two"]}}).prompts[0]
    at_once = tuple(replace(one, started_s=0.0, ended_s=0.0) for one in prompt.timeline)

    assert timeline_figure(prompt) is not None
    assert timeline_figure(replace(prompt, timeline=at_once)) is None
