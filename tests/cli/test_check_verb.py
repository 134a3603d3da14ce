"""`temp0 check` as CI runs it: settings, a baseline in the folder, real servers that change their minds or die."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from command import Seen, chat, command, serving

SETTINGS = """
[check]
n = 4
company = [1, 2]
max_tokens = 8
prompts = ["Why?"]
"""


def gate(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command("check", "--store", "runs.db", *arguments),
        capture_output=True, text=True, cwd=folder, timeout=120, check=False,
    )  # fmt: skip


def checked(folder: Path, *arguments: str) -> dict[str, Any]:
    call = gate(folder, "--json", *arguments)
    document: dict[str, Any] = json.loads(call.stdout)
    assert document["exit_code"] == call.returncode, call.stderr
    return document


def settings(folder: Path, url: str, more: str = "") -> None:
    (folder / "temp0.toml").write_text(f'{SETTINGS}{more}\n[[check.endpoints]]\nname = "prod"\nurl = "{url}"\n')


class Speaker:
    """A server whose words can be changed while it runs."""

    def __init__(self) -> None:
        self.words = ["Because."]

    def __call__(self, seen: Seen):
        return chat(self.words[seen.place % len(self.words)])


@pytest.fixture
def speaker(tmp_path):
    speaker = Speaker()
    with serving(speaker, delay_s=0.2) as server:
        settings(tmp_path, server.url)
        assert gate(tmp_path, "--update").returncode == 0
        yield speaker


def test_an_endpoint_that_answers_as_before_passes_and_its_baseline_is_stable(tmp_path, speaker):
    before = (tmp_path / "temp0-baseline.json").read_bytes()
    found = checked(tmp_path)
    assert found["exit_code"] == 0
    assert {(one["outcome"], one["change"]) for one in found["checked"]} == {("pass", "same")}
    assert gate(tmp_path, "--update").returncode == 0
    assert (tmp_path / "temp0-baseline.json").read_bytes() == before


def test_an_endpoint_that_begins_to_vary_fails(tmp_path, speaker):
    speaker.words = ["Because.", "Just so."]
    found = checked(tmp_path)
    assert found["exit_code"] == 1
    assert {one["change"] for one in found["checked"]} == {"became-nondeterministic"}


def test_an_endpoint_whose_text_changed_fails_and_is_told_apart_from_one_that_varies(tmp_path, speaker):
    speaker.words = ["Another text."]
    found = checked(tmp_path)
    assert found["exit_code"] == 1
    assert {(one["outcome"], one["change"]) for one in found["checked"]} == {("fail", "text-changed")}


def test_an_endpoint_that_varies_no_more_passes_as_better(tmp_path, speaker):
    speaker.words = ["Because.", "Just so."]
    gate(tmp_path, "--update")
    speaker.words = ["Because."]
    found = checked(tmp_path)
    assert found["exit_code"] == 0
    assert {one["change"] for one in found["checked"]} == {"better"}


def test_an_endpoint_that_is_down_is_not_measured_and_never_green(tmp_path):
    settings(tmp_path, "http://127.0.0.1:9/v1")
    with (tmp_path / "temp0.toml").open("a") as file:
        file.write('model = "m"\n')
    found = checked(tmp_path)
    assert found["exit_code"] == 3
    assert {one["outcome"] for one in found["checked"]} == {"not-measured"}
    assert all("refused" in one["words"] for one in found["checked"])


def test_a_server_that_does_not_say_its_model_because_it_is_down_is_an_outage(tmp_path):
    settings(tmp_path, "http://127.0.0.1:9/v1")
    found = checked(tmp_path)
    assert found["exit_code"] == 3
    assert all("no server answers" in one["words"] for one in found["checked"])


@pytest.mark.parametrize(
    ("url", "more", "told"),
    [
        ("ftp://127.0.0.1/v1", "", "begins with 'ftp'"),
        ("http://127.0.0.1:9/v1", 'api = "smoke-signals"\nmodel = "m"', "smoke-signals"),
        ("fake:sped=1", "", "no setting 'sped'"),
        ("http://127.0.0.1:9/v1", 'model = "m"\nheaders = { X-Pass = "$NO_SUCH_VARIABLE" }', "NO_SUCH_VARIABLE"),
        ("http://127.0.0.1:9/v1", 'model = "m"\nextra = { api_key = "x" }', "may be a secret"),
    ],
)
def test_an_endpoint_that_cannot_be_right_is_refused_before_the_others_are_paid_for(tmp_path, url, more, told):
    with serving(Speaker()) as server:
        settings(tmp_path, server.url)
        with (tmp_path / "temp0.toml").open("a") as file:
            file.write(f'[[check.endpoints]]\nname = "wrong"\nurl = "{url}"\n{more}\n')
        call = gate(tmp_path)
        assert server.seen == []
    assert call.returncode == 2
    assert told in call.stderr


def test_headers_and_extra_fields_of_the_settings_are_sent_and_no_secret_is_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("TEAM_PASS", "open-sesame")
    with serving(Speaker(), delay_s=0.2) as server:
        settings(tmp_path, server.url)
        with (tmp_path / "temp0.toml").open("a") as file:
            file.write('headers = { X-Pass = "$TEAM_PASS" }\nextra = { top_k = 1 }\n')
        assert gate(tmp_path, "--update").returncode == 0
        assert {seen.headers["X-Pass"] for seen in server.seen} == {"open-sesame"}
        assert {seen.body["top_k"] for seen in server.seen} == {1}
    for path in tmp_path.iterdir():
        assert b"open-sesame" not in path.read_bytes()


def test_conditions_of_the_settings_are_asked(tmp_path):
    settings(tmp_path, "fake:delay_ms=20", more='logprobs = "both"')
    gate(tmp_path, "--update")
    conditions = json.loads((tmp_path / "temp0-baseline.json").read_text())["endpoints"][0]["conditions"]
    assert conditions == ["alone", "alone, logprobs", "company 2", "company 2, logprobs"]


def test_every_file_for_ci_tells_the_outcomes_apart(tmp_path, speaker):
    speaker.words = ["Because.", "Just so."]
    call = gate(
        tmp_path, "--junit", "j.xml", "--summary", "s.md", "--summary", "s.md", "--gitlab", "g.json", "--github"
    )
    suite = ElementTree.parse(tmp_path / "j.xml").getroot().find("testsuite")
    assert suite is not None
    assert suite.get("failures") == "1"
    assert "❌ fail" in (tmp_path / "s.md").read_text()
    findings = json.loads((tmp_path / "g.json").read_text())
    assert len({finding["fingerprint"] for finding in findings}) == 1
    assert call.stderr.count("::error title=temp0 check::prod, prompt p1: fail") == 1


def test_a_baseline_of_other_prompts_is_refused_before_anything_is_sent(tmp_path):
    with serving(Speaker()) as server:
        settings(tmp_path, server.url)
        gate(tmp_path, "--update")
        asked = len(server.seen)
        path = tmp_path / "temp0.toml"
        path.write_text(path.read_text().replace("Why?", "Why now?"))
        call = gate(tmp_path)
        assert len(server.seen) == asked
    assert call.returncode == 2
    assert "in other words" in call.stderr


def test_what_the_gate_cannot_do_is_said_before_it_begins(tmp_path):
    with serving(Speaker()) as server:
        settings(tmp_path, server.url, more="tolerate = { rate = 0.01 }")
        call = gate(tmp_path, "--dry-run")
        assert server.seen == []
    assert call.returncode == 0
    assert "cannot pass" in call.stderr
    assert "nothing was sent" in call.stdout


def test_undecided_is_exit_4_unless_the_settings_let_it_through(tmp_path):
    with serving(Speaker(), delay_s=0.2) as server:
        settings(tmp_path, server.url, more="tolerate = { rate = 0.01 }")
        assert checked(tmp_path)["exit_code"] == 4
        settings(tmp_path, server.url, more='tolerate = { rate = 0.01 }\nundecided = "pass"')
        assert checked(tmp_path)["exit_code"] == 0


def test_two_checks_at_once_on_one_store_both_come_to_an_end(tmp_path, speaker):
    calls = [
        subprocess.Popen(
            [sys.executable, "-m", "temp0", "check", "--store", "runs.db", "--json"],
            cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for _ in range(2)
    ]  # fmt: skip
    assert [call.communicate(timeout=120)[0] != "" and call.returncode for call in calls] == [0, 0]


@pytest.mark.parametrize(
    ("text", "told"), [("[check]\nn = 0\n", "check.n"), (None, "no settings in"), ("[check", "not TOML")]
)
def test_settings_that_cannot_be_right_are_a_usage_error(tmp_path, text, told):
    if text is not None:
        (tmp_path / "temp0.toml").write_text(text)
    call = gate(tmp_path)
    assert call.returncode == 2
    assert told in call.stderr
