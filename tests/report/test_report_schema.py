"""The JSON document: its fields are exactly those of docs/format.md, and every text survives."""

from __future__ import annotations

import json
from dataclasses import replace

import analysis_samples as samples
import pytest
import reason_samples as reasons
from documented_fields import documented, is_of, leaves

from temp0.core.analysis import Analysis, Company, Tally
from temp0.core.cost import NOTHING, Cost, Tokens
from temp0.report import document, failure_text, json_text

DOCUMENTED = documented("Fields")
FAILURE = documented("A verb that failed")


def every_sample() -> list[Analysis]:
    return [*(make() for make in reasons.ALL), with_excluded(samples.agreed()), imported(samples.agreed())]


def imported(analysis: Analysis) -> Analysis:
    unknown = Company(asked=0, reached=None, measured_by=None)
    first, *others = analysis.prompts
    conditions = tuple(replace(one, company=unknown) for one in first.conditions)
    return replace(
        analysis, untold=("company",), cost=NOTHING, prompts=(replace(first, conditions=conditions), *others)
    )


def with_excluded(analysis: Analysis) -> Analysis:
    tally = Tally(reason="response-cache", count=2, message="header x-cache: HIT")
    first, *others = analysis.prompts
    conditions = tuple(replace(one, excluded=(tally,)) for one in first.conditions)
    return replace(analysis, prompts=(replace(first, conditions=conditions), *others))


def test_every_field_of_a_document_is_documented_with_its_type() -> None:
    for analysis in every_sample():
        for path, value in leaves(document(analysis), DOCUMENTED):
            assert path in DOCUMENTED, path
            assert is_of(value, DOCUMENTED[path]), (path, value, DOCUMENTED[path])


def test_every_documented_field_occurs() -> None:
    seen = {path for analysis in every_sample() for path, _ in leaves(document(analysis), DOCUMENTED)}

    assert set(DOCUMENTED) - seen == set()


def test_null_occurs_wherever_it_is_documented() -> None:
    nulls = {
        path for analysis in every_sample() for path, value in leaves(document(analysis), DOCUMENTED) if value is None
    }

    assert {path for path, kind in DOCUMENTED.items() if kind.endswith(" or null")} - nulls == set()


def test_a_failure_has_exactly_the_documented_fields() -> None:
    fields = json.loads(failure_text(2, "no such flag \udcb2 é"))

    assert list(fields) == list(FAILURE)
    assert all(is_of(fields[name], kind) for name, kind in FAILURE.items())
    assert fields["exit_code"] == 2
    assert fields["message"] == "no such flag \udcb2 é"


@pytest.mark.parametrize("make", reasons.ALL)
def test_the_text_is_one_line_of_ascii_that_reads_back_equal(make: samples.Maker) -> None:
    analysis = make()
    text = json_text(analysis)

    assert text.isascii()
    assert "\n" not in text
    assert json.loads(text) == document(analysis)


def test_a_lone_surrogate_survives_as_its_escape() -> None:
    text = json_text(samples.hostile())

    assert "lone \\udcb2 and \\ud83d surrogates" in text
    texts = json.loads(text)["prompts"][0]["texts"]
    assert "lone \udcb2 and \ud83d surrogates" in [one["text"] for one in texts]


def test_a_number_that_is_not_finite_is_refused() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_text(samples.with_margins(samples.ended(), float("nan")))


def test_a_branch_begins_at_its_fork() -> None:
    for analysis in every_sample():
        for prompt in document(analysis)["prompts"]:
            texts = {one["sha256"]: one["text"] for one in prompt["texts"]}
            for fork in prompt["forks"]:
                for branch in fork["branches"]:
                    at = fork["char"], fork["char"] + len(branch["text"])
                    assert {texts[sha256][slice(*at)] for sha256 in branch["sha256"]} == {branch["text"]}


def test_a_fork_holds_what_each_branch_saw_in_the_order_of_the_branches() -> None:
    (fork,) = document(reasons.observed())["prompts"][0]["forks"]

    assert [one["chosen"] for one in fork["margin"]["distributions"]] == [" forgotten", " lost"]
    assert fork["margin"]["shift"] == 0.0127
    assert fork["margin"]["distributions"][1]["choices"][0] == {"text": " lost", "logprob": -0.6924}


def test_the_level_that_breaks_first_stands_beside_the_counts() -> None:
    fields = document(reasons.cold_and_warm())["prompts"][0]

    assert fields["distinct"] == {
        "text": 1,
        "tokens": 1,
        "logprobs": 2,
        "top_logprobs": 2,
        "folded": 1,
        "reasoning": None,
        "tool_calls": None,
        "tool_calls_folded": None,
        "breaks_first": "logprobs",
    }
    assert fields["first_difference"] == {"text": None, "tokens": None, "logprobs": 0, "top_logprobs": 0}


def test_a_sum_of_tokens_says_of_how_many_requests_it_is() -> None:
    cost = Cost(span=(1.0, 3.5), prompt=Tokens(sum=120, n=3))
    run = document(replace(samples.agreed(), cost=cost))["run"]

    assert run["duration_s"] == 2.5
    assert run["prompt_tokens"] == {"sum": 120, "requests": 3}
    assert run["answer_tokens"] == {"sum": None, "requests": 0}


def test_what_the_user_said_and_the_server_did_is_part_of_the_run() -> None:
    assert document(reasons.tied())["run"]["exclusive"] is True
    assert document(reasons.cold_and_warm())["run"]["cold_by"] == "POST /reset_prefix_cache"


def test_the_exit_code_of_a_run_without_a_completion_is_three() -> None:
    fields = document(samples.nothing())

    assert (fields["verdict"], fields["exit_code"]) == ("undecided", 3)
