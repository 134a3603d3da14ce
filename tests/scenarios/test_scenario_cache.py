"""Caches: of prefixes, which may change the arithmetic, and of answers, which are no answers of the model at all."""

from __future__ import annotations

from typing import Any

import pytest
from conclusion import cause, comparison, condition, excluded, found, named, probed
from stage import Stage

from temp0.core.analysis import Verdict
from temp0.errors import Temp0Error

COLD, WARM = "alone, cache cold", "alone, cache warm"
MEANS = ["vllm", "sglang", "llamacpp"]
PROMPTS = ["Ask the first.", "Ask the second."]


# The prefix cache


@pytest.mark.parametrize("means", MEANS)
def test_cold_unlike_warm_is_the_state_of_the_cache(stage: Stage, means: str) -> None:
    played = stage.play("cache.Prefix", means=means)
    analysis = probed(played.url, prompts=PROMPTS, n=8, company=1, cache="both")
    assert (analysis.verdict, analysis.exit_code) == (Verdict.DIVERGED, 1)
    for prompt in analysis.prompts:
        cold, warm = condition(prompt, COLD), condition(prompt, WARM)
        assert (cold.distinct.text, warm.distinct.text, prompt.distinct.text) == (1, 1, 2)
        assert (cold.completions, warm.completions) == (8, 8)
        assert comparison(prompt, COLD, WARM).verdict is Verdict.DIVERGED
        assert (cold.cached_tokens.max, warm.cached_tokens.min) == (0, 8)  # type: ignore[union-attr]
    assert named(analysis) == {"cache-state": "found"}
    assert cause(analysis, "cache-state").prompts == ("p1", "p2")
    assert analysis.cold_by


@pytest.mark.parametrize("means", MEANS)
def test_a_cache_is_made_cold_without_a_change_to_the_prompt(stage: Stage, means: str) -> None:
    played = stage.play("cache.Prefix", means=means)
    probed(played.url, prompts=PROMPTS[:1], n=3, company=1, cache="both")
    report = played.report()
    assert {request["body"]["messages"][0]["content"] for request in report["requests"]} == {PROMPTS[0]}
    assert (report["resets"] > 0) is (means != "llamacpp")
    if means == "llamacpp":
        assert any(request["body"].get("cache_prompt") is False for request in report["requests"])


def test_cold_is_not_pretended_where_there_is_no_means(stage: Stage) -> None:
    played = stage.play("cache.FirstDiffers")
    with pytest.raises(Temp0Error, match="cache"):
        probed(played.url, prompts=PROMPTS, n=4, company=1, cache="cold")
    assert played.requests() == []


def test_forty_prompts_cold_and_warm_flip_eighteen_texts_and_every_logprob(stage: Stage) -> None:
    played = stage.play("cache.FortyPrompts")
    prompts = [f"Ask number {number}{', which flips' if number < 18 else ''}." for number in range(40)]
    analysis = probed(played.url, prompts=prompts, n=3, company=1, cache="both", logprobs="on")
    conditions = [each for prompt in analysis.prompts for each in prompt.conditions]
    assert {(each.distinct.text, each.distinct.logprobs) for each in conditions} == {(1, 1)}
    assert sum(prompt.distinct.text == 2 for prompt in analysis.prompts) == 18
    assert sum(prompt.distinct.logprobs == 2 for prompt in analysis.prompts) == 40
    assert [prompt.verdict for prompt in analysis.prompts].count(Verdict.DIVERGED) == 18
    assert cause(analysis, "cache-state").certainty == "found"
    assert not {"company", "unseen-company", "run-to-run", "order", "sampling"} & found(analysis)


def test_a_cache_that_moves_logprobs_alone_leaves_the_text_agreed(stage: Stage) -> None:
    played = stage.play("cache.FortyPrompts")
    analysis = probed(played.url, prompts="Ask once more.", n=6, company=1, cache="both", logprobs="on")
    prompt = analysis.prompts[0]
    assert (analysis.verdict, prompt.distinct.text, prompt.distinct.logprobs) == (Verdict.AGREED, 1, 2)
    names = [each.name for each in prompt.conditions]
    differs = comparison(prompt, *names).first_difference
    assert (differs.text, differs.tokens, differs.logprobs) == (None, None, 1)
    assert set(named(analysis)) <= {"cache-state"}


def test_a_first_answer_unlike_all_later_ones_is_kept_and_its_cache_suspected(stage: Stage) -> None:
    played = stage.play("cache.FirstDiffers")
    analysis = probed(played.url, prompts=[f"Ask number {number}." for number in range(4)], n=10, company=1)
    assert (analysis.verdict, analysis.exit_code) == (Verdict.DIVERGED, 1)
    for prompt in analysis.prompts:
        assert sorted(text.count for text in prompt.texts) == [1, 9]
        assert prompt.conditions[0].modal_share == pytest.approx(0.9)
        assert (prompt.conditions[0].completions, excluded(prompt.conditions[0])) == (10, 0)
    assert named(analysis)["cache-state"] == "suspected"  # nothing was flushed, so it was not seen a second time


def test_where_nothing_can_be_emptied_the_question_of_the_cache_keeps_every_cold_answer(stage: Stage) -> None:
    played = stage.play("cache.FirstDiffers")
    analysis = probed(played.url, prompts=[f"Ask number {number}." for number in range(4)], ask="cache")
    for prompt in analysis.prompts:
        assert sorted(text.count for text in prompt.texts) == [1, 11]
    suspected = cause(analysis, "cache-state")
    assert (suspected.certainty, suspected.prompts) == ("suspected", ("p1", "p2", "p3", "p4"))
    assert "the first answer is one text and all 11 later ones another" in suspected.evidence


# Nearly the state of the cache, and not


def test_a_prefix_cache_that_changes_nothing_is_no_cause(stage: Stage) -> None:
    played = stage.play("cache.PrefixUnseen")
    analysis = probed(played.url, prompts=PROMPTS, n=8, company=1, cache="both")
    assert (analysis.verdict, named(analysis)) == (Verdict.AGREED, {})


def test_texts_that_vary_cold_as_well_as_warm_are_not_of_the_cache(stage: Stage) -> None:
    played = stage.play("cache.PrefixAndChance")
    analysis = probed(played.url, prompts=PROMPTS, n=10, company=1, cache="both")
    assert analysis.verdict is Verdict.DIVERGED
    assert "cache-state" not in named(analysis)


def test_a_first_answer_that_differs_once_among_many_prompts_is_no_finding(stage: Stage) -> None:
    played = stage.play("cache.OnceByChance", places=[0, *[99] * 7])
    analysis = probed(played.url, prompts=[f"Ask number {number}." for number in range(8)], n=8, company=1)
    assert [prompt.verdict for prompt in analysis.prompts].count(Verdict.DIVERGED) == 1
    assert "cache-state" not in found(analysis)


def test_odd_answers_at_any_place_of_which_one_is_the_first_are_not_of_the_cache(stage: Stage) -> None:
    played = stage.play("cache.OnceByChance", places=[0, 5, 3, 6, 2, 7, 4, 5])
    analysis = probed(played.url, prompts=[f"Ask number {number}." for number in range(8)], n=8, company=1)
    assert [prompt.verdict for prompt in analysis.prompts] == [Verdict.DIVERGED] * 8
    assert "cache-state" not in named(analysis)


# A cache of answers


@pytest.mark.parametrize(
    "options",
    [
        {"header": "x-cache"},
        {"header": "cf-aig-cache-status"},
        {"header": "x-litellm-cache-hit", "hit": "True", "miss": "False"},
        {"header": "x-cache", "hit": "Hit from cloudfront", "miss": "Miss from cloudfront"},
        {"header": "x-cache", "fresh": ["id", "created"]},
        {},
    ],
    ids=["header", "gateway", "true", "words", "header alone", "no header"],
)
def test_replayed_answers_are_excluded_and_nothing_is_decided(stage: Stage, options: dict[str, Any]) -> None:
    played = stage.play("cache.Replaying", **options)
    analysis = probed(played.url, prompts="Ask the first.", n=20, company=1)
    (alone,) = analysis.prompts[0].conditions
    assert (alone.attempts, alone.completions, excluded(alone)) == (20, 1, 19)
    assert (analysis.verdict, analysis.exit_code) == (Verdict.UNDECIDED, 4)
    assert alone.variant_rate_upper is None
    assert cause(analysis, "response-cache").prompts == ("p1",)
    assert set(named(analysis)) <= {"response-cache", "not-measured"}
    assert {request["messages"][0]["content"] for request in played.requests()} == {"Ask the first."}


@pytest.mark.parametrize("header", ["x-cache", None])
def test_a_replay_is_found_by_its_header_or_by_its_id(stage: Stage, header: str | None) -> None:
    played = stage.play("cache.Replaying", header=header)
    analysis = probed(played.url, prompts=PROMPTS, n=6, company=1)
    assert [excluded(prompt.conditions[0]) for prompt in analysis.prompts] == [5, 5]
    assert cause(analysis, "response-cache").certainty == "found"
    assert cause(analysis, "response-cache").prompts == ("p1", "p2")


def test_answers_replayed_in_company_decide_nothing_of_company(stage: Stage) -> None:
    played = stage.play("cache.Replaying", header="x-cache")
    analysis = probed(played.url, prompts="Ask the first.", n=8, alone=6, company=(1, 4))
    conditions = analysis.prompts[0].conditions
    assert sum(each.completions + excluded(each) for each in conditions) == 14
    # Only what was asked before the first answer was there can be an answer of its own.
    assert sum(each.completions for each in conditions) <= 4
    assert (analysis.verdict, analysis.exit_code) == (Verdict.UNDECIDED, 4)
    assert set(named(analysis)) <= {"response-cache", "not-measured"}
    assert cause(analysis, "response-cache").certainty == "found"


def test_replays_under_new_ids_are_found_by_a_time_of_creation_older_than_their_request(stage: Stage) -> None:
    played = stage.play("cache.Aging")
    analysis = probed(played.url, prompts="Ask the first.", n=20, company=1)
    (alone,) = analysis.prompts[0].conditions
    assert (alone.completions, excluded(alone)) == (1, 19)
    assert (analysis.verdict, analysis.exit_code) == (Verdict.UNDECIDED, 4)
    assert set(named(analysis)) == {"response-cache", "not-measured"}


def test_a_clock_that_is_not_ours_is_no_hindrance_where_a_second_answer_shows_that_it_goes(stage: Stage) -> None:
    played = stage.play("cache.Aging", keeps_s=3.6, ahead_s=-7200)
    analysis = probed(played.url, prompts="Ask the first.", n=22, company=1)
    (alone,) = analysis.prompts[0].conditions
    assert alone.completions + excluded(alone) == 22
    assert excluded(alone) >= 12
    assert named(analysis) == {"response-cache": "found"}
    assert "time of creation are those of an earlier answer" in cause(analysis, "response-cache").evidence


# Nearly a cache of answers, and not


def test_answers_made_when_they_are_asked_for_count_whatever_the_clock(stage: Stage) -> None:
    played = stage.play("cache.Aging", keeps_s=0.0, ahead_s=-7200)
    (alone,) = probed(played.url, prompts="Ask the first.", n=12, company=1).prompts[0].conditions
    assert (alone.completions, excluded(alone)) == (12, 0)


@pytest.mark.parametrize(
    "options",
    [
        {"header": "x-cache", "value": "MISS"},
        {"header": "cf-cache-status", "value": "DYNAMIC"},
        {"header": "cf-aig-cache-status", "value": "BYPASS"},
        {"header": "x-litellm-cache-hit", "value": "False"},
        {"id": "chatcmpl-1"},
        {"created": 1},
        {"slow_first_s": 0.3},
    ],
    ids=["miss", "dynamic", "bypass", "false", "id alone", "created alone", "latency alone"],
)
def test_what_only_looks_like_a_replay_counts(stage: Stage, options: dict[str, Any]) -> None:
    played = stage.play("cache.Lazy", **options)
    analysis = probed(played.url, prompts="Ask the first.", n=10, company=1)
    (alone,) = analysis.prompts[0].conditions
    assert (alone.completions, excluded(alone)) == (10, 0)
    assert (analysis.verdict, named(analysis)) == (Verdict.AGREED, {})


def test_an_id_with_two_texts_names_no_answer(stage: Stage) -> None:
    played = stage.play("cache.Lazy", id="chatcmpl-1", created=1, texts=["One.", "Two."])
    analysis = probed(played.url, prompts="Ask the first.", n=10, company=1)
    (alone,) = analysis.prompts[0].conditions
    assert (alone.completions, alone.distinct.text, excluded(alone)) == (10, 2, 0)
    assert "response-cache" not in named(analysis)
    assert analysis.verdict is Verdict.DIVERGED


def test_an_id_shared_by_two_prompts_names_no_answer(stage: Stage) -> None:
    played = stage.play("cache.Lazy", id="chatcmpl-1", created=1)
    analysis = probed(played.url, prompts=PROMPTS, n=6, company=1)
    assert [excluded(prompt.conditions[0]) for prompt in analysis.prompts] == [0, 0]
    assert (analysis.verdict, named(analysis)) == (Verdict.AGREED, {})


def test_prompt_tokens_from_the_prefix_cache_are_no_replay(stage: Stage) -> None:
    played = stage.play("cache.PrefixUnseen")
    analysis = probed(played.url, prompts="Ask the first.", n=10, company=1)
    (alone,) = analysis.prompts[0].conditions
    assert (alone.completions, excluded(alone)) == (10, 0)
    assert alone.cached_tokens is not None
    assert (alone.cached_tokens.min, alone.cached_tokens.max, alone.cached_tokens.n) == (0, 8, 10)
    assert (analysis.verdict, named(analysis)) == (Verdict.AGREED, {})
