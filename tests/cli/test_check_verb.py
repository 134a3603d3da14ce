"""`temp0 check` as CI runs it: settings, a baseline in the folder, real servers that change their minds or die."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from command import Reply, Seen, chat, command, reply, serving, temp0

SETTINGS = """
[check]
n = 4
company = [1, 2]
max_tokens = 8
prompts = ["Why?"]
"""


def gate(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return temp0("check", "--store", "runs.db", *arguments, folder=folder)


def checked(folder: Path, *arguments: str) -> dict[str, Any]:
    call = gate(folder, "--json", *arguments)
    document: dict[str, Any] = json.loads(call.stdout)
    assert document["exit_code"] == call.returncode, call.stderr
    return document


def settings(folder: Path, url: str, more: str = "", of_endpoint: str = "") -> None:
    endpoint = f'[[check.endpoints]]\nname = "prod"\nurl = "{url}"\n{of_endpoint}\n'
    (folder / "temp0.toml").write_text(f"{SETTINGS}{more}\n{endpoint}")


class Speaker:
    """A server whose words can be changed while it runs."""

    def __init__(self) -> None:
        self.words = ["Because."]
        self.says: dict[str, str] = {}
        self.fails: Callable[[Seen], Reply | None] = lambda _: None

    def __call__(self, seen: Seen):
        return self.fails(seen) or chat(self.words[seen.place % len(self.words)], **self.says)


def failing(first: int, last: int | None = None) -> Callable[[Seen], Reply | None]:
    """Some of the requests from now on are answered with HTTP 500."""
    places = count()

    def fails(_: Seen) -> Reply | None:
        place = next(places)
        is_lost = place >= first and (last is None or place <= last)
        return reply({"error": {"message": "on fire"}}, status=500) if is_lost else None

    return fails


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


def test_a_server_that_dies_on_the_way_is_not_measured_however_alike_its_answers_were(tmp_path, speaker):
    speaker.fails = failing(first=5)
    found = checked(tmp_path)
    assert found["exit_code"] == 3
    (one,) = found["checked"]
    assert one["outcome"] == "not-measured"
    assert one["words"].endswith(" of 8 answers came; http-500: HTTP 500: on fire")
    before = (tmp_path / "temp0-baseline.json").read_bytes()
    speaker.fails = failing(first=5)
    assert gate(tmp_path, "--update").returncode == 3
    assert (tmp_path / "temp0-baseline.json").read_bytes() == before


def test_a_few_answers_that_did_not_come_are_asked_for_once_more(tmp_path, speaker):
    speaker.fails = failing(first=0, last=0)
    call = gate(tmp_path)
    assert call.returncode == 0, call.stderr
    assert "answers that did not come are asked for once more: 1 of 8" in call.stderr


def test_a_fingerprint_that_moved_is_noted_beside_a_text_that_did_not(tmp_path, speaker):
    speaker.says = {"system_fingerprint": "fp-1"}
    assert gate(tmp_path, "--update").returncode == 0
    speaker.says = {"system_fingerprint": "fp-2"}
    found = checked(tmp_path)
    assert found["exit_code"] == 0
    assert found["notes"] == ["endpoint prod: its fingerprint is now fp-2, and was fp-1 in the baseline"]


def test_a_limit_below_the_plan_is_said_before_and_no_part_of_it_passes(tmp_path, speaker):
    path = tmp_path / "temp0.toml"
    path.write_text(path.read_text().replace("[[", "max_requests = 6\n[["))
    call = gate(tmp_path)
    assert call.returncode == 3
    assert "cannot pass: at most 6 requests may be sent, and 8 are planned" in call.stderr
    assert "the limit of 6 requests is reached" in " ".join(call.stdout.split())


def test_an_interrupted_gate_is_undecided_and_an_update_keeps_what_was_there(tmp_path, speaker):
    before = (tmp_path / "temp0-baseline.json").read_bytes()
    for arguments in ((), ("--update",)):
        path = tmp_path / "temp0.toml"
        path.write_text(path.read_text().replace("n = 4", "n = 400"))
        call = subprocess.Popen(
            command("check", "--store", "runs.db", *arguments),
            cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert call.stderr is not None
        while "run " not in call.stderr.readline():
            assert call.poll() is None
        call.send_signal(signal.SIGINT)
        told = call.communicate(timeout=120)
        assert call.returncode == 4, told
    assert "stays as it was" in told[1]
    assert (tmp_path / "temp0-baseline.json").read_bytes() == before


@pytest.mark.parametrize("arguments", [("--summary", "no/such/folder"), ("--update",)])
def test_a_file_that_cannot_be_written_is_refused_before_anything_is_sent(tmp_path, arguments):
    with serving(Speaker()) as server:
        settings(tmp_path, server.url, more='baseline = "no/such/folder.json"')
        call = gate(tmp_path, *arguments)
        assert server.seen == []
    assert call.returncode == 2
    assert "no/such/folder" in call.stderr.partition("cannot write")[2]


def test_a_conflicted_baseline_is_refused_before_anything_is_sent(tmp_path, speaker):
    path = tmp_path / "temp0-baseline.json"
    path.write_text(f"<<<<<<< HEAD\n{path.read_text()}=======\n{path.read_text()}>>>>>>> main\n")
    call = gate(tmp_path)
    assert call.returncode == 2
    assert "marks of a merge conflict; delete it and make it anew" in call.stderr


def test_what_the_baseline_does_not_know_is_said_before(tmp_path, speaker):
    path = tmp_path / "temp0.toml"
    path.write_text(path.read_text().replace('"prod"', '"renamed"'))
    found = checked(tmp_path)
    assert found["exit_code"] == 0
    assert [note.partition(":")[0] for note in found["cannot"]] == [
        "the baseline does not know endpoint renamed",
        "the baseline knows endpoint prod, which the gate does not ask",
    ]


def test_a_gate_is_run_from_a_folder_below_its_settings(tmp_path, speaker):
    (tmp_path / "src").mkdir()
    found = checked(tmp_path / "src")
    assert {one["change"] for one in found["checked"]} == {"same"}


def test_the_key_is_in_no_file_and_no_output(tmp_path, monkeypatch):
    monkeypatch.setenv("OUR_KEY", "sk-very-secret-0123456789")
    answers = Speaker()
    answers.fails = lambda seen: reply({"error": {"message": f"bad {seen.headers['Authorization']}"}}, status=500)
    with serving(answers) as server:
        settings(tmp_path, server.url, of_endpoint='key_env = "OUR_KEY"\nmodel = "m"')
        everything = ("--junit", "j.xml", "--summary", "s.md", "--gitlab", "g.json", "--github")
        failed = gate(tmp_path, *everything)
        answers.fails = lambda _: None
        passed = gate(tmp_path, "--update", *everything)
        assert {seen.headers["Authorization"] for seen in server.seen} == {"Bearer sk-very-secret-0123456789"}
    assert (failed.returncode, passed.returncode) == (3, 0)
    for call in (failed, passed):
        assert "very-secret" not in call.stdout + call.stderr
    for path in tmp_path.iterdir():
        assert b"very-secret" not in path.read_bytes()


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
    assert call.stderr.count("::error file=temp0.toml,title=temp0 check::prod, prompt p1: failed") == 1


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
