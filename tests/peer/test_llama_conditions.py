"""Conditions on a real endpoint that somebody else wrote: its cache, its streams, and the company that it counts."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import test_llama_server
from test_llama_server import probe

pytestmark = pytest.mark.peer
llama = test_llama_server.server

PROMPTS = ("Write a haiku about a stale cache line.", "Describe a busy market in the morning.")


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the store that keeps the run of `cold_and_warm`."""
    return tmp_path_factory.mktemp("conditions")


@pytest.fixture(scope="module")
def cold_and_warm(llama: str, stored: Path) -> dict[str, Any]:
    """Two prompts, twice cold and twice warm, with logprobs."""
    prompts = [word for text in PROMPTS for word in ("--prompt", text)]
    arguments = ("--company", "1", "-n", "2", "--max-tokens", "8", "--cache", "both", "--logprobs", "on")
    return probe(llama, stored, *prompts, *arguments)


def by_cache(prompt: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    conditions = {condition["cache"]: condition for condition in prompt["conditions"]}
    return conditions["cold"], conditions["warm"]


def test_its_own_count_shows_that_cold_was_cold_and_warm_was_warm(cold_and_warm: dict[str, Any]) -> None:
    assert cold_and_warm["run"]["cold_by"] is not None
    for prompt in cold_and_warm["prompts"]:
        cold, warm = by_cache(prompt)
        assert [cold["completions"], warm["completions"]] == [2, 2]
        assert (cold["cached_tokens"]["max"], cold["cached_tokens"]["n"]) == (0, 2)
        assert warm["cached_tokens"]["min"] > 0


def test_one_text_over_other_logprobs_is_told_and_no_cause_is_made_of_it(
    cold_and_warm: dict[str, Any], stored: Path
) -> None:
    """Whether cold and warm really compute other bits is up to the machine, so it is looked for first."""
    deeper = [prompt for prompt in cold_and_warm["prompts"] if differs_by_logprobs_alone(prompt)]
    if not deeper:
        pytest.skip("on this machine no prompt has one text and other logprobs between cold and warm")
    for prompt in deeper:
        assert prompt["verdict"] == "agreed"
        assert (prompt["distinct"]["text"], prompt["distinct"]["breaks_first"]) == (1, "logprobs")
        assert prompt["distinct"]["logprobs"] >= 2
    blamed = {name for cause in cold_and_warm["causes"] if cause["cause"] == "cache-state" for name in cause["prompts"]}
    assert not blamed & {prompt["id"] for prompt in deeper}
    command = [sys.executable, "-m", "temp0", "show", "last", "--store", str(stored / "runs.db")]
    shown = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60).stdout
    first = deeper[0]["first_difference"]["logprobs"]
    assert f"logprobs differ from token {first} on" in " ".join(shown.split())


def differs_by_logprobs_alone(prompt: Mapping[str, Any]) -> bool:
    (pair,) = prompt["comparisons"]
    return pair["first_difference"]["text"] is None and pair["first_difference"]["logprobs"] is not None


@pytest.fixture(scope="module")
def streamed(llama: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """One prompt cold, whole and streamed, alone and in company of four."""
    arguments = ("-n", "4", "--alone", "1", "--company", "1,4", "--max-tokens", "12", "--cache", "cold")
    return probe(llama, tmp_path_factory.mktemp("streamed"), "--prompt", PROMPTS[0], *arguments, "--stream", "both")


def by_company(prompt: Mapping[str, Any], asked: int) -> list[dict[str, Any]]:
    return [condition for condition in prompt["conditions"] if condition["company"]["asked"] == asked]


def test_streamed_and_whole_answers_have_the_same_text(streamed: dict[str, Any]) -> None:
    (prompt,) = streamed["prompts"]
    alone = by_company(prompt, 1)
    assert sorted((one["stream"], one["completions"]) for one in alone) == [(False, 1), (True, 1)]
    names = {one["name"] for one in alone}
    texts = [one["text"] for one in prompt["texts"] if names & {each["name"] for each in one["conditions"]}]
    assert len(texts) == 1
    assert texts[0]


def test_company_is_reached_by_its_own_count_whole_and_streamed(streamed: dict[str, Any]) -> None:
    (prompt,) = streamed["prompts"]
    assert [one["company"]["reached"] for one in by_company(prompt, 1)] == [1.0, 1.0]
    together = by_company(prompt, 4)
    assert [one["completions"] for one in together] == [4, 4]
    for condition in prompt["conditions"]:
        assert condition["company"]["measured_by"] == "server"
    assert all(2 < one["company"]["reached"] <= 4 for one in together)
