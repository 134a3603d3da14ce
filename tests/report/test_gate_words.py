"""A gate in words, for people, programs and CI: four outcomes, told apart everywhere."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from analysis_samples import HOSTILE
from documented_fields import documented, is_of, leaves
from junit_reader import read_strictly

from temp0.core.gate import Change, Checked, Gate, Outcome
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


def one(
    outcome: Outcome, *, words: str = "as in the baseline", prompt: str = "p1", why: str = "", change: Change = "same"
) -> Checked:
    measured = outcome != "not-measured"
    return Checked(
        endpoint="prod",
        prompt=prompt,
        outcome=outcome,
        change=change,
        unlike=2 if outcome == "fail" else 0,
        blocks=15 if measured else 0,
        low=0.0 if measured else None,
        high=0.181 if measured else None,
        words=words,
        why=why,
    )


PARTED = 'from character 3 on: 4 "a", 1 "b"'
GATE = Gate(
    checked=(one("pass"), one("fail", why=PARTED), one("undecided"), one("not-measured")), notes=("it was renamed",)
)


def test_the_sentence_counts_each_outcome():
    assert sentence(GATE) == "Of 4 prompts: 1 passed, 1 failed, 1 undecided, 1 not measured."
    assert sentence(Gate(checked=())) == "Nothing was checked."


def test_the_screen_names_each_outcome_without_colour():
    told = rendered(gate_screen(GATE, cannot=("prompt p1 cannot pass",)), width=100)
    assert all(outcome in told for outcome in ("pass", "fail", "undecided", "not-measured"))
    assert "2 of 15" in told
    assert "note: prompt p1 cannot pass" in told
    assert "note: it was renamed" in told


def test_where_texts_part_is_said_everywhere():
    for told in (
        rendered(gate_screen(GATE), width=200),
        gate_card(GATE),
        gate_junit(GATE).replace("&quot;", '"'),
        github_annotations(GATE, path="temp0.toml"),
        gitlab_report(GATE, path="temp0.toml").replace('\\"', '"'),
    ):
        assert PARTED in told


@pytest.mark.parametrize(
    ("outcome", "change", "kind"),
    [
        ("fail", "text-changed", "text-changed"),
        ("fail", "new", "varies"),
        ("undecided", "same", "undecided"),
        ("not-measured", "unknown", "not-measured"),
    ],
)
def test_machines_are_told_what_is_wrong_and_never_that_something_is_as_before(outcome, change, kind):
    gate = Gate(checked=(one(outcome, change=change),))
    assert f'type="{kind}"' in gate_junit(gate)
    assert json.loads(gitlab_report(gate, path="x"))[0]["check_name"] == f"temp0/{kind}"


def test_junit_names_the_runs_by_which_the_gate_can_be_looked_at_again():
    suite = read_strictly(gate_junit(GATE, runs=(("prod", "abc"),)))
    assert [(one.get("name"), one.get("value")) for one in suite.iter("property")] == [("run of prod", "abc")]


def test_junit_has_a_tag_for_each_outcome():
    suite = read_strictly(gate_junit(GATE))
    tags = [[child.tag for child in case] for case in suite.findall("testcase")]
    assert tags == [[], ["failure"], ["skipped"], ["error"]]
    assert (suite.get("failures"), suite.get("skipped"), suite.get("errors")) == ("1", "1", "1")


def test_github_gets_errors_warnings_and_notices_and_nothing_for_what_passed():
    lines = github_annotations(GATE, path="temp0.toml", cannot=("prompt p1 cannot pass",)).splitlines()
    assert [line.split(" ", 1)[0] for line in lines] == ["::error", "::warning", "::error", "::warning", "::notice"]


def test_what_would_end_a_property_or_a_line_of_an_annotation_is_escaped():
    (line,) = github_annotations(Gate(checked=(one("fail", words="5 %\n"),)), path="a,b:c%/temp0.toml").splitlines()
    assert line.startswith("::error file=a%2Cb%3Ac%25/temp0.toml,title=temp0 check::prod, prompt p1: failed: 5 %25")


def test_gitlab_gets_a_finding_with_a_fingerprint_that_stays():
    findings = json.loads(gitlab_report(GATE, path="temp0.toml"))
    assert [finding["severity"] for finding in findings] == ["critical", "minor", "blocker"]
    assert gitlab_report(GATE, path="temp0.toml") == gitlab_report(GATE, path="temp0.toml")
    assert all(finding["location"]["path"] == "temp0.toml" for finding in findings)
    assert len({finding["fingerprint"] for finding in findings}) == len(findings)


def test_a_fingerprint_tells_names_with_slashes_apart():
    prompts = [
        replace(one("fail"), endpoint=endpoint, prompt=prompt) for endpoint, prompt in (("a/b", "c"), ("a", "b/c"))
    ]
    findings = json.loads(gitlab_report(Gate(checked=tuple(prompts)), path="x"))
    assert findings[0]["fingerprint"] != findings[1]["fingerprint"]


def test_a_summary_of_very_many_prompts_lists_those_that_did_not_pass_and_stays_within_what_github_takes():
    told = gate_card(Gate(checked=(*[one("pass")] * 5000, one("fail", prompt="the odd one"))))
    assert told.count("\n| `prod`") == 1
    assert "the odd one" in told
    assert "5,000 more prompts not listed here" in told
    worst = gate_card(Gate(checked=(one("fail", words="x" * 300, prompt="y" * 300, why="z" * 300),) * 5000))
    assert len(worst.encode()) < 2**20


@pytest.mark.parametrize("text", [*HOSTILE, "%0A::error::x", "a|b"])
def test_no_words_of_an_endpoint_break_out(text):
    gate = Gate(checked=(one("not-measured", words=text, prompt=text, why=text),))
    assert len(github_annotations(gate, path="temp0.toml").splitlines()) == 1
    assert read_strictly(gate_junit(gate, runs=((text, text),))) is not None
    table = [line for line in gate_card(gate).splitlines() if line.startswith("|")]
    assert len(table) == 3


def test_every_field_is_documented():
    fields = documented("A gate")
    document = json.loads(gate_json(GATE, exit_code=1, cannot=("x",), runs=(("prod", "aaaa"),)))
    assert {path for path, _ in leaves(document, fields)} == set(fields)
    assert [path for path, value in leaves(document, fields) if not is_of(value, fields[path])] == []
