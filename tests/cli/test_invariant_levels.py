"""The built-in engine over company, cache and stream, asked by the real command and judged at every level."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from command import document, in_store, temp0

pytestmark = pytest.mark.model

LEVELS = ("text", "tokens", "logprobs", "top_logprobs")
# 97 tokens in the built-in model's template, so that a single one is left to compute where six pages are cached.
PROMPT = (
    "Write a poem with these words: poem, garden, story, autumn, garden, garden, autumn, bread, night, market, river, "
    "mountain, market, music, child, river, mountain, letter, market, teacher, bread, autumn, window, climate, "
    "lighthouse, engine, teacher, river, winter, river and"
)
PLAN = ("--company", "1,3", "--cache", "both", "--logprobs", "on", "--alone", "2")


def judged(arithmetic: str, folder: Path, *plan: str) -> Mapping[str, Any]:
    """The analysis of a plan of which every attempt was answered."""
    call = temp0(
        "probe", "--arithmetic", arithmetic, "--threads", "1", "--prompt", PROMPT, "--max-tokens", "12", *plan,
        "--json", *in_store(folder),
    )  # fmt: skip
    found = document(call)
    unanswered = [one["name"] for one in found["prompts"][0]["conditions"] if one["completions"] < one["attempts"]]
    assert (found["run"]["finished"], unanswered) == (True, []), call.stderr
    return found


@pytest.fixture(scope="module")
def invariant(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    return judged("invariant", tmp_path_factory.mktemp("invariant"), *PLAN, "--stream", "both", "-n", "6")


def test_invariant_arithmetic_agrees_at_every_level_over_company_cache_and_stream(
    invariant: Mapping[str, Any],
) -> None:
    assert (invariant["verdict"], invariant["exit_code"]) == ("agreed", 0)
    assert [cause["cause"] for cause in invariant["causes"]] == ["short-window"]
    (prompt,) = invariant["prompts"]
    assert prompt["distinct"]["breaks_first"] is None
    for one in (prompt, *prompt["conditions"]):
        assert [one["distinct"][level] for level in LEVELS] == [1, 1, 1, 1]
    for one in (prompt, *prompt["conditions"], *prompt["comparisons"]):
        assert one["first_difference"] == dict.fromkeys(LEVELS)


def test_the_conditions_that_it_agrees_over_were_really_met(invariant: Mapping[str, Any]) -> None:
    (prompt,) = invariant["prompts"]
    asked = {(one["company"]["asked"], one["cache"], one["stream"]) for one in prompt["conditions"]}
    assert asked == {(k, cache, stream) for k in (1, 3) for cache in ("cold", "warm") for stream in (False, True)}
    for condition in prompt["conditions"]:
        cached, company = condition["cached_tokens"], condition["company"]
        assert (cached["max"] == 0) if condition["cache"] == "cold" else (cached["min"] > 0)
        assert company["measured_by"] == "server"
        assert (company["reached"] == 1) if company["asked"] == 1 else (company["reached"] > 1.5)


def test_stock_arithmetic_breaks_a_level_in_less_of_the_same_plan(tmp_path: Path) -> None:
    """The control: where it does not trip, that invariant arithmetic agrees proves less, and this says so."""
    (prompt,) = judged("stock", tmp_path, *PLAN, "-n", "3")["prompts"]
    distinct = prompt["distinct"]
    if distinct["breaks_first"] is None:
        pytest.skip("the control did not trip: stock arithmetic on this machine computes this plan in one way")
    assert distinct["logprobs"] > 1
    assert prompt["first_difference"][distinct["breaks_first"]] is not None
    assert prompt["verdict"] == ("agreed" if distinct["text"] == 1 else "diverged")
