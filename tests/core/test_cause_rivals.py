"""Causes that could take each other's place: one machine or another, a change in time, company, and ways of asking."""

from __future__ import annotations

from dataclasses import replace

import pytest
from building import ALONE, IN_COMPANY, STREAMED, WITH_LOGPROBS, Observed, built_run

from temp0.core.analysis import Cause, Verdict
from temp0.core.judgement import analysis
from temp0.core.plan import Condition
from temp0.core.run import Attempt, Completion, Run

COLD, WARM = Condition(cache="cold"), Condition(cache="warm")
DRIFTING = "AAAAAAAAAAAAABAAAABAABABABBBBABBBBBBBBBB"


def told(text: str, fingerprint: str | None) -> Completion:
    return Completion(text=text, finish="stop", fingerprint=fingerprint)


def causes(run: Run) -> dict[str, Cause]:
    return {cause.cause: cause for cause in analysis(run).causes}


def certainties(run: Run) -> dict[str, str]:
    return {name: cause.certainty for name, cause in causes(run).items()}


def reasons(run: Run) -> dict[str, str]:
    return {one.cause: one.reason for one in analysis(run).untested}


# One machine or another time


def in_time(*answers: Completion) -> Run:
    """A run whose answers came in this order, whatever the order of its blocks."""
    run = built_run({"P": {ALONE: ["?"] * len(answers)}})
    attempts = tuple(replace(one, outcome=answer) for one, answer in zip(run.attempts, answers, strict=True))
    return replace(run, attempts=attempts)


def test_texts_that_drift_beside_one_change_of_fingerprint_are_the_order_alone() -> None:
    run = in_time(*[told(text, "f1" if place < 20 else "f2") for place, text in enumerate(DRIFTING)])
    assert certainties(run) == {"order": "found"}
    assert reasons(run)["backend-mix"].startswith("fingerprint changed once, and texts went on beyond the change")


def test_texts_that_change_with_the_fingerprint_are_of_the_backend_as_well() -> None:
    run = in_time(*[told("A", "f1")] * 12, *[told("B", "f2")] * 8)
    assert certainties(run) == {"backend-mix": "found", "order": "found"}


def test_a_fingerprint_that_comes_back_tells_a_backend_although_texts_are_shared() -> None:
    names = "112121122112121221121211"
    run = in_time(*[told("A" if name == "1" or place == 8 else "B", f"f{name}") for place, name in enumerate(names)])
    assert certainties(run)["backend-mix"] == "found"


# One machine or company


def in_company(*, blocks: int, answer: dict[tuple[str, bool], str]) -> Run:
    """Alone the idle machine `f1` answers; of eight together three go to it and five to `f2`."""
    pool = [told(answer[name, True], name) for name in ("f2", "f1", "f2", "f2", "f1", "f2", "f1", "f2")]
    return built_run({"P": {ALONE: [told(answer["f1", False], "f1")] * 10, IN_COMPANY: pool * blocks}})


BY_MACHINE = {("f1", False): "A", ("f1", True): "A", ("f2", True): "B"}


def test_the_idlest_replica_that_answers_alone_is_a_mix_of_backends_and_no_company() -> None:
    run = in_company(blocks=4, answer=BY_MACHINE)
    found = causes(run)
    assert {name: cause.certainty for name, cause in found.items()} == {"backend-mix": "found"}
    assert "in prompt P (company 8) f1: one text in 12, f2: one text in 20" in found["backend-mix"].evidence
    assert reasons(run)["company"].startswith("texts in company are told by fingerprint")


def test_too_few_blocks_leave_a_mix_in_company_suspected_and_company_open() -> None:
    run = in_company(blocks=2, answer=BY_MACHINE)
    assert certainties(run) == {"backend-mix": "suspected"}
    assert "company" in reasons(run)


def test_a_machine_that_answers_otherwise_when_it_is_busy_is_company() -> None:
    run = in_company(blocks=4, answer={("f1", False): "A", ("f1", True): "C", ("f2", True): "B"})
    assert certainties(run) == {"company": "found"}


def test_company_that_changes_the_text_on_every_machine_is_company() -> None:
    run = in_company(blocks=4, answer={("f1", False): "A", ("f1", True): "B", ("f2", True): "B"})
    assert certainties(run) == {"company": "found"}


def test_one_answer_of_a_machine_that_gave_no_other_tells_nothing() -> None:
    pool = [told("A", name) for name in ("f1", "f2") * 16]
    run = built_run({"P": {ALONE: [told("A", "f1")] * 10, IN_COMPANY: [*pool[:-1], told("B", "f3")]}})
    assert certainties(run) == {}
    assert "company" not in reasons(run)


def test_answers_of_which_some_tell_no_machine_leave_company_standing() -> None:
    run = in_company(blocks=4, answer=BY_MACHINE)

    def without(one: Attempt) -> Attempt:
        answer = one.outcome
        assert isinstance(answer, Completion)
        return replace(one, outcome=replace(answer, fingerprint=None)) if one.order == 20 else one

    assert certainties(replace(run, attempts=tuple(map(without, run.attempts))))["company"] == "found"


# Ways of asking


@pytest.mark.parametrize(("way", "flag"), [(STREAMED, "--stream on or off"), (WITH_LOGPROBS, "without logprobs")])
def test_a_way_of_asking_that_changes_the_answer_is_the_observer(way: Condition, flag: str) -> None:
    run = built_run({"P": {ALONE: ["A B"] * 8, way: ["AB"] * 8}})
    found = causes(run)
    assert {name: cause.certainty for name, cause in found.items()} == {"observer": "found"}
    assert f"alone: one text in all 8; {way.name}: always another in 8" in found["observer"].evidence
    assert flag in found["observer"].remedy
    assert analysis(run).verdict is Verdict.AGREED


def test_streamed_answers_that_vary_as_whole_ones_do_are_no_observer_effect() -> None:
    texts = [*"ABAABABAAB"]
    assert "observer" not in certainties(built_run({"P": {ALONE: texts, STREAMED: texts}}))


def test_whole_answers_that_vary_are_no_base_for_an_observer_effect() -> None:
    assert "observer" not in certainties(built_run({"P": {ALONE: [*"ABAABAABBA"], STREAMED: ["C"] * 10}}))


def test_what_was_not_asked_both_ways_is_said() -> None:
    assert "--stream both" in reasons(built_run({"P": {ALONE: ["A"] * 4}}))["observer"]
    streamed = reasons(built_run({"P": {ALONE: ["A"] * 4, STREAMED: ["A"] * 4}}))["observer"]
    assert ("--logprobs both" in streamed, "--stream" in streamed) == (True, False)
    assert "observer" not in reasons(built_run({"P": {ALONE: ["A"] * 4, WITH_LOGPROBS: ["A"] * 4}}))


# As many prompts as are named


def test_prompts_that_chance_could_make_differ_are_counted_apart_from_those_that_are_named() -> None:
    observed: dict[str, Observed] = {f"P{number}": {COLD: ["A"] * 6, WARM: ["B"] * 6} for number in range(3)}
    observed |= {"P3": {COLD: ["A"] * 2, WARM: ["B"] * 2}, "P4": {COLD: ["A"] * 6, WARM: ["A"] * 6}}
    found = causes(built_run(observed))["cache-state"]
    assert found.prompts == ("P0", "P1", "P2")
    assert "in 4 of 5 prompts (in 3 of them beyond chance)" in found.evidence
