"""The cost of a run counts every attempt once, and claims no tokens that nobody told."""

from __future__ import annotations

from dataclasses import replace

from building import ALONE, IN_COMPANY, REFUSED, built_run, with_fillers

from temp0.core.cost import Tokens
from temp0.core.judgement import analysis
from temp0.core.run import Completion, Run, Usage


def told(text: str = "yes", *, prompt: int | None = 10, answer: int | None = 3) -> Completion:
    return Completion(text=text, usage=Usage(prompt=prompt, completion=answer))


def test_tokens_are_summed_over_the_attempts_that_told_them() -> None:
    run = built_run({"p": {ALONE: [told(), told(prompt=None), told(answer=None), REFUSED, "no usage"]}})
    cost = analysis(run).cost
    assert cost.prompt == Tokens(sum=20, n=2)
    assert cost.answer == Tokens(sum=6, n=2)


def test_equal_answers_are_each_counted() -> None:
    one = told()
    assert analysis(built_run({"p": {ALONE: [one] * 5}, "q": {ALONE: [one] * 2}})).cost.answer == Tokens(sum=21, n=7)


def test_a_replayed_answer_was_paid_for_too() -> None:
    replayed = replace(told(), headers=(("x-cache", "HIT"),))
    judged = analysis(built_run({"p": {ALONE: [told(), replayed, replayed]}}))
    assert judged.prompts[0].conditions[0].completions == 1
    assert judged.cost.prompt == Tokens(sum=30, n=3)


def test_fillers_are_counted_once_whatever_prompt_they_are_of() -> None:
    run = built_run({"p": {IN_COMPANY: ["a"] * 8}, "q": {IN_COMPANY: ["b"] * 8}})  # one pool right after the other
    run = with_fillers(run, beside=IN_COMPANY, texts=["f"] * 3, prompt="q")
    fillers = [replace(one, outcome=told()) if one.role == "filler" else one for one in run.attempts]
    assert analysis(replace(run, attempts=tuple(fillers))).cost.answer == Tokens(sum=9, n=3)


def test_a_run_lasts_from_its_first_request_to_its_last_answer_fillers_included() -> None:
    run = built_run({"p": {ALONE: ["a"] * 2, IN_COMPANY: ["a"] * 8}})
    assert analysis(run).cost.duration_s == 3.0
    run = with_fillers(run, beside=IN_COMPANY, texts=["f"])
    late = replace(run.attempts[-1], ended_s=7.25)
    assert analysis(replace(run, attempts=(*run.attempts[:-1], late))).cost.duration_s == 7.25


def test_the_order_of_the_records_does_not_matter() -> None:
    run = built_run({"p": {ALONE: [told(), told("no"), REFUSED]}, "q": {IN_COMPANY: [told()] * 8}})
    assert analysis(replace(run, attempts=run.attempts[::-1])).cost == analysis(run).cost


def test_an_imported_run_has_no_duration() -> None:
    run: Run = replace(built_run({"p": {ALONE: [told()] * 2}}), untold=("order",))
    cost = analysis(run).cost
    assert cost.duration_s is None
    assert cost.prompt == Tokens(sum=20, n=2)


def test_nothing_asked_costs_nothing_and_has_no_duration() -> None:
    cost = analysis(replace(built_run({"p": {ALONE: ["a"]}}), attempts=())).cost
    assert (cost.duration_s, cost.prompt, cost.answer) == (None, Tokens(), Tokens())
