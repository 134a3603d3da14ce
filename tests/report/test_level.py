"""Equal text is never passed off as equal computation: the level that breaks is told, with its first position."""

from __future__ import annotations

from dataclasses import replace

import analysis_samples as samples
import reason_samples as reasons

from temp0.core.analysis import Comparison, Distinct, Positions, PromptAnalysis, Verdict
from temp0.report.level import between, levels

AGREED = samples.agreed().prompts[0]
ALIKE = "equal text is not equal computation"


def of(first: Positions, **distinct: int) -> str:
    prompt = replace(AGREED, distinct=Distinct(**distinct), first_difference=first)
    return " ".join(levels(prompt))


def test_one_text_by_two_computations_is_told() -> None:
    first = Positions(logprobs=0, top_logprobs=0)

    assert of(first, text=1, tokens=1, logprobs=4) == f"One text, but logprobs differ from token 0 on: {ALIKE}."


def test_the_loosest_level_that_breaks_beneath_one_text_is_the_one_told() -> None:
    first = Positions(tokens=5, logprobs=0, top_logprobs=0)

    assert of(first, text=1, tokens=3, logprobs=4).startswith("One text, but token sequences differ from token 5 on")
    assert "but logprobs of the alternatives differ from token 2 on" in of(
        Positions(top_logprobs=2), text=1, tokens=1, logprobs=1, top_logprobs=2
    )


def test_equality_at_every_level_that_was_told_is_said_and_no_more() -> None:
    assert of(Positions(), text=1, tokens=1, logprobs=1, top_logprobs=1) == (
        "One text, and one computation as far as the server told: equal tokens, logprobs and logprobs of the "
        "alternatives."
    )
    assert of(Positions(), text=1, tokens=1) == ""
    assert of(Positions(), text=1) == ""


def test_logprobs_that_part_before_the_text_are_told() -> None:
    first = Positions(text=300, tokens=63, logprobs=0, top_logprobs=0)

    assert of(first, text=2, tokens=2, logprobs=9) == (
        "Texts part at character 300, tokens at token 63; logprobs differ from token 0 on."
    )


def test_alternatives_that_part_before_the_chosen_logprobs_are_told_first() -> None:
    first = Positions(text=300, tokens=63, logprobs=40, top_logprobs=7)

    assert "; logprobs of the alternatives differ from token 7 on." in of(first, text=2, tokens=2)


def test_logprobs_that_part_with_the_text_say_nothing_new() -> None:
    assert of(Positions(text=300, tokens=63, logprobs=63, top_logprobs=63), text=2, tokens=2) == ""
    assert of(Positions(text=300), text=2) == ""


def test_texts_that_part_only_where_no_tokens_were_told_are_told_so() -> None:
    assert of(Positions(text=300, logprobs=4), text=2, tokens=1, logprobs=2) == (
        "Texts part at character 300; where logprobs were asked for, logprobs differ from token 4 on."
    )


def test_folded_texts_are_counted_only_where_folding_changes_the_count() -> None:
    assert of(Positions(text=1), text=4, folded=2) == (
        "4 different texts, 2 after folding Unicode forms, outer white space and line ends."
    )
    assert ", one after folding" in of(Positions(text=1), text=4, folded=1)
    assert of(Positions(text=1), text=4, folded=4) == ""


def unsteady(*names: str) -> PromptAnalysis:
    prompt = reasons.cold_and_warm().prompts[0]
    first = Positions(logprobs=3, top_logprobs=1)
    conditions = tuple(replace(one, first_difference=first) if one.name in names else one for one in prompt.conditions)
    return replace(prompt, conditions=conditions)


def test_a_condition_that_does_not_repeat_its_own_computation_is_named() -> None:
    assert "Even within “alone”, where the text stays, logprobs differ from token 3 on." in levels(unsteady("alone"))
    assert levels(unsteady("alone", "alone, cache cold"))[-1].startswith(
        "Even within each of “alone” and “alone, cache"
    )
    assert not any("within" in sentence for sentence in levels(unsteady()))


def test_a_condition_whose_text_varies_is_not_said_to_keep_it() -> None:
    first = Positions(text=3, tokens=0, logprobs=0)
    prompt = samples.five_prompts().prompts[2]
    conditions = tuple(replace(one, first_difference=first) for one in prompt.conditions if one.distinct.text > 1)

    assert not any("within" in sentence for sentence in levels(replace(prompt, conditions=conditions * 2)))


def test_two_conditions_with_one_text_say_where_their_logprobs_part() -> None:
    pair = Comparison(a="cold", b="warm", verdict=Verdict.AGREED, p=1.0, p_adjusted=1.0)

    assert between(replace(pair, first_difference=Positions(logprobs=0))) == "one text; logprobs differ from token 0 on"
    assert between(replace(pair, first_difference=Positions(text=7, logprobs=0))) is None
    assert between(pair) is None
