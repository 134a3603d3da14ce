"""Where no cause is named, what a difference lines up with is told as a fact."""

from __future__ import annotations

from dataclasses import replace

import analysis_samples as samples

from temp0.core.analysis import Analysis, Cause
from temp0.core.plan import Condition
from temp0.report.explanation import why
from temp0.report.figure import UNBROKEN

NOTHING = "Nothing asked here lines up with the difference"


def told(analysis: Analysis) -> str:
    return " ".join(why(analysis).sentences).replace(UNBROKEN, " ")


def test_a_difference_between_steady_conditions_lines_up_with_what_was_varied() -> None:
    assert told(samples.lined_up()) == (
        "C lines up with company: alone always one text (4 of 4), in company 8 always another (16 of 16), p = 0.067."
    )


def test_steady_alone_and_unsteady_in_company_lines_up_too() -> None:
    assert told(replace(samples.five_prompts(), causes=())).startswith(
        "C lines up with company: alone always one text (20 of 20), in company 8 2 different texts in 20, p = 0.012."
    )


def test_a_difference_that_chance_would_often_give_is_told_so() -> None:
    answers = {samples.ALONE: ["one"], samples.COMPANY: ["two"] * 8}

    assert told(samples.analyzed({"A": answers})) == (
        "A lines up with company: alone one text (asked once), in company 8 always another (8 of 8), p = 1, "
        "as chance alone would often give."
    )


def test_only_the_setting_that_a_difference_follows_is_named() -> None:
    together = Condition(company=4)
    by_stream = {
        condition: ["streamed" if condition.stream else "whole"] * 4
        for each in (samples.ALONE, together)
        for condition in (each, replace(each, stream=True))
    }
    plain_differs = by_stream | {together: ["whole", "other", "whole", "other"]}

    assert told(samples.analyzed({"A": plain_differs})).startswith("A lines up with stream: ")
    assert "under “company 4, stream” always the same (4 of 4)" in told(samples.analyzed({"A": plain_differs}))


def test_company_that_was_not_shown_is_said_to_be_so() -> None:
    answers = {samples.ALONE: ["one"] * 4, samples.COMPANY: ["two"] * 16}

    assert "in company 8 (not shown) always another" in told(samples.analyzed({"A": answers}, running=None))


def test_where_nothing_lines_up_that_is_told() -> None:
    mixed = {samples.ALONE: ["one", "two"], samples.COMPANY: ["one", "two"] * 4}
    steady = {samples.ALONE: ["one"] * 2, samples.COMPANY: ["two"] * 8}

    assert told(samples.analyzed({"A": mixed})) == f"{NOTHING}."
    assert told(samples.analyzed({"A": mixed, "B": steady})).endswith(f"{NOTHING} in A.")
    assert told(samples.ended()) == f"{NOTHING}: only “alone” was asked."


def test_lines_are_few_however_many_prompts_line_up() -> None:
    answers = {f"p{place}": {samples.ALONE: ["one"] * 2, samples.COMPANY: ["two"] * 8} for place in range(9)}
    sentences = why(samples.analyzed(answers)).sentences

    assert len(sentences) == 7
    assert sentences[-1] == "3 more prompts line up with what was varied."


def test_a_named_cause_speaks_for_itself_and_a_note_explains_nothing() -> None:
    note = Cause(cause="finish", certainty="found", evidence="", remedy="", prompts=())

    assert why(samples.five_prompts()).sentences == ()
    assert told(replace(samples.ended(), causes=(note,))).startswith(NOTHING)
    assert why(replace(samples.agreed(), causes=(note,))).sentences == ()
    assert told(samples.agreed()) == "There is no difference to explain."
