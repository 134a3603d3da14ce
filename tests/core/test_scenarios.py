"""Reports from the field, retold as runs, and the causes that can be told without a test."""

from __future__ import annotations

from dataclasses import replace

import pytest
from building import (
    ALONE,
    IN_COMPANY,
    REFUSED,
    WITH_LOGPROBS,
    Observed,
    Outcome,
    between,
    built_run,
    judged,
    spelled,
    token,
    under,
)

from temp0.core.analysis import Analysis, Cause, Verdict
from temp0.core.judgement import analysis
from temp0.core.plan import Condition
from temp0.core.run import Completion, Failure, Usage


def analysed(**prompts: Observed) -> Analysis:
    return analysis(built_run(prompts))


def causes(*outcomes: Outcome, wanted: int | None = None) -> dict[str, Cause]:
    found = analysis(built_run({"P": {ALONE: outcomes}}, wanted=wanted)).causes
    return {cause.cause: cause for cause in found}


def cut(text: str) -> Completion:
    return Completion(text=text, finish="length")


def stopped(text: str) -> Completion:
    return Completion(text=text, finish="stop")


# Reports from the field


def test_many_slots_give_several_texts_and_one_slot_wobbles_in_its_logprobs() -> None:
    wobbling = [spelled(token("T", -0.1 - place * 1e-4)) for place in range(3)]
    prompt = judged({ALONE: ["T"] * 4, IN_COMPANY: [*"TTTUVWXY"], WITH_LOGPROBS: wobbling})
    assert under(prompt, ALONE).distinct.text == 1
    assert under(prompt, IN_COMPANY).distinct.text == 6
    exact = under(prompt, WITH_LOGPROBS).distinct
    assert (exact.text, exact.tokens, exact.logprobs) == (1, 1, 3)
    assert prompt.verdict is Verdict.DIVERGED


def test_logprobs_with_the_same_bits_are_one() -> None:
    same = [spelled(token("T", -0.1)) for _ in range(3)]
    assert under(judged({WITH_LOGPROBS: same}), WITH_LOGPROBS).distinct.logprobs == 1


def test_one_text_from_two_sequences_of_tokens_is_seen_in_the_tokens() -> None:
    whole, parts = spelled(token("ab")), spelled(token("a"), token("b"))
    distinct = under(judged({ALONE: [whole, parts]}), ALONE).distinct
    assert (distinct.text, distinct.tokens) == (1, 2)


def test_a_first_answer_unlike_all_later_ones_is_kept() -> None:
    prompt = judged({ALONE: [*"ABBBBBBBBB"]})
    assert {text.text: text.count for text in prompt.texts} == {"A": 1, "B": 9}
    assert under(prompt, ALONE).modal_share == pytest.approx(0.9)
    assert prompt.verdict is Verdict.DIVERGED


def test_cold_equals_cold_and_differs_from_warm() -> None:
    cold, warm = Condition(cache="cold"), Condition(cache="warm")
    observed = {
        f"P{number}": {cold: ["a", "a"], warm: ["b", "b"] if number < 18 else ["a", "a"]} for number in range(40)
    }
    prompts = analysis(built_run(observed)).prompts
    assert {under(prompt, cold).verdict for prompt in prompts} == {Verdict.AGREED}
    verdicts = [between(prompt, cold, warm).verdict for prompt in prompts]
    assert verdicts.count(Verdict.DIVERGED) == 18
    assert verdicts.count(Verdict.AGREED) == 22


def test_a_rare_effect_that_was_not_seen_leaves_its_bound() -> None:
    prompt = judged({ALONE: ["a"] * 20, Condition(company=4): ["a"] * 20})
    assert prompt.verdict is Verdict.AGREED
    assert under(prompt, ALONE).variant_rate_upper == pytest.approx(0.139, abs=0.0005)
    assert between(prompt, ALONE, Condition(company=4)).p == 1.0


def test_one_text_alone_and_another_in_company_is_seen_though_each_side_agrees() -> None:
    prompt = judged({ALONE: ["one"] * 4, IN_COMPANY: ["another"] * 32})
    assert [under(prompt, side).distinct.text for side in (ALONE, IN_COMPANY)] == [1, 1]
    assert prompt.verdict is Verdict.DIVERGED
    assert between(prompt, ALONE, IN_COMPANY).p == pytest.approx(2 / 70)


def test_a_short_window_agrees_with_its_bound_and_a_warning() -> None:
    found = analysed(P={ALONE: [cut("sixteen tokens")] * 50})
    assert found.exit_code == 0
    assert found.prompts[0].conditions[0].variant_rate_upper == pytest.approx(0.058, abs=0.0005)
    assert [cause.cause for cause in found.causes] == ["short-window"]


@pytest.mark.parametrize(
    "fingerprints",
    [["f1"] * 12 + ["f2"] * 8, [None] * 20, ["fp_ollama"] * 20, ["f1", None, "", "f2"] * 5],
    ids=["two", "none", "constant", "mixed"],
)
def test_fingerprints_of_any_kind_are_survived(fingerprints: list[str | None]) -> None:
    outcomes = [
        Completion(text="A" if place < 12 else "B", finish="stop", fingerprint=fingerprint)
        for place, fingerprint in enumerate(fingerprints)
    ]
    found = analysed(P={ALONE: outcomes})
    assert found.exit_code == 1
    assert {text.text: text.count for text in found.prompts[0].texts} == {"A": 12, "B": 8}


# not-measured


def test_an_outage_is_not_measured_and_quotes_the_first_failure() -> None:
    run = built_run({"P": {ALONE: [Failure(reason="http 401", message=f"no {n}") for n in range(4)]}})
    first = min(run.attempts, key=lambda attempt: attempt.order).outcome
    assert isinstance(first, Failure)
    (cause,) = analysis(replace(run, attempts=run.attempts[::-1])).causes
    assert (cause.cause, cause.certainty, cause.prompts) == ("not-measured", "found", ("P",))
    assert first.message in cause.remedy + cause.evidence


def test_one_completion_among_failures_is_not_measured() -> None:
    assert "not-measured" in causes("a", REFUSED, REFUSED, REFUSED)


def test_failures_beside_enough_completions_are_measured() -> None:
    assert "not-measured" not in causes("a", "a", REFUSED, REFUSED)


def test_only_the_prompts_that_failed_are_not_measured() -> None:
    found = analysed(A={ALONE: ["a", "a"]}, B={ALONE: [REFUSED, REFUSED]}, C={ALONE: [REFUSED, REFUSED]})
    (cause,) = found.causes
    assert (cause.cause, cause.prompts) == ("not-measured", ("B", "C"))


def test_a_condition_that_failed_is_not_measured() -> None:
    found = analysed(P={ALONE: ["a"] * 4, IN_COMPANY: [REFUSED] * 16})
    assert "not-measured" in {cause.cause for cause in found.causes}


# short-window


@pytest.mark.parametrize("finish", ["length", "max_tokens"])
def test_completions_that_all_ended_by_length_are_a_short_window(finish: str) -> None:
    found = causes(*[Completion(text="a", finish=finish)] * 3)["short-window"]
    assert (found.certainty, found.prompts) == ("found", ("P",))
    assert "max-tokens" in found.remedy


def test_one_completion_that_stopped_by_itself_makes_no_short_window() -> None:
    assert "short-window" not in causes(cut("a"), cut("a"), stopped("b"))


def test_forks_inside_a_short_window_count() -> None:
    found = analysed(P={ALONE: [cut("a"), cut("b")]})
    assert found.exit_code == 1
    assert "short-window" in {cause.cause for cause in found.causes}


def test_a_failure_does_not_hide_a_short_window() -> None:
    assert "short-window" in causes(cut("a"), cut("a"), REFUSED)


def test_a_finish_that_the_server_did_not_name_is_no_short_window() -> None:
    assert "short-window" not in causes(*[Completion(text="a")] * 3)


def test_no_completion_is_no_short_window() -> None:
    assert "short-window" not in causes(REFUSED, REFUSED)


# no-visible-output


def test_reasoning_that_ate_the_budget_leaves_no_visible_output() -> None:
    silent = Completion(text="", finish="length", reasoning="Let me think", usage=Usage(reasoning=160))
    run = built_run({"P": {ALONE: [silent] * 3}})
    found = analysis(run)
    cause = next(cause for cause in found.causes if cause.cause == "no-visible-output")
    assert (cause.certainty, cause.prompts) == ("found", ("P",))
    assert "max-tokens" in cause.remedy
    assert (found.verdict, found.exit_code) == (Verdict.UNDECIDED, 4)


def test_reasoning_beside_visible_text_is_no_cause() -> None:
    assert "no-visible-output" not in causes(*[Completion(text="a", finish="stop", reasoning="Hm")] * 3)


def test_failures_without_text_are_not_empty_texts() -> None:
    assert "no-visible-output" not in causes(REFUSED, REFUSED)


# finish


def test_the_same_text_with_another_finish_reason_is_a_note() -> None:
    found = analysed(P={ALONE: [stopped("a"), cut("a")]})
    (cause,) = found.causes
    assert (cause.cause, cause.certainty, cause.prompts) == ("finish", "found", ("P",))
    assert found.exit_code == 0


def test_the_finish_may_differ_between_conditions() -> None:
    found = analysed(P={ALONE: [stopped("a")] * 2, IN_COMPANY: [cut("a")] * 8})
    assert "finish" in {cause.cause for cause in found.causes}
    assert found.exit_code == 0


def test_other_finish_reasons_on_other_texts_are_no_note() -> None:
    assert "finish" not in causes(stopped("a"), cut("ab"))


def test_one_finish_reason_is_no_note() -> None:
    assert "finish" not in causes(stopped("a"), stopped("a"), stopped("b"))


# Several at once


def test_a_run_without_any_of_them_names_no_such_cause() -> None:
    assert not causes("a", "a", "a")


def test_causes_stand_in_the_order_in_which_they_are_tried() -> None:
    found = analysed(
        A={ALONE: [REFUSED, REFUSED]},
        B={ALONE: [Completion(text="", finish="length", reasoning="Hm")] * 2},
        C={ALONE: [cut("a"), cut("a")]},
        D={ALONE: [stopped("a"), cut("a")]},
    )
    named = [cause.cause for cause in found.causes]
    order = ["not-measured", "no-visible-output", "short-window", "finish"]
    assert [name for name in named if name in order] == order
