"""Answers that depend on the hour or on what was asked before, and those that vary with no reason to be seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from conclusion import cause, found, named, probed, untested
from stage import Stage

from temp0.core.analysis import Verdict

PROMPTS = ["Ask the first.", "Ask the second.", "Ask the third."]


# The order of asking


def test_a_text_that_changes_once_and_stays_is_of_the_order(stage: Stage) -> None:
    played = stage.play("hour.ChangePoint", at=28)
    analysis = probed(played.url, prompts=PROMPTS, n=20, company=1)
    assert (analysis.verdict, analysis.exit_code) == (Verdict.DIVERGED, 1)
    assert [prompt.distinct.text for prompt in analysis.prompts] == [2, 2, 2]
    assert cause(analysis, "order").certainty == "found"
    assert cause(analysis, "order").prompts == ("p1", "p2", "p3")
    assert found(analysis) == {"order"}


def test_a_text_that_drifts_is_of_the_order(stage: Stage) -> None:
    played = stage.play("hour.Drift", length=90)
    analysis = probed(played.url, prompts=PROMPTS, n=30, company=1)
    assert cause(analysis, "order").certainty == "found"
    assert not {"backend-mix", "cache-state", "sampling", "run-to-run"} & found(analysis)


def test_a_text_that_depends_on_the_predecessor_is_of_the_order(stage: Stage) -> None:
    played = stage.play("hour.Predecessor")
    analysis = probed(played.url, prompts=PROMPTS, n=24, company=1)
    assert cause(analysis, "order").certainty == "found"
    assert not {"backend-mix", "cache-state", "sampling", "run-to-run"} & found(analysis)


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_texts_that_vary_by_chance_are_not_of_the_order(stage: Stage, rate: float) -> None:
    played = stage.play("hour.Chance", rate=rate)
    analysis = probed(played.url, prompts=PROMPTS, n=20, company=1)
    assert analysis.verdict is Verdict.DIVERGED
    assert named(analysis) == {"unseen-company": "found"}


def test_two_texts_in_strict_turn_are_of_nothing_that_was_varied(stage: Stage) -> None:
    played = stage.play("hour.Alternating")
    analysis = probed(played.url, prompts=PROMPTS, n=16, company=1)
    assert analysis.verdict is Verdict.DIVERGED
    assert found(analysis) in ({"unseen-company"}, {"order"})


def test_texts_that_never_vary_have_no_cause(stage: Stage) -> None:
    played = stage.play("hour.Chance", rate=0.0)
    analysis = probed(played.url, prompts=PROMPTS, n=10, company=1)
    assert (analysis.verdict, analysis.exit_code, named(analysis)) == (Verdict.AGREED, 0, {})


# Company that nobody can see, or none


def test_the_public_experiment_is_unseen_company(stage: Stage) -> None:
    played = stage.play("hour.Hosted")
    analysis = probed(played.url, company=1)
    assert (analysis.verdict, analysis.exit_code, analysis.requests) == (Verdict.DIVERGED, 1, 120)
    assert [prompt.distinct.text for prompt in analysis.prompts] == [1, 1, 2, 1, 12]
    assert named(analysis) == {"unseen-company": "found"}
    assert cause(analysis, "unseen-company").prompts == ("C", "E")
    tree = analysis.prompts[4].tree
    assert tree is not None
    assert [fork.char for fork in tree.forks()] == [227, 323]
    assert "company" in untested(analysis)


@pytest.mark.parametrize(
    ("options", "exclusive", "expected"),
    [
        ({"metrics": "vllm", "delay_s": 0.12}, False, "run-to-run"),
        ({"metrics": "llamacpp", "delay_s": 0.12}, False, "run-to-run"),
        ({"metrics": "vllm", "delay_s": 0.12, "strangers": 4}, False, "unseen-company"),
        ({}, False, "unseen-company"),
        ({}, True, "run-to-run"),
    ],
    ids=["one running", "one running, llama.cpp", "strangers", "nobody tells", "exclusive"],
)
def test_variation_alone_is_of_the_run_only_where_strangers_are_ruled_out(
    stage: Stage, options: Mapping[str, Any], exclusive: bool, expected: str
) -> None:
    played = stage.play("hour.Chance", rate=0.4, **options)
    analysis = probed(played.url, prompts=PROMPTS[:1], n=10, company=1, exclusive=exclusive)
    assert analysis.verdict is Verdict.DIVERGED
    assert named(analysis) == {expected: "found"}
    assert cause(analysis, expected).prompts == ("p1",)


def test_an_agreed_endpoint_has_neither(stage: Stage) -> None:
    played = stage.play("hour.Chance", rate=0.0, metrics="vllm", delay_s=0.12, strangers=4)
    analysis = probed(played.url, prompts=PROMPTS[:1], n=6, company=1)
    assert (analysis.verdict, named(analysis)) == (Verdict.AGREED, {})
