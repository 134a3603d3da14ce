"""Options of `temp0 probe` that say how requests go out: what the server sees, and what the user is told."""

import json
from pathlib import Path

from command import chat, document, in_store, reply, serving, temp0

QUICK = ("--prompt", "Say hi.", "-n", "2", "--company", "1")


def test_what_was_asked_for_goes_out_and_both_bodies_can_be_looked_at(tmp_path: Path) -> None:
    own = ("--header", "X-Team: reddish", "--extra-json", '{"top_k": 1, "temperature": 0.0}')
    with serving(lambda seen: chat("Hi.")) as server:
        found = document(temp0("probe", server.url, *QUICK, *own, "--keep-raw", "--json", *in_store(tmp_path)))
        assert all((seen.headers["X-Team"], seen.body["top_k"]) == ("reddish", 1) for seen in server.seen)
        shown = temp0("show", "--raw", str(tmp_path / "raw"), "--json", *in_store(tmp_path))
    assert found["endpoint"]["extra"] == '{"top_k":1,"temperature":0.0}'
    assert found["endpoint"]["headers"] == "x-team"
    assert "2 attempts written into" in shown.stderr
    first = json.loads((tmp_path / "raw" / "000000.json").read_text("utf-8"))
    assert json.loads(first["sent"]) == server.seen[0].body
    assert json.loads(first["received"])["choices"][0]["message"]["content"] == "Hi."


def test_a_wait_is_said_with_its_reason_and_what_was_refused_is_counted(tmp_path: Path) -> None:
    busy = reply({"error": {"message": "slow down"}}, 429, **{"Retry-After": "0.2"})
    with serving(lambda seen: chat("Hi.") if seen.place else busy) as server:
        call = temp0("probe", server.url, *QUICK, "--json", *in_store(tmp_path))
    (alone,) = document(call)["prompts"][0]["conditions"]
    assert (alone["completions"], alone["attempts"], alone["failures"][0]["reason"]) == (2, 3, "http-429")
    assert "waits 0.2 s: HTTP 429: slow down (retry-after: 0.2)" in call.stderr


def test_a_switched_field_is_said_once(tmp_path: Path) -> None:
    unknown = reply({"error": {"message": "Unknown parameter: 'seed'"}}, 400)
    with serving(lambda seen: unknown if "seed" in seen.body else chat("Hi."), delay_s=0.05) as server:
        call = temp0("probe", server.url, "--prompt", "x", "-n", "4", "--company", "4", *in_store(tmp_path))
    assert call.stderr.count("asked otherwise from now on") == 1
    assert "(seed: not sent again)" in call.stderr


def test_a_refused_temperature_stops_with_the_way_to_go_on_and_going_on_is_labelled(tmp_path: Path) -> None:
    refused = reply({"error": {"message": "'temperature' does not support 0 with this model"}}, 400)
    with serving(lambda seen: refused if "temperature" in seen.body else chat("Hi.")) as server:
        stopped = temp0("probe", server.url, *QUICK, *in_store(tmp_path))
        assert (stopped.returncode, len(server.seen)) == (3, 1)
        assert "does not support 0" in stopped.stderr
        assert "--not-greedy" in stopped.stderr
        went_on = temp0("probe", server.url, *QUICK, "--not-greedy", *in_store(tmp_path))
    assert went_on.stderr.splitlines()[0].endswith("not greedy: its answers may differ by chance")


def test_an_extra_temperature_labels_the_run(tmp_path: Path) -> None:
    with serving(lambda seen: chat("Hi.")) as server:
        call = temp0("probe", server.url, *QUICK, "--extra-json", '{"temperature": 0.7}', *in_store(tmp_path))
    assert "not greedy" in call.stderr.splitlines()[0]
    assert all(seen.body["temperature"] == 0.7 for seen in server.seen)


def test_a_header_without_a_colon_and_an_extra_that_is_no_object_are_refused() -> None:
    for arguments in (("--header", "X-Team"), ("--extra-json", "[1]"), ("--extra-json", '{"api_key": "k"}')):
        assert temp0("probe", "http://127.0.0.1:9/v1", "--model", "m", *QUICK, *arguments).returncode == 2
