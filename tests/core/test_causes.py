"""Each cause where it holds, and where it nearly does: runs whose texts depend on one known thing."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import count

import pytest
from building import ALONE, FULL_COMPANY, IN_COMPANY, NO_COMPANY, WITH_LOGPROBS, Clock, built_run, spelled, token

from temp0.core.analysis import Analysis, Cause, Verdict
from temp0.core.judgement import analysis
from temp0.core.plan import Condition
from temp0.core.run import Attempt, Completion, Failure, Run, Sample, Usage

COLD, WARM = Condition(cache="cold"), Condition(cache="warm")
Answer = Callable[[Attempt, int], Completion]


def asked(
    answer: Answer,
    *,
    prompts: Sequence[str] = ("P",),
    sizes: Mapping[Condition, int] | None = None,
    clock: Clock = FULL_COMPANY,
    exclusive: bool = False,
) -> Run:
    """A run in which `answer` gives each completion, from its attempt and how often its prompt was asked before."""
    wanted = {ALONE: 30} if sizes is None else sizes
    run = built_run({name: {under: ["?"] * n for under, n in wanted.items()} for name in prompts}, clock=clock)
    before = {name: count() for name in prompts}
    attempts = tuple(replace(one, outcome=answer(one, next(before[one.prompt]))) for one in run.attempts)
    return replace(run, attempts=attempts, plan=replace(run.plan, exclusive=exclusive))


def said(text: str, **fields: object) -> Completion:
    return Completion(text=text, finish="stop", **fields)  # type: ignore[arg-type]


def causes(run: Run) -> dict[str, Cause]:
    return {cause.cause: cause for cause in analysis(run).causes}


def certainties(run: Run) -> dict[str, str]:
    return {name: cause.certainty for name, cause in causes(run).items()}


def untested(judged: Analysis) -> dict[str, str]:
    return {one.cause: one.reason for one in judged.untested}


# Scattered so that it lines up with nothing: the attempts of a prompt that give the other text.
SCATTERED = frozenset({3, 4, 9, 14, 16, 17, 21, 26})


def scattered(_: Attempt, nth: int) -> Completion:
    return said("B" if nth in SCATTERED else "A")


# unseen-company and run-to-run


def test_an_endpoint_of_strangers_that_varies_alone_has_unseen_company() -> None:
    assert certainties(asked(scattered)) == {"unseen-company": "found"}


def test_a_users_word_that_nobody_else_is_there_makes_it_run_to_run() -> None:
    assert certainties(asked(scattered, exclusive=True)) == {"run-to-run": "found"}


@pytest.mark.parametrize(("running", "cause"), [(1.0, "run-to-run"), (5.0, "unseen-company")])
def test_the_servers_own_count_tells_whether_strangers_were_there(running: float, cause: str) -> None:
    run = asked(scattered)
    samples = tuple(
        Sample(at_s=(one.started_s + one.ended_s) / 2, block=one.block, running=running) for one in run.attempts
    )
    assert certainties(replace(run, samples=samples)) == {cause: "found"}


def test_what_never_varies_has_no_cause() -> None:
    assert certainties(asked(lambda *_: said("A"))) == {}


# backend-mix


@pytest.mark.parametrize("field", ["fingerprint", "model", "x-replica", "x-served-by", "x-backend-host"])
def test_texts_that_line_up_with_a_replica_are_a_mix_of_backends(field: str) -> None:
    def answer(attempt: Attempt, nth: int) -> Completion:
        which = "r2" if nth in SCATTERED else "r1"
        told = {field: which} if field in {"fingerprint", "model"} else {"headers": ((field, which),)}
        return said("B" if nth in SCATTERED else "A", **told)

    found = causes(asked(answer))
    assert {name: cause.certainty for name, cause in found.items()} == {"backend-mix": "found"}
    assert field in found["backend-mix"].evidence
    assert "within each no variation" in found["backend-mix"].evidence


def test_variation_within_a_replica_is_said() -> None:
    def answer(attempt: Attempt, nth: int) -> Completion:
        return said(
            "B" if nth in SCATTERED else "C" if nth == 12 else "A", fingerprint="f2" if nth in SCATTERED else "f1"
        )

    assert "within f1 texts vary, too" in causes(asked(answer))["backend-mix"].evidence


@pytest.mark.parametrize(
    "fingerprint",
    [
        lambda nth: "fp_ollama",
        lambda nth: None,
        lambda nth: "",
        lambda nth: f"f{nth}",
        lambda nth: ("f1", "f2")[nth % 2],
    ],
    ids=["constant", "null", "empty", "always new", "independent"],
)
def test_fingerprints_that_do_not_line_up_name_no_mix(fingerprint: Callable[[int], str | None]) -> None:
    run = asked(lambda one, nth: replace(scattered(one, nth), fingerprint=fingerprint(nth)))
    assert certainties(run) == {"unseen-company": "found"}


def test_times_and_ids_in_headers_are_no_replicas() -> None:
    def answer(attempt: Attempt, nth: int) -> Completion:
        slow = nth in SCATTERED
        headers = (("x-envoy-upstream-service-time", "9" if slow else "8"), ("x-request-id", f"r{slow}"))
        return said("B" if slow else "A", headers=headers)

    assert "backend-mix" not in certainties(asked(answer))


# cache-state


def test_cold_that_differs_from_warm_is_the_state_of_the_cache() -> None:
    def answer(attempt: Attempt, nth: int) -> Completion:
        return said("B" if attempt.condition == WARM.name and attempt.prompt < "P2" else "A")

    found = causes(asked(answer, prompts=[f"P{n}" for n in range(5)], sizes={COLD: 6, WARM: 6}))
    assert {name: cause.certainty for name, cause in found.items()} == {"cache-state": "found"}
    assert found["cache-state"].prompts == ("P0", "P1")
    assert "2 of 5 prompts" in found["cache-state"].evidence


def test_a_cold_condition_with_cached_tokens_proves_nothing() -> None:
    def answer(attempt: Attempt, nth: int) -> Completion:
        return said("B" if attempt.condition == WARM.name else "A", usage=Usage(cached=32))

    assert certainties(asked(answer, sizes={COLD: 6, WARM: 6})) == {"cache-state": "suspected"}


def test_cold_that_varies_as_warm_does_is_not_the_cache() -> None:
    found = certainties(asked(scattered, sizes={COLD: 15, WARM: 15}))
    assert "cache-state" not in found


def test_a_first_answer_unlike_all_later_ones_is_suspected() -> None:
    found = causes(asked(lambda _, nth: said("B" if nth else "A"), sizes={ALONE: 10}))
    assert found["cache-state"].certainty == "suspected"
    assert "not reproduced" in found["cache-state"].evidence
    assert "order" not in found


FIVE = tuple(f"P{number}" for number in range(5))


def test_first_answers_of_many_prompts_stay_suspected_where_no_flush_gives_them_again() -> None:
    run = asked(lambda _, nth: said("B" if nth else "A"), prompts=FIVE, sizes={ALONE: 10})
    found = causes(run)["cache-state"]
    assert (found.certainty, found.prompts) == ("suspected", FIVE)


def test_first_answers_that_an_emptied_cache_gives_again_are_its_state() -> None:
    def answer(attempt: Attempt, nth: int) -> Completion:
        return said("A" if attempt.condition == COLD.name or nth == 0 else "B")

    found = causes(asked(answer, prompts=FIVE, sizes={ALONE: 10, COLD: 4}))["cache-state"]
    assert found.certainty == "found"
    assert "gave the first text again" in found.evidence


def test_texts_that_line_up_with_cached_tokens_are_the_state_of_the_cache() -> None:
    def answer(attempt: Attempt, nth: int) -> Completion:
        is_cold = nth in SCATTERED
        return said("A" if is_cold else "B", usage=Usage(cached=0 if is_cold else 32))

    assert certainties(asked(answer)) == {"cache-state": "found"}


def test_one_odd_answer_in_the_middle_is_not_the_cache() -> None:
    assert certainties(asked(lambda _, nth: said("A" if nth == 7 else "B"))) == {"unseen-company": "found"}


# order


def test_a_change_that_stays_is_the_order() -> None:
    found = causes(asked(lambda _, nth: said("A" if nth < 15 else "B")))
    assert {name: cause.certainty for name, cause in found.items()} == {"order": "found"}
    assert "changed once and stayed" in found["order"].evidence


def test_a_drifting_rate_is_the_order() -> None:
    drifting = "AAAAAAAAAAAAABAAAABAABABABBBBABBBBBBBBBB"
    found = causes(asked(lambda _, nth: said(drifting[nth]), sizes={ALONE: 40}))
    assert found["order"].certainty == "found"
    assert "drift" in found["order"].evidence


def test_a_text_that_depends_on_the_prompt_before_is_the_order() -> None:
    run = asked(lambda *_: said("A"), prompts=["P", "Q", "R"])
    prompt_of = {one.order: one.prompt for one in run.attempts}
    attempts = tuple(
        replace(one, outcome=said("B" if prompt_of.get(one.order - 1) == "Q" else "A")) for one in run.attempts
    )
    found = causes(replace(run, attempts=attempts))
    assert {name: cause.certainty for name, cause in found.items()} == {"order": "found"}
    assert "the prompt asked before" in found["order"].evidence


def test_two_backends_in_turn_that_tell_nothing_are_seen_by_their_turn() -> None:
    found = causes(asked(lambda one, _: said("AB"[one.order % 2])))
    assert {name: cause.certainty for name, cause in found.items()} == {"order": "found"}
    assert "every second request" in found["order"].evidence


# company


def in_company(attempt: Attempt, nth: int) -> Completion:
    return said("B" if attempt.condition != ALONE.name else "A")


def test_another_text_in_company_that_was_shown_is_company() -> None:
    found = causes(asked(in_company, sizes={ALONE: 10, IN_COMPANY: 32}))
    assert {name: cause.certainty for name, cause in found.items()} == {"company": "found"}
    assert found["company"].p == pytest.approx(1 / 1001)
    assert found["company"].n == 14


def test_company_that_was_not_shown_is_only_suspected() -> None:
    run = asked(in_company, sizes={ALONE: 10, IN_COMPANY: 32}, clock=NO_COMPANY)
    assert certainties(run) == {"company": "suspected"}


def test_too_few_blocks_leave_company_suspected() -> None:
    run = asked(in_company, sizes={ALONE: 2, IN_COMPANY: 16})
    found = causes(run)
    assert found["company"].certainty == "suspected"
    assert "which so few blocks cannot bring to 0.05" in found["company"].evidence


def test_an_odd_answer_in_company_that_chance_would_often_give_is_no_sign() -> None:
    in_company_before = count()

    def answer(attempt: Attempt, nth: int) -> Completion:
        return said("B" if attempt.condition != ALONE.name and next(in_company_before) == 20 else "A")

    assert certainties(asked(answer, sizes={ALONE: 10, IN_COMPANY: 32})) == {}


def test_a_ladder_tells_its_dose() -> None:
    ladder = {ALONE: 12, **{Condition(company=k): 24 for k in (2, 4, 8)}}
    unlike = {"company 2": 0, "company 4": 8, "company 8": 24}
    seen = {name: count() for name in unlike}

    def answer(attempt: Attempt, nth: int) -> Completion:
        name = attempt.condition
        return said("B" if name in unlike and next(seen[name]) < unlike[name] else "A")

    evidence = causes(asked(answer, sizes=ladder))["company"].evidence
    assert "unlike it: 0 of 24 in company 2, 8 of 24 in company 4, 24 of 24 in company 8" in evidence
    assert "the share rises with company" in evidence


def test_variation_alone_and_in_company_alike_is_not_company() -> None:
    run = asked(lambda one, nth: said("B" if (one.order * 7) % 5 == 0 else "A"), sizes={ALONE: 30, IN_COMPANY: 40})
    assert certainties(run).get("company") != "found"


# observer


def observed(attempt: Attempt, nth: int) -> Completion:
    return said("B" if attempt.condition == WITH_LOGPROBS.name else "A")


def test_asking_for_logprobs_can_be_the_cause() -> None:
    run = asked(observed, sizes={ALONE: 8, WITH_LOGPROBS: 8})
    assert certainties(run) == {"observer": "found"}
    assert analysis(run).verdict is Verdict.AGREED


def test_plain_attempts_that_vary_themselves_are_no_observer_effect() -> None:
    assert "observer" not in certainties(asked(scattered, sizes={ALONE: 15, WITH_LOGPROBS: 15}))


def test_prompts_that_happen_to_be_steady_without_logprobs_do_not_make_an_observer_effect() -> None:
    draw = random.Random(5)
    names = [f"P{number:02}" for number in range(40)]
    run = asked(lambda *_: said("AB"[draw.random() < 0.08]), prompts=names, sizes={ALONE: 12, WITH_LOGPROBS: 12})
    assert "observer" not in {name for name, certainty in certainties(run).items() if certainty == "found"}


# sampling


def drawn(below: float) -> Callable[[Attempt, int], Completion]:
    def answer(attempt: Attempt, nth: int) -> Completion:
        if nth in SCATTERED:
            return spelled(token("B", -0.1 - below, A=-0.1))
        return spelled(token("A", -0.1, B=-0.1 - below))

    return answer


@pytest.mark.parametrize(("below", "certainty"), [(0.9, "found"), (0.3, "suspected"), (0.0, None)])
def test_a_chosen_token_below_the_likeliest_is_sampling(below: float, certainty: str | None) -> None:
    found = certainties(asked(drawn(below), sizes={WITH_LOGPROBS: 30}))
    assert found.get("sampling") == certainty


def test_nearly_every_text_distinct_is_only_suspected() -> None:
    found = certainties(asked(lambda one, _: said(f"text {one.order}"), prompts=["P", "Q"], sizes={ALONE: 10}))
    assert found == {"sampling": "suspected", "unseen-company": "suspected"}


def test_one_prompt_of_many_texts_beside_a_steady_one_is_not_sampling() -> None:
    def answer(attempt: Attempt, nth: int) -> Completion:
        return said("A" if attempt.prompt == "Q" else f"text {attempt.order}")

    assert certainties(asked(answer, prompts=["P", "Q"], sizes={ALONE: 10})) == {"unseen-company": "found"}


def test_a_refused_temperature_is_sampling() -> None:
    refused = Failure(reason="http-400", message="HTTP 400: unsupported value: temperature must be 1", status=400)
    run = built_run({"P": {ALONE: [refused] * 4}})
    assert certainties(run) == {"not-measured": "found", "sampling": "found"}


def test_a_run_that_is_not_greedy_is_sampling_also_where_it_agrees() -> None:
    for answer in (scattered, lambda *_: said("A")):
        run = asked(answer)
        greedy = certainties(run)
        drawn = causes(replace(run, plan=replace(run.plan, greedy=False)))
        assert "sampling" not in greedy
        assert (drawn["sampling"].certainty, drawn["sampling"].n) == ("found", 30)
        assert "not greedy" in drawn["sampling"].evidence
        assert "unseen-company" not in drawn


def test_a_refusal_that_only_repeats_what_was_sent_is_no_sampling() -> None:
    said_back = """HTTP 400: bad request: {"model": "m", "temperature": 0, "max_tokens": 160}: model must be loaded"""
    run = built_run({"P": {ALONE: [Failure(reason="http-400", message=said_back, status=400)] * 4}})
    assert certainties(run) == {"not-measured": "found"}


def test_one_answer_always_with_a_token_below_the_likeliest_is_only_suspected() -> None:
    run = asked(lambda *_: spelled(token("B", -2.0, A=-0.2)), sizes={WITH_LOGPROBS: 10})
    assert certainties(run) == {"sampling": "suspected"}


# response-cache


def replayed(attempt: Attempt, nth: int) -> Completion:
    return said("A", id="r-1", created=1)


def test_replays_are_excluded_and_leave_the_run_undecided() -> None:
    judged = analysis(asked(replayed, sizes={ALONE: 20}))
    condition = judged.prompts[0].conditions[0]
    assert (condition.completions, condition.excluded[0].count) == (1, 19)
    assert judged.verdict is Verdict.UNDECIDED
    assert [cause.cause for cause in judged.causes] == ["not-measured", "response-cache"]


@pytest.mark.parametrize(
    ("name", "value"),
    [("x-cache", "HIT"), ("cf-aig-cache-status", "HIT"), ("x-litellm-cache-hit", "True"), ("age", "12")],
)
def test_a_header_that_tells_a_hit_excludes(name: str, value: str) -> None:
    run = asked(lambda _, nth: said("A", headers=((name, value),) if nth else ()), sizes={ALONE: 5})
    assert analysis(run).prompts[0].conditions[0].completions == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("x-cache", "MISS"),
        ("x-cache", "MISS, HIT"),
        ("cf-cache-status", "DYNAMIC"),
        ("x-prompt-cache", "hit"),
        ("x-cache-hit", "false"),
        ("age", "0"),
        ("x-cache-key", "hit-parade"),
    ],
)
def test_headers_that_tell_no_replay_exclude_nothing(name: str, value: str) -> None:
    run = asked(lambda *_: said("A", headers=((name, value),)), sizes={ALONE: 5})
    assert certainties(run) == {}


def test_an_id_that_two_texts_share_voids_it() -> None:
    run = asked(lambda _, nth: said("B" if nth in SCATTERED else "A", id="chatcmpl-0", created=1))
    assert "response-cache" not in certainties(run)


def test_a_constant_id_with_times_of_its_own_is_no_replay() -> None:
    run = asked(lambda one, _: said("A", id="chatcmpl-0", created=int(one.started_s) // 2))
    assert certainties(run) == {}


def test_replays_that_took_no_time_are_replays() -> None:
    run = asked(replayed, sizes={ALONE: 3}, clock=Clock(alone_s=0.0))
    assert analysis(run).prompts[0].conditions[0].completions == 1


def test_answers_that_overlapped_are_no_replays_of_each_other() -> None:
    run = asked(lambda one, _: said("A", id=f"b-{one.block}", created=1), sizes={IN_COMPANY: 16})
    assert certainties(run) == {}


def test_cached_prompt_tokens_are_no_replay() -> None:
    run = asked(lambda *_: said("A", usage=Usage(cached=64)))
    assert certainties(run) == {}


# several causes, and none


def test_two_effects_are_both_found() -> None:
    def answer(attempt: Attempt, nth: int) -> Completion:
        in_time = "late" if attempt.order > 30 else "early"
        return said(in_time, fingerprint="f2" if attempt.order > 30 else "f1")

    assert certainties(asked(answer, sizes={ALONE: 60})) == {"backend-mix": "found", "order": "found"}


def test_what_could_not_be_tested_is_said() -> None:
    reasons = untested(analysis(asked(scattered)))
    assert set(reasons) == {"sampling", "backend-mix", "company", "observer"}
    assert "--company 1,8" in reasons["company"]
    assert "constant one proves nothing" in reasons["backend-mix"]


def test_shuffling_the_stored_attempts_changes_no_cause() -> None:
    run = asked(
        lambda one, nth: said("AB"[one.order % 2], fingerprint="fg"[nth % 2]), sizes={ALONE: 20, IN_COMPANY: 16}
    )
    shuffled = replace(run, attempts=run.attempts[::-1])
    assert analysis(shuffled) == analysis(run)
