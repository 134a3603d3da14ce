"""Verdicts and exit codes: each sentence of the rules as a test of its own."""

from __future__ import annotations

from dataclasses import replace

import pytest
from building import (
    ALONE,
    IN_COMPANY,
    NO_COMPANY,
    REFUSED,
    STREAMED,
    WITH_LOGPROBS,
    Clock,
    Observed,
    between,
    built_run,
    judged,
    under,
    with_fillers,
)

from temp0.core.analysis import Analysis, Verdict
from temp0.core.judgement import analysis
from temp0.core.plan import Condition
from temp0.core.run import Completion, Failure, Sample

AGREED, DIVERGED, UNDECIDED = Verdict.AGREED, Verdict.DIVERGED, Verdict.UNDECIDED
SILENT = Clock(running=None)


def analysed(**prompts: Observed) -> Analysis:
    return analysis(built_run(prompts))


# One condition


def test_a_condition_with_one_text_is_agreed() -> None:
    assert under(judged({ALONE: ["a"] * 3}), ALONE).verdict is AGREED


def test_agreed_with_a_small_n_is_still_agreed() -> None:
    assert under(judged({ALONE: ["a"] * 2}), ALONE).verdict is AGREED


def test_two_counted_texts_that_differ_are_diverged() -> None:
    assert under(judged({ALONE: ["a"] * 9 + ["b"]}), ALONE).verdict is DIVERGED


def test_white_space_at_the_end_is_a_difference() -> None:
    assert under(judged({ALONE: ["a", "a "]}), ALONE).verdict is DIVERGED


def test_another_finish_reason_is_no_difference() -> None:
    prompt = judged({ALONE: [Completion(text="a", finish="stop"), Completion(text="a", finish="length")]})
    assert prompt.verdict is AGREED


@pytest.mark.parametrize("outcomes", [[], ["a"], ["a", REFUSED, REFUSED]], ids=["none", "one", "one-of-three"])
def test_fewer_than_two_completions_are_undecided(outcomes: list[str | Failure]) -> None:
    assert under(judged({ALONE: outcomes}, wanted=3), ALONE).verdict is UNDECIDED


def test_completions_that_are_all_empty_are_undecided() -> None:
    assert under(judged({ALONE: ["", "", ""]}), ALONE).verdict is UNDECIDED


def test_an_empty_completion_beside_a_text_is_diverged() -> None:
    assert under(judged({ALONE: ["", "", "a"]}), ALONE).verdict is DIVERGED


# Company


def test_company_that_the_server_did_not_see_is_undecided() -> None:
    prompt = judged({IN_COMPANY: ["a"] * 16}, clock=NO_COMPANY)
    assert under(prompt, IN_COMPANY).verdict is UNDECIDED


def test_company_that_nobody_can_measure_is_undecided() -> None:
    prompt = judged({IN_COMPANY: ["a"] * 16}, clock=SILENT)
    assert under(prompt, IN_COMPANY).company.reached is None
    assert under(prompt, IN_COMPANY).verdict is UNDECIDED


def test_company_that_was_not_shown_can_still_diverge() -> None:
    prompt = judged({IN_COMPANY: ["a"] * 15 + ["b"]}, clock=NO_COMPANY)
    assert under(prompt, IN_COMPANY).verdict is DIVERGED


def test_company_that_the_server_counted_can_agree() -> None:
    prompt = judged({IN_COMPANY: ["a"] * 16}, clock=Clock(running=7.0))
    found = under(prompt, IN_COMPANY)
    assert (found.company.asked, found.company.reached, found.company.measured_by) == (8, 7.0, "server")
    assert found.verdict is AGREED


@pytest.mark.parametrize(
    ("clock", "reached", "verdict"),
    [
        (Clock(alone_s=1.0, pool_s=2.0, running=None), 4.0, AGREED),
        (Clock(alone_s=1.5, pool_s=8.0, running=None), 1.5, UNDECIDED),
        (Clock(alone_s=1.0, pool_s=8.0, running=None), 1.0, UNDECIDED),
    ],
)
def test_a_speed_up_above_one_and_a_half_shows_company(clock: Clock, reached: float, verdict: Verdict) -> None:
    found = under(judged({ALONE: ["a"] * 4, IN_COMPANY: ["a"] * 16}, clock=clock), IN_COMPANY)
    assert (found.company.reached, found.company.measured_by) == (reached, "speed-up")
    assert found.verdict is verdict


def test_a_speed_up_shows_at_most_the_company_asked_for() -> None:
    observed = {ALONE: ["a"] * 4, IN_COMPANY: ["a"] * 16}
    found = under(judged(observed, clock=Clock(alone_s=1.0, pool_s=0.25, running=None)), IN_COMPANY)
    assert found.company.reached == 8


def test_a_pool_that_took_no_time_shows_no_company() -> None:
    observed = {ALONE: ["a"] * 4, IN_COMPANY: ["a"] * 16}
    found = under(judged(observed, clock=Clock(alone_s=1.0, pool_s=0.0, running=None)), IN_COMPANY)
    assert (found.company.reached, found.verdict) == (None, UNDECIDED)


def test_the_company_of_a_condition_is_the_median_of_the_medians_of_its_blocks() -> None:
    run = built_run({"P": {IN_COMPANY: ["a"] * 24}}, clock=SILENT)
    running = {0: [1.0, 5.0, 9.0], 1: [8.0], 2: [2.0, 2.0, 7.0, 2.0]}
    starts = {attempt.block: attempt.started_s for attempt in run.attempts}
    samples = tuple(
        Sample(at_s=starts[block] + 0.1 * place, block=block, running=count)
        for block, counts in running.items()
        for place, count in enumerate(counts, start=1)
    )
    found = under(analysis(replace(run, samples=samples)).prompts[0], IN_COMPANY)
    assert found.company.reached == 5.0


def test_only_samples_taken_while_judged_attempts_ran_are_counted() -> None:
    run = built_run({"P": {IN_COMPANY: ["a"] * 8}}, clock=Clock(running=3.0))
    end = max(attempt.ended_s for attempt in run.attempts)
    late = tuple(Sample(at_s=end + 1 + place, block=0, running=0.0) for place in range(5))
    found = under(analysis(replace(run, samples=run.samples + late)).prompts[0], IN_COMPANY)
    assert found.company.reached == 3.0


def test_an_attempt_alone_needs_no_company_shown() -> None:
    assert under(judged({ALONE: ["a", "a"]}, clock=SILENT), ALONE).verdict is AGREED


# Comparisons


def test_two_conditions_that_each_agree_on_another_text_are_diverged() -> None:
    prompt = judged({ALONE: ["a"] * 4, IN_COMPANY: ["b"] * 16})
    assert [found.verdict for found in prompt.conditions] == [AGREED, AGREED]
    assert between(prompt, ALONE, IN_COMPANY).verdict is DIVERGED
    assert prompt.verdict is DIVERGED


def test_a_comparison_is_diverged_even_where_one_side_is_undecided() -> None:
    prompt = judged({ALONE: ["a"] * 4, IN_COMPANY: ["b"] * 16}, clock=NO_COMPANY)
    assert under(prompt, IN_COMPANY).verdict is UNDECIDED
    assert between(prompt, ALONE, IN_COMPANY).verdict is DIVERGED


def test_a_comparison_is_diverged_where_one_side_is_one_completion() -> None:
    prompt = judged({ALONE: ["a"], IN_COMPANY: ["b"] * 8})
    assert between(prompt, ALONE, IN_COMPANY).verdict is DIVERGED
    assert prompt.verdict is DIVERGED


def test_a_comparison_is_diverged_whatever_its_p() -> None:
    comparison = between(judged({ALONE: ["a"] * 9 + ["b"], IN_COMPANY: ["a"] * 16}), ALONE, IN_COMPANY)
    assert comparison.p is not None
    assert comparison.p > 0.05
    assert comparison.verdict is DIVERGED


def test_a_comparison_is_as_undecided_as_its_weaker_side() -> None:
    prompt = judged({ALONE: ["a"] * 4, IN_COMPANY: ["a"] * 16}, clock=NO_COMPANY)
    assert between(prompt, ALONE, IN_COMPANY).verdict is UNDECIDED


def test_a_comparison_with_a_side_that_failed_is_undecided() -> None:
    prompt = judged({ALONE: ["a"] * 4, IN_COMPANY: [REFUSED] * 16})
    assert between(prompt, ALONE, IN_COMPANY).verdict is UNDECIDED


def test_a_comparison_of_two_sides_that_agree_on_one_text_is_agreed() -> None:
    prompt = judged({ALONE: ["a"] * 4, IN_COMPANY: ["a"] * 16})
    assert between(prompt, ALONE, IN_COMPANY).verdict is AGREED


def test_every_pair_of_plain_conditions_is_compared() -> None:
    four = Condition(company=4)
    prompt = judged({ALONE: ["a"] * 4, four: ["a"] * 8, IN_COMPANY: ["b"] * 8})
    assert between(prompt, ALONE, four).verdict is AGREED
    assert between(prompt, four, IN_COMPANY).verdict is DIVERGED
    assert between(prompt, ALONE, IN_COMPANY).verdict is DIVERGED


# Prompts and runs


def test_a_prompt_is_diverged_if_any_condition_is() -> None:
    assert judged({ALONE: ["a"] * 4, IN_COMPANY: ["a"] * 15 + ["b"]}).verdict is DIVERGED


def test_a_prompt_is_undecided_if_any_planned_condition_is() -> None:
    assert judged({ALONE: ["a"] * 4, IN_COMPANY: [REFUSED] * 16}).verdict is UNDECIDED


def test_a_prompt_is_undecided_where_a_planned_condition_never_ran() -> None:
    prompt = judged({ALONE: ["a"] * 4, IN_COMPANY: []})
    assert under(prompt, IN_COMPANY).attempts == 0
    assert prompt.verdict is UNDECIDED


def test_a_diverged_condition_outweighs_an_undecided_one() -> None:
    assert judged({ALONE: ["a", "b"], IN_COMPANY: [REFUSED] * 16}).verdict is DIVERGED


def test_a_run_is_diverged_if_any_prompt_is() -> None:
    found = analysed(A={ALONE: ["a", "a"]}, B={ALONE: ["a", "b"]}, C={ALONE: [REFUSED, REFUSED]})
    assert found.verdict is DIVERGED
    assert [prompt.verdict for prompt in found.prompts] == [AGREED, DIVERGED, UNDECIDED]


def test_a_run_is_undecided_if_any_prompt_is_and_none_diverged() -> None:
    found = analysed(A={ALONE: ["a", "a"]}, B={ALONE: [REFUSED, REFUSED]})
    assert found.verdict is UNDECIDED


def test_two_prompts_that_answer_differently_still_agree() -> None:
    assert analysed(A={ALONE: ["a", "a"]}, B={ALONE: ["b", "b"]}).verdict is AGREED


# Logprobs and streaming


def test_logprob_attempts_that_differ_leave_a_plain_prompt_agreed() -> None:
    prompt = judged({ALONE: ["a", "a"], WITH_LOGPROBS: ["a", "b"]})
    assert under(prompt, WITH_LOGPROBS).verdict is DIVERGED
    assert prompt.verdict is AGREED


def test_logprob_attempts_unlike_the_plain_ones_leave_the_prompt_agreed() -> None:
    assert judged({ALONE: ["a", "a"], WITH_LOGPROBS: ["b", "b"]}).verdict is AGREED


def test_logprob_attempts_that_failed_leave_a_plain_prompt_agreed() -> None:
    assert judged({ALONE: ["a", "a"], WITH_LOGPROBS: [REFUSED, REFUSED]}).verdict is AGREED


def test_logprob_attempts_decide_where_no_plain_condition_was_planned() -> None:
    assert judged({WITH_LOGPROBS: ["a", "b"]}).verdict is DIVERGED
    assert judged({WITH_LOGPROBS: ["a", "a"]}).verdict is AGREED


def test_logprob_attempts_do_not_stand_in_for_plain_ones_that_failed() -> None:
    assert judged({ALONE: [REFUSED, REFUSED], WITH_LOGPROBS: ["a", "b"]}).verdict is UNDECIDED


def test_a_comparison_across_streaming_is_reported_and_does_not_count() -> None:
    prompt = judged({ALONE: ["a", "a"], STREAMED: ["a\n", "a\n"]})
    assert between(prompt, ALONE, STREAMED).verdict is DIVERGED
    assert prompt.verdict is AGREED


def test_a_streamed_condition_that_differs_within_itself_counts() -> None:
    assert judged({ALONE: ["a", "a"], STREAMED: ["a", "b"]}).verdict is DIVERGED


# Exit codes


@pytest.mark.parametrize(
    ("outcomes", "exit_code"),
    [
        (["a", "a"], 0),
        (["a", "b"], 1),
        ([REFUSED, REFUSED], 3),
        ([], 3),
        (["a", REFUSED], 4),
        (["", ""], 4),
        (["a", "b", REFUSED], 1),
    ],
)
def test_an_exit_code_says_the_verdict(outcomes: list[str | Failure], exit_code: int) -> None:
    assert analysis(built_run({"P": {ALONE: outcomes}}, wanted=3)).exit_code == exit_code


def test_one_prompt_that_failed_beside_one_that_agreed_exits_4() -> None:
    assert analysed(A={ALONE: ["a", "a"]}, B={ALONE: [REFUSED, REFUSED]}).exit_code == 4


def test_an_outage_is_never_a_pass() -> None:
    found = analysed(A={ALONE: [REFUSED] * 4, IN_COMPANY: [REFUSED] * 8})
    assert (found.verdict, found.exit_code) == (UNDECIDED, 3)
    assert {condition.verdict for condition in found.prompts[0].conditions} == {UNDECIDED}


# Fillers


def test_fillers_are_never_judged() -> None:
    run = built_run({"P": {ALONE: ["a"] * 4, IN_COMPANY: ["a"] * 8}})
    filled = analysis(with_fillers(run, beside=IN_COMPANY, texts=["b", "c", ""]))
    assert filled.verdict is AGREED
    assert under(filled.prompts[0], IN_COMPANY).fillers == 3
    assert filled.requests == 15
    plain = analysis(run).prompts[0]
    assert filled.prompts[0].texts == plain.texts
    assert filled.prompts[0].tree == plain.tree
    assert under(filled.prompts[0], IN_COMPANY).attempts == 8
    assert under(filled.prompts[0], IN_COMPANY).agreement == under(plain, IN_COMPANY).agreement


def test_a_filler_of_another_prompt_is_not_judged_as_that_prompt() -> None:
    mixed = Condition(company=8, filler="mixed")
    run = built_run({"A": {mixed: ["a"] * 8}, "B": {mixed: ["b"] * 8}})
    filled = analysis(with_fillers(run, beside=mixed, prompt="B", texts=["x", "y"]))
    assert filled.verdict is AGREED
    assert [prompt.distinct.text for prompt in filled.prompts] == [1, 1]


def test_fillers_alone_are_no_completions() -> None:
    run = built_run({"P": {IN_COMPANY: [REFUSED] * 8}})
    assert analysis(with_fillers(run, beside=IN_COMPANY, texts=["a", "a"])).exit_code == 3


# The record in numbers


def test_failures_are_tallied_by_reason_with_the_first_message() -> None:
    slow = [Failure(reason="timeout", message=f"after {seconds} s") for seconds in (30, 31)]
    found = under(judged({ALONE: ["a", slow[0], REFUSED, "a", slow[1]]}), ALONE)
    counts = {tally.reason: tally.count for tally in found.failures}
    assert counts == {"timeout": 2, "http 401": 1}
    assert (found.attempts, found.completions, found.excluded) == (5, 2, ())


def test_the_message_of_a_tally_is_the_first_in_the_order_of_asking() -> None:
    run = built_run({"P": {ALONE: [Failure(reason="timeout", message=f"number {n}") for n in range(6)]}})
    first = min(run.attempts, key=lambda attempt: attempt.order).outcome
    assert isinstance(first, Failure)
    backwards = replace(run, attempts=run.attempts[::-1])
    tally = under(analysis(backwards).prompts[0], ALONE).failures[0]
    assert (tally.count, tally.message) == (6, first.message)


def test_a_retry_counts_as_an_attempt_of_its_own() -> None:
    run = built_run({"P": {ALONE: [Failure(reason="http 503", message="busy"), "a"]}})
    first = run.attempts[0]
    retry = replace(run.attempts[-1], block=first.block, order=len(run.attempts), outcome=Completion(text="a"))
    found = under(analysis(replace(run, attempts=(*run.attempts, retry))).prompts[0], ALONE)
    assert (found.attempts, found.completions) == (3, 2)


def test_distinct_texts_carry_their_counts_by_condition_and_finish() -> None:
    cut = Completion(text="a", finish="length")
    prompt = judged({ALONE: ["a", "a", cut, "b"], IN_COMPANY: ["b"] * 8})
    texts = {found.text: found for found in prompt.texts}
    assert {text: found.count for text, found in texts.items()} == {"a": 3, "b": 9}
    assert {name: count for name, count in texts["a"].conditions if count} == {"alone": 3}
    assert texts["b"].conditions == (("alone", 1), ("company 8", 8))
    assert {finish.reason: finish.count for finish in texts["a"].finishes} == {"stop": 2, "length": 1}


def test_a_run_cut_short_is_not_finished() -> None:
    assert analysis(built_run({"P": {ALONE: ["a"] * 3}})).finished
    assert not analysis(built_run({"P": {ALONE: ["a"] * 3}}, wanted=4)).finished
