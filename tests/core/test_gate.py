"""The gate: what passes, what fails, what is neither, and what changed since the baseline."""

from __future__ import annotations

from dataclasses import replace

import pytest
from building import ALONE, IN_COMPANY, NO_COMPANY, REFUSED, WITH_LOGPROBS, built_run

from temp0.core.baseline import Baseline, fingerprint, known_endpoint, moved, unmatched
from temp0.core.gate import Gate, Tolerance, checked, impossible, is_worth_asking_again, not_measured, rate_bounds
from temp0.core.plan import Condition, Message, Plan, Prompt
from temp0.core.run import Completion

STEADY = {ALONE: ["same"] * 20}
NOTHING = Tolerance()


def baseline_of(observed) -> Baseline:
    run = built_run({"E": observed})
    return Baseline(endpoints=(known_endpoint("prod", run),))


def one(observed, *, before=None, tolerance=NOTHING, clock=None):
    run = built_run({"E": observed}) if clock is None else built_run({"E": observed}, clock=clock)
    (found,) = checked("prod", run, baseline_of(before) if before else Baseline(), tolerance)
    return found


@pytest.mark.parametrize(
    ("before", "now", "outcome", "change"),
    [
        pytest.param(STEADY, STEADY, "pass", "same", id="as before"),
        pytest.param(None, STEADY, "pass", "new", id="nothing known of it"),
        pytest.param(STEADY, {ALONE: ["same"] * 19 + ["odd"]}, "fail", "became-nondeterministic", id="began to vary"),
        pytest.param(STEADY, {ALONE: ["other"] * 20}, "fail", "text-changed", id="another text"),
        pytest.param({ALONE: ["same"] * 9 + ["odd"]}, STEADY, "pass", "better", id="varies no more"),
        pytest.param(
            {ALONE: ["same"] * 9 + ["odd"]}, {ALONE: ["same"] * 8 + ["odd"] * 2}, "fail", "still-varies", id="as bad"
        ),
        pytest.param(STEADY, {ALONE: [REFUSED] * 20}, "not-measured", "unknown", id="an outage"),
        pytest.param(STEADY, {ALONE: ["same"]}, "undecided", "same", id="one attempt"),
    ],
)
def test_each_change_is_told_apart(before, now, outcome, change):
    found = one(now, before=before)
    assert (found.outcome, found.change) == (outcome, change)


def test_one_text_alone_and_another_in_company_fails():
    found = one({ALONE: ["a"] * 8, IN_COMPANY: ["b"] * 8}, before={ALONE: ["a"] * 8})
    assert (found.outcome, found.change, found.blocks) == ("fail", "became-nondeterministic", 9)
    assert found.unlike == 1


def test_company_that_was_not_shown_cannot_pass_and_is_named():
    found = one({ALONE: ["a"] * 8, IN_COMPANY: ["a"] * 8}, clock=NO_COMPANY)
    assert (found.outcome, found.why) == (
        "undecided", "nothing shows that 8 requests ran together under company 8",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("observed", "tolerance", "why"),
    [
        ({ALONE: ["a"]}, NOTHING, "one answer under alone can be compared with nothing"),
        ({ALONE: [""] * 4}, NOTHING, "every answer under alone is empty"),
        ({ALONE: ["a"] * 4}, Tolerance(rate=0.1), "up to 52.7% of blocks may be unlike, and 10.0% is tolerated"),
        ({ALONE: list("abab")}, Tolerance(rate=0.01), 'at least 9.8% of blocks may be unlike, and 1.0% is tolerated; '
         'from character 0 on: 2 "a", 2 "b"'),
        ({ALONE: ["the cat"] * 3 + ["the dog"]}, NOTHING, 'from character 4 on: 3 "cat", 1 "dog"'),
        ({ALONE: ["the cat"] * 3 + ["the"]}, NOTHING, 'from character 3 on: 3 " cat", 1 "" (it ends)'),
        ({ALONE: list("aabcde")}, NOTHING, 'from character 0 on: 2 "a", 1 "b", 1 "c" and 2 more'),
    ],
)  # fmt: skip
def test_an_outcome_that_is_no_pass_says_what_it_rests_on(observed, tolerance, why):
    found = one(observed, tolerance=tolerance)
    assert found.outcome != "pass"
    assert found.why == why


@pytest.mark.parametrize(
    ("before", "now", "why"),
    [
        ("the cat", "the dog", 'from character 4 on it was "cat" and is "dog"'),
        ("a" * 60 + "cat", "a" * 60 + "dog", "it begins as before; how it went on after character 60 is not kept"),
        ("a" * 59 + "cat", "a" * 59 + "dog", 'from character 59 on it was "c…" and is "dog"'),
    ],
)
def test_a_text_that_moved_is_shown_beside_the_one_before(before, now, why):
    assert one({ALONE: [now] * 4}, before={ALONE: [before] * 4}).why.startswith(why)


def test_one_answer_that_did_not_come_is_no_pass():
    found = one({ALONE: ["same"] * 19 + [REFUSED]}, before=STEADY)
    assert (found.outcome, found.words) == ("not-measured", "19 of 20 answers came; http 401: the key was refused")


def test_a_difference_that_was_seen_before_an_outage_fails_all_the_same():
    assert one({ALONE: ["same", "odd", REFUSED]}, before=STEADY).outcome == "fail"
    assert one({ALONE: ["other", "other", REFUSED]}, before=STEADY).change == "text-changed"
    assert one({ALONE: ["a", "b"], IN_COMPANY: [REFUSED] * 8}).outcome == "fail"


def test_attempts_of_a_plan_that_was_cut_short_say_why_it_stopped():
    run = built_run({"E": {ALONE: ["same"] * 5}}, wanted=8)
    (found,) = checked("prod", run, Baseline(), NOTHING, stopped="the limit of 5 requests is reached")
    assert (found.outcome, found.words) == ("not-measured", "5 of 8 answers came; the limit of 5 requests is reached")


@pytest.mark.parametrize(("replayed", "outcome"), [(3, "pass"), (5, "undecided"), (8, "not-measured")])
def test_replayed_answers_do_not_count_and_a_few_of_them_harm_nothing(replayed, outcome):
    hit = Completion(text="same", headers=(("x-cache", "HIT"),))
    found = one({ALONE: ["same"] * (8 - replayed) + [hit] * replayed})
    assert found.outcome == outcome
    assert (
        outcome == "pass" or f"{replayed} of 8 answers under alone do not count: replayed:" in found.words + found.why
    )


@pytest.mark.parametrize(("lost", "again"), [(0, False), (1, True), (5, True), (6, False), (20, False)])
def test_few_lost_answers_are_worth_asking_again_and_an_outage_is_not(lost, again):
    assert is_worth_asking_again(built_run({"E": {ALONE: ["a"] * (20 - lost) + [REFUSED] * lost}})) is again


def test_attempts_with_logprobs_do_not_decide_beside_plain_ones():
    assert one({ALONE: ["a"] * 8, WITH_LOGPROBS: ["b"] * 8}).outcome == "pass"


def test_a_tolerated_rate_passes_where_its_bound_is_shown_and_fails_where_it_is_surely_above():
    at_most_half = Tolerance(rate=0.5)
    assert one({ALONE: ["a"] * 19 + ["b"]}, before={ALONE: ["a"] * 20}, tolerance=at_most_half).outcome == "pass"
    assert one({ALONE: ["a"] * 12 + list("bcdefghi")}, tolerance=Tolerance(rate=0.1)).outcome == "fail"
    assert one({ALONE: ["a"] * 4 + ["b"]}, tolerance=Tolerance(rate=0.3)).outcome == "undecided"


def test_another_commonest_text_fails_whatever_rate_is_tolerated():
    found = one({ALONE: ["new"] * 19 + ["same"]}, before=STEADY, tolerance=Tolerance(rate=0.9))
    assert (found.outcome, found.change) == ("fail", "became-nondeterministic")


def test_folded_texts_are_one_where_that_is_tolerated_and_only_there():
    spaced = {ALONE: ["same"] * 10 + ["same\n"] * 10}
    assert one(spaced, before=STEADY).outcome == "fail"
    assert one(spaced, before=STEADY, tolerance=Tolerance(folded=True)).outcome == "pass"
    assert one({ALONE: ["Same"] * 20}, before=STEADY, tolerance=Tolerance(folded=True)).outcome == "fail"


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [
        (("pass", "pass"), 0),
        (("pass", "undecided"), 4),
        (("not-measured", "undecided"), 3),
        (("fail", "not-measured"), 1),
        ((), 3),
    ],
)
def test_the_exit_code_is_the_worst_outcomes(outcomes, code):
    found = one(STEADY)
    assert Gate(checked=tuple(replace(found, outcome=outcome) for outcome in outcomes)).exit_code == code


def test_an_endpoint_that_was_not_asked_is_not_measured_and_says_why():
    run = built_run({"E": STEADY})
    (found,) = not_measured("prod", run.plan.prompts, "no server answers")
    assert (found.outcome, found.words, found.high) == ("not-measured", "no server answers", None)


def test_prompts_after_an_outage_are_given_its_reason():
    run = built_run({"E": {ALONE: [REFUSED] * 2}, "F": {ALONE: []}}, wanted=2)
    words = [found.words for found in checked("prod", run, Baseline(), NOTHING)]
    assert words == ["http 401: the key was refused"] * 2


@pytest.mark.parametrize(
    ("n", "tolerance", "told"),
    [
        (30, NOTHING, None),
        (1, NOTHING, "cannot pass: one attempt"),
        (30, Tolerance(rate=0.05), "cannot pass: 30 blocks without an unlike answer leave up to 9.5%"),
        (59, Tolerance(rate=0.05), None),
        (2, Tolerance(rate=0.5), "cannot fail"),
    ],
)
def test_what_a_gate_cannot_do_with_its_blocks_is_known_before(n, tolerance, told):
    prompt = Prompt(id="E", messages=(Message(role="user", content="why"),), n=n, max_tokens=8)
    found = impossible(Plan(prompts=(prompt,), conditions=(Condition(),)), tolerance)
    assert (told is None and not found) or any(told in one for one in found)


@pytest.mark.parametrize(("hits", "n"), [(0, 10), (1, 10), (5, 10), (10, 10)])
def test_bounds_hold_the_share_and_their_tails_are_the_stated_ones(hits, n):
    low, high = rate_bounds(hits, n, 0.95)
    assert low <= hits / n <= high
    assert (low == 0) == (hits == 0)
    assert (high == 1) == (hits == n)


def test_prompts_that_share_an_impossibility_are_told_together():
    asked = tuple(Prompt(id=name, messages=(Message(role="user", content="why"),), n=1, max_tokens=8) for name in "EF")
    one_attempt = "cannot pass: one attempt under a condition can be compared with nothing"
    assert impossible(Plan(prompts=asked, conditions=(Condition(),)), NOTHING) == (f"every prompt {one_attempt}",)
    asked = (*asked, replace(asked[0], id="G", n=9))
    assert impossible(Plan(prompts=asked, conditions=(Condition(),)), NOTHING) == (f"prompt E, F {one_attempt}",)


def test_a_limit_on_requests_below_the_plan_is_known_before():
    plan = built_run({"E": STEADY}).plan
    assert impossible(plan, NOTHING, max_requests=20) == ()
    assert "at most 19 requests may be sent, and 20 are planned" in impossible(plan, NOTHING, max_requests=19)[0]


def signed(model, fingerprint):
    return built_run({"E": {ALONE: [Completion(text="same", model=model, fingerprint=fingerprint)] * 4}})


def test_an_endpoint_that_calls_itself_otherwise_is_noted_and_one_that_keeps_a_name_is_not():
    before = known_endpoint("prod", signed("m-1", "fp-1"))
    assert moved(before, signed("m-2", "fp-2")) == (
        "endpoint prod: its model is now m-2, and was m-1 in the baseline",
        "endpoint prod: its fingerprint is now fp-2, and was fp-1 in the baseline",
    )
    assert moved(before, signed("m-1", "fp-1")) == ()
    assert moved(before, signed(None, None)) == ()
    assert moved(known_endpoint("prod", signed(None, None)), signed("m-1", "fp-1")) == ()
    assert moved(replace(before, answered_as=("m-0", "m-1")), signed("m-1", None)) == ()


def test_fingerprints_that_differ_with_every_answer_name_no_endpoint():
    answers = [Completion(text="same", fingerprint=f"fp-{place}") for place in range(9)]
    assert known_endpoint("prod", built_run({"E": {ALONE: answers}})).fingerprints == ()


def test_what_a_baseline_does_not_know_or_knows_in_vain_is_said():
    plan = built_run({"E": STEADY, "F": STEADY}).plan
    baseline = baseline_of(STEADY)
    assert list(unmatched(baseline_of(STEADY), built_run({"E": STEADY}).plan, ["prod"])) == []
    assert "there is no baseline" in next(unmatched(None, plan, ["prod"]))
    assert [note.partition(":")[0] for note in unmatched(baseline, plan, ["prod"])] == [
        "the baseline does not know prompt F of endpoint prod"
    ]
    assert [note.partition(":")[0] for note in unmatched(baseline, plan, ["other"])] == [
        "the baseline does not know endpoint other",
        "the baseline knows endpoint prod, which the gate does not ask",
    ]
    assert list(unmatched(baseline, built_run({"G": STEADY}).plan, ["prod"]))[1].endswith(
        "prompt E of endpoint prod, which the gate does not ask"
    )


def test_a_prompt_is_known_again_by_its_messages_and_limit():
    prompt = Prompt(id="E", messages=(Message(role="user", content="why"),), n=2, max_tokens=8)
    assert fingerprint(prompt) == fingerprint(replace(prompt, n=30, id="F"))
    for other in (
        replace(prompt, max_tokens=9),
        replace(prompt, messages=(Message(role="system", content="why"),)),
        replace(prompt, messages=(Message(role="user", content="wh"), Message(role="y", content=""))),
    ):
        assert fingerprint(other) != fingerprint(prompt)


def test_the_baseline_of_the_same_answers_is_the_same_value():
    assert baseline_of(STEADY) == baseline_of(STEADY)
    (endpoint,) = baseline_of(STEADY).endpoints
    (prompt,) = endpoint.prompts
    assert [(text.begins, text.count, text.text) for text in prompt.texts] == [("same", 20, None)]
