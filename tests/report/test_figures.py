"""The figures of a prompt: company with intervals, margins with forks, attempts in time; in words as well."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree.ElementTree import Element, fromstring

import analysis_samples as samples
import pytest
from analysis_samples import ALONE, COMPANY, analyzed

from temp0.core.analysis import Estimate
from temp0.core.detail import Position
from temp0.core.plan import Condition
from temp0.core.run import Failure
from temp0.report.company_figure import company_figure, series
from temp0.report.margin_figure import margin_figure, margin_words
from temp0.report.timeline_figure import timeline_figure

HOSTILE = "</svg><script>alert(1)</script>\u202e"
FORK = Position(prompt="A", char=9, token=3, text=HOSTILE, rival="b", margin=0.02, has_forked=True)
NEAR = replace(FORK, char=4, margin=0.3, has_forked=False)
FAR = replace(NEAR, char=20, margin=7.0)


def drawn(figure: str | None, **attributes: str) -> list[Element]:
    """The paths of a chart that have these attributes; an underscore stands for a hyphen."""
    assert figure is not None
    wanted = {name.replace("_", "-"): value for name, value in attributes.items()}
    return [one for one in fromstring(figure).findall("path") if wanted.items() <= one.attrib.items()]


def texts(figure: str | None, **attributes: str) -> list[str]:
    assert figure is not None
    found = fromstring(figure).findall("text")
    return [one.text or "" for one in found if attributes.items() <= one.attrib.items()]


def test_company_is_drawn_level_by_level_with_its_interval() -> None:
    prompt = samples.five_prompts().prompts[2]
    figure = company_figure(prompt)

    assert figure is not None
    assert len(drawn(figure, stroke="var(--c0)", fill="none")) == 2
    assert "alone: 100\u00a0% (≥\u00a0" in figure
    assert "company 8: 60.5\u00a0% (" in figure
    assert texts(figure)[-2:] == ["reached ", "7.9\u00a0of\u00a08"]


@pytest.mark.parametrize(("low", "high"), [(0.2, 0.9), (0.65, 0.9), (0.6, 0.6)])
def test_an_interval_is_drawn_from_its_low_to_its_high_end_wherever_the_value_is(low: float, high: float) -> None:
    prompt = samples.five_prompts().prompts[2]
    estimate = Estimate(value=0.605, low=low, high=high, n=4, sides=2)
    figure = company_figure(replace(prompt, conditions=[replace(one, agreement=estimate) for one in prompt.conditions]))

    grid = [float(one.attrib["d"].split(" ")[-1]) for one in drawn(figure, stroke="var(--line)", fill="none")]
    bottom, top = max(grid), min(grid)
    (whisker, _) = drawn(figure, stroke="var(--c0)", fill="none")
    ends = [(bottom - float(place.split(" ")[1])) / (bottom - top) for place in whisker.attrib["d"].split("L")]
    assert ends == pytest.approx([low, high], abs=0.002)


def test_company_that_was_not_varied_or_changed_nothing_is_not_drawn() -> None:
    assert company_figure(samples.ended().prompts[0]) is None
    assert company_figure(samples.five_prompts().prompts[0]) is None


def test_conditions_that_differ_in_more_than_company_stand_apart() -> None:
    other = Condition(logprobs=True), Condition(company=8, logprobs=True)
    texts = ["one"] * 5 + ["two"] * 3
    prompt = analyzed({"A": {ALONE: texts, COMPANY: texts, other[0]: texts, other[1]: texts}}).prompts[0]

    assert [name for name, _ in series(prompt)] == ["", "logprobs"]


def test_conditions_side_by_side_differ_in_shape_as_well_as_in_colour() -> None:
    asked = (ALONE, COMPANY, Condition(logprobs=True), Condition(company=8, logprobs=True))
    figure = company_figure(analyzed({"A": {one: ["one"] * 5 + ["two"] * 3 for one in asked}}).prompts[0])

    rounds, squares = (drawn(figure, fill=f"var(--{colour})") for colour in ("c0", "c1"))
    assert len(rounds) == len(squares) == 2
    assert all("C" in one.attrib["d"] for one in rounds)
    assert not any("C" in one.attrib["d"] for one in squares)
    assert [one for one in texts(figure) if " text" not in one][-2:] == ["the same otherwise", "logprobs"]


def test_a_level_of_one_block_has_a_point_and_no_interval() -> None:
    figure = company_figure(analyzed({"A": {ALONE: ["one"] * 8, COMPANY: ["one", "two"] * 4}}).prompts[0])

    assert len(drawn(figure, stroke="var(--c0)", fill="none")) == 1
    assert texts(figure).count("2 texts") == 1


def test_levels_of_one_completion_have_no_point() -> None:
    figure = company_figure(analyzed({"A": {ALONE: ["one"], COMPANY: ["two"]}}).prompts[0])

    assert drawn(figure, fill="var(--c0)") == []
    assert texts(figure)[:2] == ["alone", "company 8"]


def test_margins_count_near_ties_and_the_forks_among_them() -> None:
    assert margin_words([NEAR, FORK, FAR]).startswith("3 positions, 2 of them near ties (at most 0.5 nats)")
    assert margin_words([NEAR, FORK, FAR]).endswith("answers forked at 1 of those.")
    assert margin_words([replace(FAR, has_forked=True)]).endswith("at 0 of those; 1 fork elsewhere.")


def test_forks_are_diamonds_with_their_tokens_shown_as_text() -> None:
    figure = margin_figure([NEAR, FORK, FAR])

    assert figure is not None
    assert margin_figure([]) is None
    (diamond,) = drawn(figure, fill="var(--other)")
    assert re.fullmatch("M[^MC]*z", diamond.attrib["d"])
    assert "<script" not in figure
    assert "\u202e" not in figure
    assert any("9: “</svg><script…” over “b” by 0.0200" in one for one in texts(figure))


def test_a_tie_and_a_token_behind_its_rival_lie_on_the_lowest_line() -> None:
    figure = margin_figure([replace(FAR, margin=0.0), replace(FAR, margin=-0.4)])

    assert figure is not None
    (dots,) = drawn(figure, stroke="var(--mode)")
    (axis,) = drawn(figure, stroke_linecap="square")
    heights = {place.split(" ")[1] for place in re.split("[ML]", dots.attrib["d"])[1:]}
    assert heights == {axis.attrib["d"].split(" ")[-1]}


def test_attempts_in_time_have_a_row_for_each_text_and_for_failures() -> None:
    answers = ["one", "two", "one", Failure(reason="timed out", message="")]
    prompt = analyzed({"A": {ALONE: answers}}).prompts[0]
    figure = timeline_figure(prompt)

    assert figure is not None
    mode, other, failed = (drawn(figure, stroke=f"var(--{colour})") for colour in ("mode", "other", "soft"))
    assert [one.attrib["d"].count("M") for one in (*mode, *other, *failed)] == [2, 1, 1]
    assert [one.attrib["stroke-width"] for one in (*mode, *other, *failed)] == ["13", "13", "5"]
    assert texts(figure, fill="var(--ink)")[2] == "1 failed"
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
    assert [one for one in texts(crossed, fill="var(--soft)") if one[0] in "ac"] == ["alone", "company 2", "company 4"]
    assert len(drawn(crossed, stroke_width="5")) == 3


def test_attempts_that_overlap_are_one_stroke_and_those_that_follow_each_other_stay_apart() -> None:
    prompt = analyzed({"A": {ALONE: ["one"] * 4 + ["two"]}}).prompts[0]
    figure = timeline_figure(prompt)
    pool = [replace(one, started_s=0.1 * place, ended_s=2.0) for place, one in enumerate(prompt.timeline)]

    assert drawn(figure, stroke="var(--mode)")[0].attrib["d"].count("M") == 4
    together = timeline_figure(replace(prompt, timeline=tuple(pool)))
    assert drawn(together, stroke="var(--mode)")[0].attrib["d"].count("M") == 1


def test_attempts_without_times_are_not_drawn() -> None:
    prompt = analyzed({"A": {ALONE: ["one", "two"]}}).prompts[0]
    at_once = tuple(replace(one, started_s=0.0, ended_s=0.0) for one in prompt.timeline)

    assert timeline_figure(prompt) is not None
    assert timeline_figure(replace(prompt, timeline=at_once)) is None
