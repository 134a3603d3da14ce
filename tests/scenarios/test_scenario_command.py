"""Scenarios asked with the real command, in a process of its own: what it prints and how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from forked import forked
from stage import Stage

from temp0.cli.main import main


def probe(url: str, folder: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    """Give the exit code of `temp0 probe --json` and the one document that it printed."""
    call = forked(main, "probe", url, "--model", "m", "--json", *arguments, "--store", str(folder / "runs.db"))
    document: dict[str, Any] = json.loads(call.stdout, parse_constant=lambda name: 1 / 0)
    assert document["exit_code"] == call.returncode, call.stderr
    return call.returncode, document


def causes(document: dict[str, Any]) -> dict[str, str]:
    return {cause["cause"]: cause["certainty"] for cause in document["causes"]}


def test_company_is_named_with_what_to_do(stage: Stage, tmp_path: Path) -> None:
    played = stage.play("company.Batching")
    code, document = probe(
        played.url, tmp_path, "--prompt", "Ask the first.", "--prompt", "Ask the second.",
        "-n", "12", "--alone", "8", "--company", "1,4", "--max-tokens", "64",
    )  # fmt: skip
    assert (code, document["verdict"], causes(document)) == (1, "diverged", {"company": "found"})
    (cause,) = document["causes"]
    assert cause["prompts"] == ["p1", "p2"]
    assert "temp0 probe" in cause["remedy"]  # the command that measures again


def test_replayed_answers_decide_nothing(stage: Stage, tmp_path: Path) -> None:
    played = stage.play("cache.Replaying", header="x-cache")
    code, document = probe(played.url, tmp_path, "--prompt", "Ask.", "-n", "20", "--company", "1")
    (condition,) = document["prompts"][0]["conditions"]
    assert (code, document["verdict"]) == (4, "undecided")
    assert (condition["attempts"], condition["completions"]) == (20, 1)
    assert sum(tally["count"] for tally in condition["excluded"]) == 19
    assert "response-cache" in causes(document)


def test_a_users_word_and_a_lone_surrogate_go_through_every_door(stage: Stage, tmp_path: Path) -> None:
    played = stage.play("shape.Escaped", texts=["?", "\\udcb2", "\\udcb2", "?", "?", "\\udcb2"])
    code, document = probe(played.url, tmp_path, "--prompt", "Ask.", "-n", "12", "--company", "1", "--exclusive")
    assert (code, causes(document), document["run"]["exclusive"]) == (1, {"run-to-run": "found"}, True)
    assert {text["text"] for text in document["prompts"][0]["texts"]} == {"\udcb2", "?"}


def test_a_cold_cache_that_nobody_can_make_is_refused(stage: Stage, tmp_path: Path) -> None:
    played = stage.play("cache.FirstDiffers")
    code, document = probe(
        played.url, tmp_path, "--prompt", "Ask.", "-n", "4", "--company", "1", "--cache", "cold"
    )  # fmt: skip
    assert code == 2
    assert "cache" in document["message"]
