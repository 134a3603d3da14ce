"""Two runs side by side: which prompts meet, what counts as alike, and how fast each was."""

from __future__ import annotations

from dataclasses import replace

import pytest
from building import ALONE, IN_COMPANY, REFUSED, Observed, built_run, with_fillers

from temp0.core.pairing import Pairing, pairing, tokens_per_s
from temp0.core.run import Attempt, Completion, Run, Usage


def paired(a: dict[str, Observed], b: dict[str, Observed]) -> Pairing:
    return pairing(built_run(a), built_run(b))


def counted(count: int | None) -> Completion:
    return Completion(text="yes", finish="stop", usage=Usage(completion=count))


def test_equal_answers_are_alike() -> None:
    found = paired({"P": {ALONE: ["yes"] * 3}}, {"P": {ALONE: ["yes"] * 5}})
    assert (found.exit_code, found.prompts[0].part_at) == (0, None)


def test_commonest_answers_part_at_their_first_different_character() -> None:
    found = paired({"P": {ALONE: ["say yes", "say yes", "never"]}}, {"P": {ALONE: ["say no", "say no", "maybe"]}})
    assert (found.exit_code, found.prompts[0].part_at) == (1, 4)


def test_a_text_that_ends_where_the_other_goes_on_parts_there() -> None:
    assert paired({"P": {ALONE: ["yes"] * 2}}, {"P": {ALONE: ["yes."] * 2}}).prompts[0].part_at == 3


def test_one_side_that_varies_is_unlike_even_where_the_commonest_texts_are_equal() -> None:
    assert paired({"P": {ALONE: ["yes", "yes", "no"]}}, {"P": {ALONE: ["yes"] * 3}}).exit_code == 1


def test_prompts_meet_by_what_was_asked_and_not_by_their_place() -> None:
    a = {"P": {ALONE: ["p"] * 2}, "Q": {ALONE: ["q"] * 2}}
    b = {"Q": {ALONE: ["q"] * 2}, "R": {ALONE: ["r"] * 2}}
    found = paired(a, b)
    assert [(one.a.id, one.b.id) for one in found.prompts] == [("Q", "Q")]
    assert (found.only_a, found.only_b, found.exit_code) == (("P",), ("R",), 4)


def test_two_prompts_that_ask_the_same_meet_one_by_one() -> None:
    run = built_run({"P": {ALONE: ["p"] * 2}, "Q": {ALONE: ["q"] * 2}})
    twins = tuple(replace(prompt, messages=run.plan.prompts[0].messages) for prompt in run.plan.prompts)
    run = replace(run, plan=replace(run.plan, prompts=twins))
    found = pairing(run, run)
    assert [(one.a.id, one.b.id) for one in found.prompts] == [("P", "P"), ("Q", "Q")]
    assert found.exit_code == 0


def test_nothing_in_common_is_nothing_measured() -> None:
    assert paired({"P": {ALONE: ["p"] * 2}}, {"Q": {ALONE: ["p"] * 2}}).exit_code == 3
    assert paired({"P": {ALONE: ["p"] * 2}}, {"P": {ALONE: [REFUSED] * 2}}).exit_code == 3


def test_a_prompt_that_one_side_did_not_answer_leaves_it_open() -> None:
    a: dict[str, Observed] = {"P": {ALONE: ["p"] * 2}, "Q": {ALONE: ["q"] * 2}}
    assert paired(a, {"P": {ALONE: ["p"] * 2}, "Q": {ALONE: [REFUSED] * 2}}).exit_code == 4


def test_only_conditions_of_both_runs_have_a_rate() -> None:
    found = paired({"P": {ALONE: ["p"] * 2, IN_COMPANY: ["p"] * 8}}, {"P": {ALONE: ["p"] * 2}})
    assert [rate.condition for rate in found.rates] == ["alone"]


def test_tokens_of_a_pool_count_together_over_the_time_it_took() -> None:
    run = built_run({"P": {ALONE: [counted(30)] * 2, IN_COMPANY: [counted(30)] * 16}})
    assert tokens_per_s(run, "alone") == pytest.approx(30)
    assert tokens_per_s(run, "company 8") == pytest.approx(240)


def test_fillers_count_and_pauses_do_not() -> None:
    run = with_fillers(built_run({"P": {IN_COMPANY: [counted(30)] * 8}}), beside=IN_COMPANY, texts=["yes"])
    run = replace(run, attempts=(*run.attempts[:-1], late(run.attempts[-1])))
    assert tokens_per_s(run, "company 8") == pytest.approx((8 * 30 + 10) / 2)


def late(attempt: Attempt) -> Attempt:
    return replace(attempt, started_s=100.0, ended_s=101.0, outcome=counted(10))


@pytest.mark.parametrize("outcomes", [[counted(None)], [counted(3), counted(None)], [REFUSED]])
def test_a_rate_without_every_count_is_unknown(outcomes: list[Completion]) -> None:
    run: Run = built_run({"P": {ALONE: outcomes}})
    assert tokens_per_s(run, "alone") is None
    found = pairing(run, built_run({"P": {ALONE: [counted(3)]}}))
    assert found.rates[0].ratio is None
