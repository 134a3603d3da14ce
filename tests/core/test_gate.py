"""The gate: what passes, what fails, what is neither, and what changed since the baseline."""

from __future__ import annotations

from dataclasses import replace

import pytest
from building import ALONE, IN_COMPANY, NO_COMPANY, REFUSED, WITH_LOGPROBS, built_run

from temp0.core.baseline import Baseline, fingerprint, known_endpoint
from temp0.core.gate import Gate, Tolerance, checked, impossible, not_measured, rate_bounds
from temp0.core.judgement import analysis
from temp0.core.plan import Condition, Message, Plan, Prompt

STEADY = {ALONE: ["same"] * 20}
NOTHING = Tolerance()


def baseline_of(observed) -> Baseline:
    run = built_run({"E": observed})
    return Baseline(endpoints=(known_endpoint("prod", analysis(run), run.plan.prompts),))


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


def test_company_that_was_not_shown_cannot_pass():
    assert one({ALONE: ["a"] * 8, IN_COMPANY: ["a"] * 8}, clock=NO_COMPANY).outcome == "undecided"


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
