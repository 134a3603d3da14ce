"""Company: it changes the answers, it seems to, or it never came."""

from __future__ import annotations

import pytest
from conclusion import cause, comparison, condition, found, named, probed
from plays.backend import shuffled
from stage import Stage

import temp0
from temp0.core.analysis import Verdict

PROMPTS = ["Ask the first.", "Ask the second."]
ENOUGH = {"n": 12, "alone": 8, "company": (1, 4), "max_tokens": 64}
"""8 blocks alone and 3 of four in company: chance alone looks like this once in 165 orders for each prompt."""


def test_many_slots_give_several_texts_and_one_slot_wobbles_in_its_logprobs(stage: Stage) -> None:
    played = stage.play("company.EightSlots")
    analysis = probed(played.url, prompts="Count.", n=24, alone=8, company=(1, 8), max_tokens=64, logprobs="both")
    prompt = analysis.prompts[0]
    assert (analysis.verdict, analysis.exit_code) == (Verdict.DIVERGED, 1)
    alone, company = condition(prompt, "alone"), condition(prompt, "company 8")
    assert (alone.distinct.text, alone.verdict, alone.completions) == (1, Verdict.AGREED, 8)
    assert (company.distinct.text, company.completions) == (6, 24)
    assert company.company.reached is not None
    assert company.company.reached > 1.5
    assert cause(analysis, "company").certainty == "found"
    assert cause(analysis, "company").prompts == ("p1",)
    assert not {"sampling", "run-to-run", "unseen-company", "order", "backend-mix"} & found(analysis)
    seen = condition(prompt, "alone, logprobs")
    assert (seen.distinct.text, seen.distinct.tokens, seen.distinct.logprobs) == (1, 1, 3)
    assert seen.distinct.breaks_first == "logprobs"
    assert (seen.first_difference.text, seen.first_difference.tokens, seen.first_difference.logprobs) == (None, None, 3)
    tree = prompt.tree
    assert tree is not None
    assert tree.count == 64  # both conditions alone, both in company
    (fork,) = tree.forks()
    assert (fork.char, fork.byte, fork.token, fork.kind) == (17, 17, 3, "differs")
    assert [(branch.text, branch.count) for branch in fork.branches] == [
        ("four.", 16 + 18), ("alpha.", 6), ("bravo.", 6), ("charlie.", 6), ("delta.", 6), ("go!", 6),
    ]  # fmt: skip


def test_a_rare_effect_unseen_in_twenty_is_agreed_with_its_bound(stage: Stage) -> None:
    played = stage.play("company.OddInCompany")
    analysis = probed(played.url, prompts="Count.", n=20, company=(1, 32), max_tokens=64)
    alone, company = analysis.prompts[0].conditions
    assert (analysis.verdict, analysis.exit_code) == (Verdict.AGREED, 0)
    assert alone.variant_rate_upper == pytest.approx(1 - 0.05 ** (1 / 20))
    assert company.completions == 20
    assert company.variant_rate_upper is None  # one block: its twenty may share one computation
    assert named(analysis) == {}


def test_a_rare_effect_is_seen_in_six_hundred(stage: Stage) -> None:
    played = stage.play("company.OddInCompany")
    analysis = probed(played.url, prompts="Count.", n=600, alone=20, company=(1, 32), max_tokens=64)
    alone, company = analysis.prompts[0].conditions
    assert analysis.verdict is Verdict.DIVERGED
    assert (alone.distinct.text, company.distinct.text) == (1, 2)
    assert {text.count for text in analysis.prompts[0].texts} == {617, 3}
    assert set(named(analysis)) <= {"company", "unseen-company"}


def test_logprobs_that_move_only_among_five_leave_the_text_agreed(stage: Stage) -> None:
    played = stage.play("company.Band")
    analysis = probed(played.url, prompts="Count.", n=10, alone=3, company=(1, 4, 5, 6), max_tokens=64, logprobs="on")
    distinct = {each.company.asked: each.distinct for each in analysis.prompts[0].conditions}
    assert (analysis.verdict, analysis.exit_code) == (Verdict.AGREED, 0)
    assert {asked: each.text for asked, each in distinct.items()} == {1: 1, 4: 1, 5: 1, 6: 1}
    assert {asked: each.logprobs for asked, each in distinct.items()} == {1: 1, 4: 1, 5: 3, 6: 1}
    assert {asked: each.breaks_first for asked, each in distinct.items()} == {1: None, 4: None, 5: "logprobs", 6: None}


def test_a_server_with_a_hundred_places_shows_a_hundred_of_128(stage: Stage) -> None:
    played = stage.play("company.Steady", at_once=100, delay_s=0.2, metrics="vllm")
    analysis = probed(played.url, prompts="Count.", n=128, alone=3, company=(1, 128), max_tokens=64)
    company = analysis.prompts[0].conditions[1].company
    assert (company.asked, company.measured_by) == (128, "server")
    assert company.reached == pytest.approx(100, abs=5)  # a sample may fall where one answer has just left
    assert company.peak == 128
    assert played.report()["peak"] == 128
    assert analysis.verdict is Verdict.AGREED


@pytest.mark.parametrize(("metrics", "delay_s"), [(None, 0.03), ("vllm", 0.08)])
def test_a_server_that_answers_one_at_a_time_is_undecided(stage: Stage, metrics: str | None, delay_s: float) -> None:
    played = stage.play("company.Steady", at_once=1, delay_s=delay_s, metrics=metrics)
    analysis = probed(played.url, prompts="Count.", n=8, alone=4, company=(1, 4), max_tokens=64)
    alone, company = analysis.prompts[0].conditions
    assert (alone.verdict, company.verdict) == (Verdict.AGREED, Verdict.UNDECIDED)
    assert (analysis.verdict, analysis.exit_code) == (Verdict.UNDECIDED, 4)
    assert company.company.reached is not None
    assert company.company.reached <= 1.5
    assert (company.company.shortfall, company.company.peak) == ("serial", 4)
    assert found(analysis) == set()


def test_fillers_overlap_the_judged_attempts_of_their_block(stage: Stage) -> None:
    played = stage.play("company.Steady")
    run = temp0.ask(played.url, model="m", prompts="Count.", n=6, alone=2, company=(1, 4), filler="mixed")
    fillers = [attempt for attempt in run.attempts if attempt.role == "filler"]
    judged = [attempt for attempt in run.attempts if attempt.role == "judged" and attempt.condition != "alone"]
    assert fillers
    for one in judged:
        assert any(other.started_s < one.ended_s and one.started_s < other.ended_s for other in fillers)
    assert not any(
        other.started_s < one.ended_s and one.started_s < other.ended_s
        for one in run.attempts
        if one.condition == "alone"
        for other in run.attempts
        if other.order != one.order
    )


def test_one_text_alone_and_another_in_company_is_company(stage: Stage) -> None:
    played = stage.play("company.Batching")
    analysis = probed(played.url, prompts=PROMPTS, **ENOUGH)
    assert analysis.verdict is Verdict.DIVERGED
    assert named(analysis) == {"company": "found"}
    told = cause(analysis, "company")
    assert told.prompts == ("p1", "p2")
    assert told.p_adjusted is not None
    assert told.p_adjusted <= 0.05
    assert {each.distinct.text for prompt in analysis.prompts for each in prompt.conditions} == {1}
    differs = comparison(analysis.prompts[0], "alone", "company 4")
    assert differs.verdict is Verdict.DIVERGED
    assert differs.first_difference.text == len(f"{PROMPTS[0]} One, two, three, ")


def test_company_of_other_prompts_is_company_where_the_server_counts_it(stage: Stage) -> None:
    played = stage.play("company.Batching", metrics="llamacpp", delay_s=0.08)
    analysis = probed(played.url, prompts=PROMPTS[:1], filler="mixed", **ENOUGH)
    told = condition(analysis.prompts[0], "company 4 mixed").company
    assert (told.reached, told.measured_by) == (4, "server")
    assert named(analysis) == {"company": "found"}


def test_company_of_other_prompts_that_nobody_counts_is_only_suspected(stage: Stage) -> None:
    # One judged attempt at a time and fillers of unknown pace: the lower bound from speed-up cannot pass 1.5.
    played = stage.play("company.Batching")
    analysis = probed(played.url, prompts=PROMPTS[:1], filler="mixed", **ENOUGH)
    assert analysis.verdict is Verdict.DIVERGED
    assert named(analysis) == {"company": "suspected"}


def test_company_that_the_server_counts_is_company(stage: Stage) -> None:
    played = stage.play("company.Batching", metrics="vllm", delay_s=0.12)
    analysis = probed(played.url, prompts=PROMPTS[:1], **ENOUGH)
    told = condition(analysis.prompts[0], "company 4").company
    assert (told.reached, told.measured_by, told.shortfall) == (4, "server", None)
    assert named(analysis) == {"company": "found"}


def test_a_ladder_of_company_shows_where_the_text_changes(stage: Stage) -> None:
    played = stage.play("company.Ladder")
    analysis = probed(played.url, prompts=PROMPTS, n=8, alone=6, company=(1, 2, 4), max_tokens=64)
    for prompt in analysis.prompts:
        assert {each.company.asked: each.distinct.text for each in prompt.conditions} == {1: 1, 2: 1, 4: 1}
        assert comparison(prompt, "alone", "company 2").verdict is Verdict.AGREED
        assert comparison(prompt, "alone", "company 4").verdict is Verdict.DIVERGED
        assert comparison(prompt, "company 2", "company 4").verdict is Verdict.DIVERGED
    assert named(analysis) == {"company": "found"}


def test_company_is_named_for_the_prompt_it_changes_and_no_other(stage: Stage) -> None:
    played = stage.play("company.OnlyOnePrompt")
    analysis = probed(played.url, prompts=PROMPTS, **ENOUGH)
    assert named(analysis) == {"company": "found"}
    assert cause(analysis, "company").prompts == ("p1",)
    assert [prompt.verdict for prompt in analysis.prompts] == [Verdict.DIVERGED, Verdict.AGREED]


def test_each_prompt_has_its_own_cause(stage: Stage) -> None:
    played = stage.play("company.OnlyOnePrompt")
    analysis = probed(played.url, prompts=[*PROMPTS, "Ask the wild one."], **ENOUGH)
    assert named(analysis) == {"company": "found", "unseen-company": "found"}
    assert cause(analysis, "company").prompts == ("p1",)
    assert cause(analysis, "unseen-company").prompts == ("p3",)


# Nearly company, and not


def test_company_that_agrees_with_alone_is_no_cause(stage: Stage) -> None:
    played = stage.play("company.Steady")
    analysis = probed(played.url, prompts=PROMPTS[:1], **ENOUGH)
    assert (analysis.verdict, named(analysis)) == (Verdict.AGREED, {})


def test_texts_that_vary_alone_as_well_are_not_of_company(stage: Stage) -> None:
    played = stage.play("company.Coin", delay_s=0.03)
    analysis = probed(played.url, prompts=PROMPTS[:1], **ENOUGH)
    assert analysis.verdict is Verdict.DIVERGED
    assert "company" not in named(analysis)
    assert named(analysis)["unseen-company"] == "found"


def test_texts_that_vary_on_a_server_that_answers_one_at_a_time_are_not_of_company(stage: Stage) -> None:
    played = stage.play("company.Coin", at_once=1, delay_s=0.02)
    analysis = probed(played.url, prompts=PROMPTS[:1], **ENOUGH)
    assert analysis.verdict is Verdict.DIVERGED
    assert condition(analysis.prompts[0], "company 4").company.shortfall == "serial"
    assert "company" not in found(analysis)


def test_texts_that_change_with_time_are_not_of_the_company_beside_them(stage: Stage) -> None:
    played = stage.play("hour.ChangePoint", at=30, delay_s=0.03)
    analysis = probed(played.url, prompts=PROMPTS, n=12, alone=12, company=(1, 4), max_tokens=64)
    assert analysis.verdict is Verdict.DIVERGED
    assert "company" not in named(analysis)
    assert "order" in found(analysis)


def test_a_difference_beside_company_that_was_not_shown_is_at_most_suspected(stage: Stage) -> None:
    # One at a time, and yet the texts follow our pools: something else about them does it, and we cannot tell what.
    played = stage.play("company.WaitingLine", at_once=1, delay_s=0.02)
    analysis = probed(played.url, prompts=PROMPTS[:1], **ENOUGH)
    assert analysis.verdict is Verdict.DIVERGED
    assert named(analysis).get("company") in {None, "suspected"}


@pytest.mark.parametrize(("n", "alone"), [(4, 4), (16, 1)], ids=["one block of company", "one block alone"])
def test_one_block_on_a_side_is_too_little_for_a_finding(stage: Stage, n: int, alone: int) -> None:
    played = stage.play("company.Batching")
    analysis = probed(played.url, prompts=PROMPTS[:1], n=n, alone=alone, company=(1, 4), max_tokens=64)
    assert analysis.verdict is Verdict.DIVERGED
    assert named(analysis).get("company") in {None, "suspected"}


# Whatever is varied at once


def test_an_endpoint_that_keeps_its_promise_agrees_at_every_level(stage: Stage) -> None:
    played = stage.play("company.Invariant", metrics="vllm", means="vllm", keeps_prefixes=True)
    analysis = probed(played.url, prompts="Count.", n=4, alone=2, company=(1, 4), cache="both", logprobs="both")
    assert (analysis.verdict, analysis.exit_code, named(analysis)) == (Verdict.AGREED, 0, {})
    prompt = analysis.prompts[0]
    assert [each.verdict for each in prompt.conditions] == [Verdict.AGREED] * 8
    assert {each.verdict for each in prompt.comparisons} == {Verdict.AGREED}
    distinct = prompt.distinct
    assert (distinct.text, distinct.tokens, distinct.logprobs, distinct.top_logprobs) == (1, 1, 1, 1)
    assert distinct.breaks_first is None


def test_an_endpoint_that_keeps_its_promise_agrees_streamed_and_whole(stage: Stage) -> None:
    played = stage.play("company.Invariant", delay_s=0.0)
    analysis = probed(played.url, prompts="Count.", n=4, company=1, logprobs="both", stream="both")
    assert (analysis.verdict, analysis.exit_code, named(analysis)) == (Verdict.AGREED, 0, {})
    distinct = analysis.prompts[0].distinct
    assert (distinct.text, distinct.tokens, distinct.logprobs, distinct.top_logprobs) == (1, 1, 1, 1)


def test_company_is_found_beside_a_cache_and_an_observer_that_change_only_logprobs(stage: Stage) -> None:
    played = stage.play("company.LikeLlama")
    analysis = probed(
        played.url, prompts="Count.", n=12, alone=6, company=(1, 4), cache="both", logprobs="both", max_tokens=64
    )
    assert cause(analysis, "company").certainty == "found"
    assert not {"observer", "sampling", "order", "backend-mix", "unseen-company", "run-to-run"} & set(named(analysis))
    cold, warm = "alone, logprobs, cache cold", "alone, logprobs, cache warm"
    differs = comparison(analysis.prompts[0], cold, warm).first_difference
    assert (differs.text, differs.tokens, differs.logprobs) == (None, None, 0)


def test_replicas_are_found_though_company_was_asked_for_too(stage: Stage) -> None:
    pattern = shuffled((("f1", "One machine answers."), 7), (("f2", "Another answers."), 5))
    played = stage.play("backend.Replicas", pattern=pattern, delay_s=0.03)
    analysis = probed(played.url, prompts=PROMPTS, **ENOUGH)
    assert analysis.verdict is Verdict.DIVERGED
    assert "backend-mix" in found(analysis)
    assert "company" not in named(analysis)
