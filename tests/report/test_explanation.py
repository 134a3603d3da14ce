"""Why answers differ: causes in their order, notes apart, and facts only where no cause explains a prompt."""

from __future__ import annotations

from dataclasses import replace

import analysis_samples as samples
import pytest
import reason_samples as reasons

from temp0.core.analysis import Analysis, Cause, Untested
from temp0.core.plan import Condition
from temp0.report.explanation import Explanation, why
from temp0.report.figure import UNBROKEN

NOTHING = "Nothing asked here lines up with the difference"


def under(heading: str, analysis: Analysis) -> Explanation:
    return next((one for one in why(analysis) if one.heading == heading), Explanation(heading=heading))


def told(analysis: Analysis) -> str:
    """The sentences that stand in where no cause is named."""
    return " ".join(under("Why", replace(analysis, causes=())).sentences).replace(UNBROKEN, " ")


def test_causes_keep_the_order_in_which_they_came() -> None:
    assert [cause.cause for cause in under("Why", reasons.explained()).causes] == ["cache-state", "company"]


def test_a_note_stands_apart_from_what_explains_a_difference() -> None:
    assert [cause.cause for cause in under("Also to know", reasons.explained()).causes] == ["short-window"]


def test_where_nothing_diverged_all_causes_are_things_to_know() -> None:
    cut = replace(samples.agreed(), causes=(reasons.CUT,), untested=samples.UNTESTED)

    assert why(cut) == (Explanation(heading="What to know", causes=(reasons.CUT,)),)
    assert why(replace(cut, causes=())) == ()


def test_that_nothing_was_measured_is_not_told_beneath_its_own_headline() -> None:
    assert [cause.cause for cause in samples.nothing().causes] == ["not-measured"]
    assert why(replace(samples.nothing(), untested=samples.UNTESTED)) == ()


def test_causes_that_could_not_be_tested_are_told_where_a_reason_is_wanting() -> None:
    assert under("Not tested", reasons.explained()).untested == (
        ("backend-mix and order", "no fingerprint and no replica header came back"),
        ("cache-state", "the cache was asked as found only; --ask cache asks cold and warm"),
        ("observer", "logprobs were not both asked for and left out; --logprobs both does that"),
    )
    assert under("Not tested", replace(samples.undecided(), untested=samples.UNTESTED[:1])).untested


def test_where_a_cause_was_found_for_every_prompt_what_was_not_tested_takes_no_room() -> None:
    assert under("Not tested", samples.five_prompts()).untested == ()

    suspected = replace(samples.COMPANY_FOUND, certainty="suspected")
    assert under("Not tested", replace(samples.five_prompts(), causes=(suspected,))).untested


def test_a_flag_is_named_only_where_somebody_can_be_asked() -> None:
    unlike = Untested(cause="sampling", reason="no logprobs were asked for; --logprobs both does that")
    asked = replace(samples.five_prompts(), causes=(), untested=(unlike,))
    imported = replace(asked, address=replace(asked.address, url="import:answers.jsonl"))

    assert under("Not tested", asked).untested == (("sampling", unlike.reason),)
    assert under("Not tested", imported).untested == (("sampling", "no logprobs were asked for"),)


def test_a_prompt_that_a_cause_names_is_not_told_again() -> None:
    only_c = replace(samples.COMPANY_FOUND, prompts=("C",))
    sentences = under("Why", replace(samples.five_prompts(), causes=(only_c,))).sentences

    assert [sentence.split()[0] for sentence in sentences] == ["D", "E"]
    assert under("Why", samples.five_prompts()).sentences == ()


def test_a_cause_that_names_no_prompt_holds_for_all() -> None:
    everywhere = replace(samples.COMPANY_FOUND, prompts=())

    assert under("Why", replace(samples.five_prompts(), causes=(everywhere,))).sentences == ()


@pytest.mark.parametrize("name", ["finish", "short-window", "no-visible-output", "not-measured", "response-cache"])
def test_a_note_explains_no_difference(name: str) -> None:
    note = Cause(cause=name, certainty="found", evidence="", remedy="", prompts=())

    assert under("Why", replace(samples.ended(), causes=(note,))).sentences[0].startswith(NOTHING)


def test_a_difference_between_steady_conditions_lines_up_with_what_was_varied() -> None:
    assert told(samples.lined_up()) == (
        "C lines up with company: alone always one text (4 of 4), in company 8 always another (16 of 16), p = 0.067."
    )


def test_steady_alone_and_unsteady_in_company_lines_up_too() -> None:
    assert told(samples.five_prompts()).startswith(
        "C lines up with company: alone always one text (20 of 20), in company 8 2 different texts in 20, p = 0.012."
    )


def test_many_conditions_are_not_told_one_by_one() -> None:
    steady = {Condition(company=k): ["one" if k == 1 else "two"] * 32 for k in (1, 2, 4, 8, 32)}

    assert told(samples.analyzed({"A": steady})).startswith("A lines up with company, p < ")


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
    sentences = under("Why", replace(samples.analyzed(answers), causes=())).sentences

    assert len(sentences) == 7
    assert sentences[-1] == "3 more prompts line up with what was varied."
