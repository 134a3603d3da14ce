"""A gate in words, for people, programs and CI: four outcomes, told apart everywhere."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest
from analysis_samples import HOSTILE
from documented_fields import documented, is_of, leaves

from temp0.core.gate import Checked, Gate, Outcome
from temp0.report.gate import (
    gate_card,
    gate_json,
    gate_junit,
    gate_screen,
    github_annotations,
    gitlab_report,
    sentence,
)
from temp0.report.screen import rendered


def one(outcome: Outcome, *, words: str = "as in the baseline", prompt: str = "p1") -> Checked:
    measured = outcome != "not-measured"
    return Checked(
        endpoint="prod",
        prompt=prompt,
        outcome=outcome,
        change="same",
        unlike=2 if outcome == "fail" else 0,
        blocks=15 if measured else 0,
        low=0.0 if measured else None,
        high=0.181 if measured else None,
        words=words,
    )


GATE = Gate(checked=(one("pass"), one("fail"), one("undecided"), one("not-measured")))


def test_the_sentence_counts_each_outcome():
    assert sentence(GATE) == "Of 4 prompts: 1 passed, 1 failed, 1 undecided, 1 not measured."
    assert sentence(Gate(checked=())) == "Nothing was checked."


def test_the_screen_names_each_outcome_without_colour():
    told = rendered(gate_screen(GATE, cannot=("prompt p1 cannot pass",)), width=100)
    assert all(outcome in told for outcome in ("pass", "fail", "undecided", "not-measured"))
    assert "2 of 15" in told
    assert "note: prompt p1 cannot pass" in told


def test_junit_has_a_tag_for_each_outcome():
    suite = ElementTree.fromstring(gate_junit(GATE)).find("testsuite")
    assert suite is not None
    tags = [[child.tag for child in case] for case in suite.findall("testcase")]
    assert tags == [[], ["failure"], ["skipped"], ["error"]]
    assert (suite.get("failures"), suite.get("skipped"), suite.get("errors")) == ("1", "1", "1")


def test_github_gets_errors_and_warnings_and_nothing_for_what_passed():
    lines = github_annotations(GATE).splitlines()
    assert [line.split(" ", 1)[0] for line in lines] == ["::error", "::warning", "::error"]


def test_gitlab_gets_a_finding_with_a_fingerprint_that_stays():
    findings = json.loads(gitlab_report(GATE, path="temp0.toml"))
    assert [finding["severity"] for finding in findings] == ["critical", "minor", "blocker"]
    assert gitlab_report(GATE, path="temp0.toml") == gitlab_report(GATE, path="temp0.toml")
    assert all(finding["location"]["path"] == "temp0.toml" for finding in findings)


@pytest.mark.parametrize("text", [*HOSTILE, "%0A::error::x", "a|b"])
def test_no_words_of_an_endpoint_break_out(text):
    gate = Gate(checked=(one("not-measured", words=text, prompt=text),))
    assert len(github_annotations(gate).splitlines()) == 1
    assert ElementTree.fromstring(gate_junit(gate)) is not None
    table = [line for line in gate_card(gate).splitlines() if line.startswith("|")]
    assert len(table) == 3


def test_every_field_is_documented():
    fields = documented("A gate")
    document = json.loads(gate_json(GATE, exit_code=1, cannot=("x",), runs=(("prod", "aaaa"),)))
    assert {path for path, _ in leaves(document, fields)} == set(fields)
    assert [path for path, value in leaves(document, fields) if not is_of(value, fields[path])] == []
