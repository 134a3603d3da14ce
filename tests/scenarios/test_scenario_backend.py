"""More than one machine behind an endpoint: told by a fingerprint, a model or a header, or only seemingly."""

from __future__ import annotations

from typing import Any

import pytest
from conclusion import cause, found, named, probed, untested
from plays.backend import shuffled
from stage import Stage

from temp0.core.analysis import Analysis, Verdict

TEXT, OTHER = "The first machine answers.", "The second machine answers."


def replicas(stage: Stage, *counted: tuple[tuple[object, str], int], told_in: str = "fingerprint") -> Analysis:
    played = stage.play("backend.Replicas", pattern=shuffled(*counted), told_in=told_in)
    return probed(played.url, prompts="Ask the first.", n=sum(count for _, count in counted), company=1)


@pytest.mark.parametrize(
    "told_in",
    ["fingerprint", "model", "x-served-by", "x-backend"],
    ids=["fingerprint", "model", "served-by", "backend"],
)
def test_texts_that_line_up_with_a_replica_are_a_mix_of_backends(stage: Stage, told_in: str) -> None:
    analysis = replicas(stage, (("f1", TEXT), 12), (("f2", OTHER), 8), told_in=told_in)
    assert (analysis.verdict, analysis.exit_code) == (Verdict.DIVERGED, 1)
    assert {text.text: text.count for text in analysis.prompts[0].texts} == {TEXT: 12, OTHER: 8}
    assert named(analysis) == {"backend-mix": "found"}
    assert cause(analysis, "backend-mix").prompts == ("p1",)
    assert told_in in cause(analysis, "backend-mix").evidence


def test_variation_that_is_left_within_one_replica_is_said(stage: Stage) -> None:
    clean = replicas(stage, (("f1", TEXT), 12), (("f2", OTHER), 8))
    mixed = replicas(stage, (("f1", TEXT), 12), (("f2", OTHER), 7), (("f2", "A third text."), 3))
    assert named(mixed)["backend-mix"] == "found"
    assert cause(mixed, "backend-mix").evidence != cause(clean, "backend-mix").evidence


def test_the_idler_of_two_machines_that_answers_alone_is_a_mix_of_backends_and_no_company(stage: Stage) -> None:
    played = stage.play("backend.LeastLoaded")
    analysis = probed(played.url, prompts=["Ask the first.", "Ask the second."], n=20, alone=8, company=(1, 4))
    assert analysis.verdict is Verdict.DIVERGED
    assert named(analysis) == {"backend-mix": "found"}
    assert "(company 4) fp_0: one text" in cause(analysis, "backend-mix").evidence
    assert "company" in untested(analysis)


# Nearly a mix of backends, and not


def test_machines_that_both_answer_otherwise_in_company_are_company(stage: Stage) -> None:
    played = stage.play("backend.LeastLoaded", batches=True)
    analysis = probed(played.url, prompts=["Ask the first.", "Ask the second."], n=20, alone=8, company=(1, 4))
    assert named(analysis) == {"company": "found"}


def test_a_fingerprint_that_changed_once_while_texts_drifted_is_the_order(stage: Stage) -> None:
    played = stage.play("backend.DriftPastRelease", at=45, length=90)
    prompts = ["Ask the first.", "Ask the second.", "Ask the third."]
    analysis = probed(played.url, prompts=prompts, n=30, company=1)
    assert cause(analysis, "order").certainty == "found"
    assert "backend-mix" not in named(analysis)
    assert "backend-mix" in untested(analysis)


@pytest.mark.parametrize("value", [None, "absent"], ids=["null", "missing"])
def test_without_a_fingerprint_backends_cannot_be_told_apart(stage: Stage, value: Any) -> None:
    analysis = replicas(stage, ((value, TEXT), 12), ((value, OTHER), 8))
    assert analysis.verdict is Verdict.DIVERGED
    assert "backend-mix" not in named(analysis)
    assert "backend-mix" in untested(analysis)
    assert named(analysis)["unseen-company"] == "found"


def test_one_fingerprint_over_varying_texts_is_no_evidence_of_backends(stage: Stage) -> None:
    analysis = replicas(stage, (("fp_ollama", TEXT), 12), (("fp_ollama", OTHER), 8))
    assert analysis.verdict is Verdict.DIVERGED
    assert "backend-mix" not in named(analysis)
    assert {text.count for text in analysis.prompts[0].texts} == {12, 8}


@pytest.mark.parametrize("value", [None, "", "absent"])
def test_null_empty_and_missing_are_no_backends(stage: Stage, value: Any) -> None:
    others = [other for other in (None, "", "absent") if other != value]
    analysis = replicas(stage, ((value, TEXT), 10), ((others[0], OTHER), 5), ((others[1], OTHER), 5))
    assert analysis.verdict is Verdict.DIVERGED
    assert "backend-mix" not in found(analysis)


def test_texts_that_mix_within_each_replica_are_not_of_it(stage: Stage) -> None:
    analysis = replicas(stage, (("f1", TEXT), 6), (("f1", OTHER), 4), (("f2", TEXT), 6), (("f2", OTHER), 4))
    assert analysis.verdict is Verdict.DIVERGED
    assert "backend-mix" not in named(analysis)


def test_fingerprints_seen_once_each_are_no_backends(stage: Stage) -> None:
    played = stage.play("backend.NewFingerprints")
    analysis = probed(played.url, prompts="Ask the first.", n=20, company=1)
    assert analysis.verdict is Verdict.DIVERGED
    assert "backend-mix" not in named(analysis)


def test_replicas_that_all_agree_are_no_cause(stage: Stage) -> None:
    analysis = replicas(stage, (("f1", TEXT), 6), (("f2", TEXT), 6))
    assert (analysis.verdict, named(analysis)) == (Verdict.AGREED, {})
