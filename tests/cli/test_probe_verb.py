"""`temp0 probe` as a user meets it: real processes, real HTTP."""

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from command import Reply, Seen, chat, command, document, in_store, reply, serving, temp0

from temp0.cli.probe import APIS
from temp0.probe.opening import API_PATHS

QUICK = ("--prompt", "Say hi.", "-n", "6", "--company", "1,3")


def steady(_seen: Seen) -> Reply:
    return chat("Hi there.")


def test_one_text_everywhere_is_agreed_with_its_bound(tmp_path: Path) -> None:
    with serving(steady, delay_s=0.05) as server:
        found = document(temp0("probe", server.url, *QUICK, "--json", *in_store(tmp_path)))
    assert (found["verdict"], found["exit_code"]) == ("agreed", 0)
    alone, company = found["prompts"][0]["conditions"]
    assert alone["variant_rate_upper"] == pytest.approx(1 - 0.05 ** (1 / 6))
    assert company["company"]["asked"] == 3
    assert company["company"]["reached"] > 1.5


def test_one_text_alone_and_another_in_company_is_diverged(tmp_path: Path) -> None:
    def by_load(seen: Seen) -> Reply:
        return chat("Hi there, alone." if seen.in_flight == 1 and server.peak_now() == 1 else "Hi there, all.")

    with serving(steady, delay_s=0.05) as server:
        server.peak_now = lambda: server.in_flight  # type: ignore[attr-defined]
        server.answer = by_load
        found = document(temp0("probe", server.url, *QUICK, "--json", *in_store(tmp_path)))
    assert found["verdict"] == "diverged"
    prompt = found["prompts"][0]
    assert prompt["comparisons"][0]["verdict"] == "diverged"
    fork = prompt["forks"][0]
    assert (fork["char"], fork["byte"], fork["kind"]) == (12, 12, "differs")
    texts = {text["sha256"]: text["text"] for text in prompt["texts"]}
    assert all(
        texts[digest][fork["char"] :].startswith(branch["text"])
        for branch in fork["branches"]
        for digest in branch["sha256"]
    )


def test_a_server_that_answers_one_at_a_time_shows_no_company(tmp_path: Path) -> None:
    with serving(steady, delay_s=0.03) as server:
        one = server.lock

        def serial(seen: Seen) -> Reply:
            with one:
                time.sleep(0.15)
            return chat("Hi.")

        server.answer, server.delay_s = serial, 0.0
        found = document(temp0("probe", server.url, *QUICK, "--json", *in_store(tmp_path)))
    company = found["prompts"][0]["conditions"][1]
    assert company["company"]["reached"] <= 1.5
    assert (found["verdict"], found["exit_code"]) == ("undecided", 4)


def test_zero_is_sent_as_zero_and_the_model_is_found(tmp_path: Path) -> None:
    with serving(steady, models=("only",)) as server:
        temp0("probe", server.url, *QUICK, *in_store(tmp_path))
    assert all(seen.body["temperature"] == 0 and seen.body["model"] == "only" for seen in server.seen)
    assert all(seen.path == "/v1/chat/completions" for seen in server.seen)


def test_the_pool_reaches_what_was_asked(tmp_path: Path) -> None:
    with serving(steady, delay_s=0.05) as server:
        temp0("probe", server.url, "--prompt", "x", "-n", "12", "--company", "6", *in_store(tmp_path))
    assert server.peak == 6


def test_a_refused_key_stops_at_once_and_is_never_shown(tmp_path: Path) -> None:
    key = "sk-secret-0123456789"

    def refuse(seen: Seen) -> Reply:
        return reply({"error": {"message": f"bad key {seen.headers['Authorization']}"}}, 401)

    with serving(refuse) as server:
        call = temp0(
            "probe", server.url, *QUICK, "--key-env", "MY_KEY", "--json", *in_store(tmp_path), environ={"MY_KEY": key}
        )
        assert server.seen[0].headers["Authorization"] == f"Bearer {key}"
        assert len(server.seen) <= 3
    found = document(call)
    assert (found["verdict"], found["exit_code"]) == ("undecided", 3)
    assert found["causes"][0]["cause"] == "not-measured"
    assert "401" in found["causes"][0]["remedy"]
    everything = call.stdout + call.stderr + (tmp_path / "runs.db").read_bytes().decode("latin-1")
    assert key not in everything


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (reply({"error": {"message": "slow down"}}, 429), "http-429"),
        (reply({"error": "broken"}, 500), "http-500"),
        ((200, {"Content-Type": "text/html"}, b"<html>maintenance</html>"), "not-json"),
        ((200, {"Content-Type": "application/json"}, b'{"choices": [{"mess'), "truncated-json"),
        (reply({"choices": []}), "no-choices"),
        (chat(None), "null-content"),
        ((200, {"Content-Length": "500"}, b'{"choices": []}'), "cut"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_fault_is_a_failure_with_its_reason_and_never_a_pass(tmp_path: Path, answer: Reply, reason: str) -> None:
    with serving(lambda seen: answer) as server:
        found = document(temp0("probe", server.url, *QUICK, "--patience-s", "0", "--json", *in_store(tmp_path)))
    assert (found["verdict"], found["exit_code"]) == ("undecided", 3)
    failures = [one["failures"] for one in found["prompts"][0]["conditions"]]
    assert [[(one["reason"], one["count"]) for one in tallies] for tallies in failures] == [[(reason, 6)]] * 2


def test_some_faults_among_completions_are_counted_beside_them(tmp_path: Path) -> None:
    with serving(lambda seen: chat("Hi.") if seen.place % 3 else reply({}, 503), delay_s=0.02) as server:
        found = document(temp0("probe", server.url, *QUICK, "--json", *in_store(tmp_path)))
    for one in found["prompts"][0]["conditions"]:
        refused = sum(tally["count"] for tally in one["failures"])
        assert (one["completions"], one["completions"] + refused) == (6, one["attempts"])
    assert found["exit_code"] != 1


def test_a_refused_connection_is_not_measured(tmp_path: Path) -> None:
    found = document(temp0("probe", "http://127.0.0.1:9/v1", "--model", "m", *QUICK, "--json", *in_store(tmp_path)))
    assert found["exit_code"] == 3
    assert found["prompts"][0]["conditions"][0]["failures"][0]["reason"] == "refused"


def test_a_server_that_never_answers_is_a_timeout(tmp_path: Path) -> None:
    with serving(steady, delay_s=30) as server:
        call = temp0("probe", server.url, "--prompt", "x", "-n", "2", "--company", "1", "--timeout-s", "0.2", "--json",
                     *in_store(tmp_path))  # fmt: skip
    assert document(call)["prompts"][0]["conditions"][0]["failures"][0]["reason"] == "timeout"


def test_empty_texts_are_completions_and_decide_nothing(tmp_path: Path) -> None:
    with serving(lambda seen: chat("")) as server:
        found = document(temp0("probe", server.url, *QUICK, "--json", *in_store(tmp_path)))
    assert (found["verdict"], found["exit_code"]) == ("undecided", 4)
    assert "no-visible-output" in [cause["cause"] for cause in found["causes"]]


def test_answers_cut_by_length_carry_their_warning(tmp_path: Path) -> None:
    with serving(lambda seen: chat("Hi", finish="length"), delay_s=0.05) as server:
        found = document(temp0("probe", server.url, *QUICK, "--json", *in_store(tmp_path)))
    assert found["verdict"] == "agreed"
    assert [cause["cause"] for cause in found["causes"]] == ["short-window"]


def test_anthropic_messages_are_spoken(tmp_path: Path) -> None:
    def answer(seen: Seen) -> Reply:
        assert seen.path == "/v1/messages"
        return reply(
            {"id": "m", "type": "message", "content": [{"type": "text", "text": "Hi."}], "stop_reason": "end_turn"}
        )

    with serving(answer, delay_s=0.2) as server:
        call = temp0("probe", server.url, "--api", "anthropic", *QUICK, "--json", *in_store(tmp_path),
                     environ={"ANTHROPIC_API_KEY": "sk-ant-123456"})  # fmt: skip
    assert document(call)["verdict"] == "agreed"
    assert {name.lower(): value for name, value in server.seen[0].headers.items()}["x-api-key"] == "sk-ant-123456"
    assert "max_tokens" in server.seen[0].body


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["fake:rate=2"], "rate"),
        (["ftp://x/v1"], "http"),
        (["fake:", "-n", "0"], "x>=1"),
        (["fake:", "--company", "0"], "whole numbers of at least 1"),
        (["fake:", "--company", "1,x"], "whole numbers of at least 1"),
        (["fake:", "--filler", "odd"], "'odd' is not one of"),
        (["fake:", "--prompts", "/nowhere/prompts.txt"], "cannot read"),
        (["fake:", "--prompt", "x", "--prompts", "y"], "not both"),
        (["fake:", "--resume", "last"], "leave out the URL"),
        (["fake:", "--resume", "last", "-n", "3"], "leave out n"),
        (["fake:", "--resume", "last", "--ask", "cache"], "leave out ask"),
        (["fake:", "--resume", "last", "--cache", "cold", "--exclusive"], "leave out cache, exclusive"),
        (["fake:", "--resume", "last", "--stream", "on"], "leave out stream"),
        (["fake:", "--ask", "nothing"], "'nothing' is not one of"),
        (["fake:can_cold=0", "--cache", "cold"], "temp0 knows no way to make this server's prefix cache cold"),
        (["fake:", "--prompt", "x", "--max-requests", "3"], "--max-requests"),
        (
            ["fake:", "--prompt", "x", "-n", "3", "--cache", "warm", "--company", "1", "--max-requests", "5"],
            "3 judged requests and 3 primers, and --max-requests allows 5",
        ),
        (["https://user:password@example.com/v1", "--model", "m"], "environment variable"),
        (["http://127.0.0.1:9/odd/path", "--model", "m"], "does not tell which dialect is spoken there"),
        (["http://127.0.0.1:9/v1", "--key-env", "NOT_SET_ANYWHERE", "--model", "m"], "NOT_SET_ANYWHERE"),
        (["--weights", "/nowhere/model.gguf"], "/nowhere/model.gguf"),
        (["fake:", "--html", "/nowhere/at/all.html"], "cannot write"),
        (["fake:", "--seed", "-1"], "x>=0"),
        (["--dry-run", "--resume", "last"], "leave out --resume"),
        (["fake:", "--timeout-s", "inf"], "timeout_s is inf"),
        (["fake:", "--threads", "1"], "built-in engine"),
        (["--resume", ""], "no run is named"),
        (["--again", "last", "--resume", "last"], "give one of them"),
        (["--again", "last", "-n", "3"], "leave out n"),
        (["--again", "last", "--model", "m"], "leave out model"),
        (["fake:", "--again", "last", "--company", "1"], "leave out company"),
        (["--arithmetic", "other"], "arithmetic"),
        (["--no-such-flag"], "No such option"),
    ],
    ids=" ".join,
)
def test_what_cannot_be_right_is_one_message_and_exit_2(tmp_path: Path, arguments: list[str], says: str) -> None:
    temp0("probe", "fake:seed=1", "--prompt", "x", "-n", "2", *in_store(tmp_path))
    call = temp0("probe", *arguments, "--json", *in_store(tmp_path))
    assert document(call)["exit_code"] == 2
    assert says in document(call)["message"]
    assert "Traceback" not in call.stderr
    assert "user:password" not in call.stdout + call.stderr


def test_a_store_that_cannot_be_written_stops_before_anything_is_sent(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with serving(steady) as server:
        call = temp0("probe", server.url, *QUICK, "--store", str(tmp_path / "file" / "runs.db"))
    assert call.returncode == 2
    assert server.seen == []


def test_the_dialects_of_the_help_are_those_that_have_a_name() -> None:
    assert set(APIS) == set(API_PATHS)


def test_a_dry_run_sends_nothing(tmp_path: Path) -> None:
    with serving(steady) as server:
        call = temp0("probe", server.url, *QUICK, "--dry-run", *in_store(tmp_path))
    assert call.returncode == 0
    assert "12 judged requests" in call.stdout
    assert server.seen == []


@pytest.mark.parametrize("ask", ["repeatable", "company", "cache", "everything"])
def test_a_dry_run_of_a_preset_says_what_it_costs_and_can_find(ask: str) -> None:
    said = temp0("probe", "fake:", "--ask", ask, "--dry-run").stdout
    found = document(temp0("probe", "fake:", "--ask", ask, "--dry-run", "--json"))
    assert f"{found['judged']} judged requests" in said
    assert re.search(r"blocks needed for a chance of 95% +29 +598 +2,995\n", said)
    assert [one["blocks"] for one in found["needed"]] == [29, 598, 2995]
    assert all(0 < seen["chance"] < 1 for one in found["conditions"] for seen in one["seen"])
    assert ("it leaves cold out and says so" in said) == (ask in {"cache", "everything"})


def test_a_dry_run_says_that_it_does_not_know_whether_cold_can_be_had() -> None:
    said = temp0("probe", "fake:", "--cache", "cold", "--dry-run").stdout
    assert "cold: not known yet, since a dry run asks no server" in said
    assert "it stops and sends nothing" in said


CACHED = ("--prompt", "Say hi.", "-n", "4", "--company", "1", "--cache", "both")


def test_cold_and_warm_are_asked_by_the_servers_own_means(tmp_path: Path) -> None:
    def by_cache(seen: Seen) -> Reply:
        return chat("Read anew." if seen.body.get("cache_prompt") is False else "Read before.")

    with serving(by_cache, owner="llamacpp") as server:
        call = temp0("probe", server.url, *CACHED, "--json", *in_store(tmp_path))
    found = document(call)
    assert found["run"]["cold_by"] == "cache_prompt: false"
    assert "cold: by cache_prompt: false; the server is llama.cpp" in call.stderr
    assert [one["completions"] for one in found["prompts"][0]["conditions"]] == [4, 4]
    assert found["verdict"] == "diverged"
    assert [seen.body["max_tokens"] for seen in server.seen].count(1) == 4
    assert sum(seen.body.get("cache_prompt") is False for seen in server.seen) == 4


def test_a_server_with_a_reset_is_reset_before_each_cold_block(tmp_path: Path) -> None:
    def forget_or_answer(seen: Seen) -> Reply:
        return reply({"success": True}) if "reset" in seen.path else chat("Hi.")

    with serving(forget_or_answer, owner="vllm") as server:
        found = document(temp0("probe", server.url, *CACHED, "--json", *in_store(tmp_path)))
    assert found["run"]["cold_by"] == "POST /reset_prefix_cache"
    paths = [seen.path for seen in server.seen]
    assert sum("reset_prefix_cache" in path for path in paths) == 1 + 4  # the first asks whether there is one
    assert len(paths) == 5 + 4 + 4 + 4
    assert not any("cache_prompt" in seen.body for seen in server.seen)


def test_a_server_that_stops_forgetting_stops_the_run_and_the_rest_can_be_asked_later(tmp_path: Path) -> None:
    forgets = iter([True, True, False])

    def forget_or_refuse(seen: Seen) -> Reply:
        if "flush" not in seen.path:
            return chat("Hi.")
        return reply({}, 200 if next(forgets, True) else 500)

    with serving(forget_or_refuse, owner="sglang") as server:
        call = temp0("probe", server.url, *CACHED, "--json", *in_store(tmp_path))
        stopped = document(call)
        assert "stopped early: not-cold: SGLang would not empty its prefix cache" in call.stderr
        assert not stopped["run"]["finished"]
        assert stopped["prompts"][0]["conditions"][0]["attempts"] == 1
        found = document(temp0("probe", "--resume", "last", "--json", *in_store(tmp_path)))
    assert [one["completions"] for one in found["prompts"][0]["conditions"]] == [4, 4]
    assert found["run"]["cold_by"] == stopped["run"]["cold_by"] == "POST /flush_cache"


def test_where_cold_cannot_be_had_no_question_is_sent(tmp_path: Path) -> None:
    with serving(lambda seen: reply({}, 404)) as server:
        call = temp0("probe", server.url, *CACHED, "--json", *in_store(tmp_path))
    assert document(call)["exit_code"] == 2
    assert "temp0 knows no way to make this server's prefix cache cold" in document(call)["message"]
    assert not any("chat" in seen.path for seen in server.seen)


def test_a_preset_leaves_cold_out_and_says_so(tmp_path: Path) -> None:
    call = temp0(
        "probe", "fake:can_cold=0", "--ask", "cache", "--prompt", "x", "-n", "2", "--json", *in_store(tmp_path)
    )
    assert "note: temp0 knows no way to make this server's prefix cache cold" in call.stderr
    assert "asked as found instead" in call.stderr
    names = [one["name"] for one in document(call)["prompts"][0]["conditions"]]
    assert names == ["alone"]


def test_an_interrupted_run_of_cold_and_warm_loses_and_hides_nothing(tmp_path: Path) -> None:
    with serving(steady, delay_s=0.03, owner="llamacpp") as server:
        arguments = ("probe", server.url, "--prompt", "x", "-n", "15", "--company", "1,2", "--cache", "both", "--json")
        probing = subprocess.Popen(
            command(*arguments, *in_store(tmp_path)), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        wait_for(lambda: len(server.seen) >= 20)
        probing.send_signal(signal.SIGINT)
        output, _ = probing.communicate(timeout=60)
        asked = len(server.seen)
        assert json.loads(output)["run"]["requests"] == asked
        found = document(temp0("probe", "--resume", "last", "--json", *in_store(tmp_path)))
    assert [one["completions"] for one in found["prompts"][0]["conditions"]] == [15] * 4
    assert found["run"]["requests"] == len(server.seen)
    assert found["run"]["cold_by"] == "cache_prompt: false"


def test_exclusive_is_kept_as_the_users_word(tmp_path: Path) -> None:
    for flags in ((), ("--exclusive",)):
        found = document(temp0("probe", "fake:", *QUICK, *flags, "--json", *in_store(tmp_path)))
        assert found["run"]["exclusive"] is bool(flags)


def test_prompts_come_from_standard_input(tmp_path: Path) -> None:
    call = temp0("probe", "fake:", "--prompts", "-", "-n", "2", "--json", *in_store(tmp_path), stdin="one\ntwo\n")
    assert [prompt["text"] for prompt in document(call)["prompts"]] == ["one", "two"]


def test_show_and_report_give_the_same_document(tmp_path: Path) -> None:
    probed = temp0("probe", "fake:variants=2,rate=0.4,seed=3", *QUICK, "--json", *in_store(tmp_path))
    run = document(probed)["run"]["id"]
    shown = temp0("show", run[:5], "--json", *in_store(tmp_path))
    temp0("report", "last", "--format", "json", "-o", str(tmp_path / "report.json"), *in_store(tmp_path))
    assert shown.returncode == probed.returncode
    assert shown.stdout == probed.stdout == (tmp_path / "report.json").read_text()


def wait_for(reached: object, *, timeout_s: float = 60) -> None:
    deadline = time.monotonic() + timeout_s
    while not reached():  # type: ignore[operator]
        assert time.monotonic() < deadline, "nothing happened"
        time.sleep(0.01)


def test_a_killed_run_loses_only_what_was_in_flight_and_can_be_finished(tmp_path: Path) -> None:
    with serving(steady, delay_s=0.03) as server:
        probing = subprocess.Popen(command("probe", server.url, "--prompt", "x", "-n", "40", *in_store(tmp_path)))
        wait_for(lambda: len(server.seen) >= 25)
        probing.send_signal(signal.SIGKILL)
        probing.wait()
        asked = len(server.seen)
        kept = document(temp0("show", "--json", *in_store(tmp_path)))
        assert asked - kept["run"]["requests"] <= 8 + 8
        assert not kept["run"]["finished"]
        found = document(temp0("probe", "--resume", "last", "--json", *in_store(tmp_path)))
    assert found["run"]["id"] == kept["run"]["id"]
    assert [one["completions"] for one in found["prompts"][0]["conditions"]] == [40, 40]
    assert found["verdict"] == "agreed"


def test_an_interrupted_run_is_reported_and_can_be_finished(tmp_path: Path) -> None:
    with serving(steady, delay_s=0.03) as server:
        probing = subprocess.Popen(
            command("probe", server.url, "--prompt", "x", "-n", "40", "--json", *in_store(tmp_path)),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        wait_for(lambda: len(server.seen) >= 20)
        probing.send_signal(signal.SIGINT)
        output, errors = probing.communicate(timeout=60)
        assert probing.returncode == 4
        assert json.loads(output)["run"]["requests"] >= 20
        assert "--resume" in errors
        found = document(temp0("probe", "--resume", "last", "--json", *in_store(tmp_path)))
    assert [one["completions"] for one in found["prompts"][0]["conditions"]] == [40, 40]


def test_what_failed_is_asked_again_by_resuming(tmp_path: Path) -> None:
    with serving(lambda seen: chat("Hi.") if seen.place % 4 else reply({}, 503), delay_s=0.02) as server:
        first = document(temp0("probe", server.url, *QUICK, "--patience-s", "0", "--json", *in_store(tmp_path)))
        server.answer = steady
        found = document(temp0("probe", "--resume", first["run"]["id"], "--json", *in_store(tmp_path)))
    assert [one["completions"] for one in found["prompts"][0]["conditions"]] == [6, 6]
    assert found["run"]["requests"] == len(server.seen)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_document_of_an_interrupted_run_tells_its_exit_code(tmp_path: Path, number: int) -> None:
    with serving(steady, delay_s=0.05) as server:
        arguments = ("probe", server.url, "--prompt", "x", "-n", "60", "--json", *in_store(tmp_path))
        probing = subprocess.Popen(command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        wait_for(lambda: len(server.seen) >= 10)
        probing.send_signal(number)
        output, _ = probing.communicate(timeout=60)
    assert json.loads(output)["exit_code"] == probing.returncode == 4


def test_a_model_name_cannot_command_the_terminal(tmp_path: Path) -> None:
    with serving(steady, models=("m\x1b[31m",)) as server:
        probed = temp0("probe", server.url, *QUICK, *in_store(tmp_path))
    listed = temp0("runs", *in_store(tmp_path))
    with serving(steady, models=("a\x1b[31m", "b")) as server:
        refused = temp0("probe", server.url, *QUICK, *in_store(tmp_path))
    assert "\x1b" not in probed.stdout + probed.stderr + listed.stdout + refused.stdout + refused.stderr
    assert all(seen.body["model"] == "m\x1b[31m" for seen in server.seen)


def test_a_server_that_closes_without_saying_so_loses_few_attempts(tmp_path: Path) -> None:
    """As many as were in flight at once may fail; then every connection is used once."""
    with serving(steady, closes_silently=True) as server:
        found = document(temp0("probe", server.url, "--prompt", "x", "-n", "30", "--company", "1", "--json",
                               *in_store(tmp_path)))  # fmt: skip
    (alone,) = found["prompts"][0]["conditions"]
    assert alone["completions"] >= 29
    assert {tally["reason"] for tally in alone["failures"]} <= {"cut"}


def test_output_into_a_closed_pipe_is_no_traceback(tmp_path: Path) -> None:
    temp0("probe", "fake:", *QUICK, *in_store(tmp_path))
    reading, writing = os.pipe()
    os.close(reading)
    shown = subprocess.run(command("show", *in_store(tmp_path)), stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert b"Traceback" not in shown.stderr
