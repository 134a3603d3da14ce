"""A prompt's answers in a few words, counting what counts."""

from __future__ import annotations

from dataclasses import replace

import analysis_samples as samples
import reason_samples as reasons

from temp0.core.plan import Condition
from temp0.core.run import Failure
from temp0.report.answer import answers, deciding, one_text_under_all
from temp0.report.figure import UNBROKEN

MANY = {Condition(company=k): ["one"] * 16 for k in (1, 2, 3, 4, 5, 6, 8)}


def test_answers_are_counted_over_all_conditions() -> None:
    assert answers(samples.five_prompts().prompts[4]) == "6 different texts in 60 completions"
    assert answers(samples.agreed().prompts[0]) == "one text in 30 completions"
    assert answers(samples.nothing().prompts[0]) == "no completion counted"


def test_answers_that_do_not_count_do_not_contradict_the_verdict() -> None:
    assert answers(reasons.observed().prompts[0]) == "one text in 20 completions that count"
    assert answers(reasons.uncounted().prompts[0]) == (
        "one text streamed and another whole in 10 completions that count"
    )


def test_attempts_with_logprobs_decide_only_where_there_are_no_others() -> None:
    both = reasons.observed().prompts[0]
    alone = replace(both, conditions=both.conditions[1:])

    assert [one.name for one in deciding(both)] == ["alone"]
    assert [one.name for one in deciding(alone)] == ["alone, logprobs"]


def test_many_conditions_that_agreed_on_one_text_take_one_sentence() -> None:
    sentence = one_text_under_all(samples.analyzed({"A": MANY}).prompts[0])

    assert sentence is not None
    assert sentence.replace(UNBROKEN, " ") == (
        "One text under all 7 conditions; at most 77.6 % of blocks unlike it, under “company 8”."
    )


def test_conditions_without_a_bound_are_named_in_that_sentence() -> None:
    sentence = one_text_under_all(samples.analyzed({"A": MANY | {Condition(company=16): ["one"] * 16}}).prompts[0])

    assert str(sentence).endswith("; no bound under “company 16”, with one block.")


def test_few_conditions_failures_and_differences_keep_their_table() -> None:
    failed = MANY | {Condition(company=8): ["one"] * 15 + [Failure(reason="timeout", message="")]}
    differing = MANY | {Condition(company=8): ["one"] * 15 + ["two"]}

    assert one_text_under_all(samples.agreed().prompts[0]) is None
    assert one_text_under_all(samples.analyzed({"A": failed}).prompts[0]) is None
    assert one_text_under_all(samples.analyzed({"A": differing}).prompts[0]) is None
