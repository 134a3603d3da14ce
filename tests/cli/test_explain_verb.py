"""`temp0 explain` as a user meets it: a run, then a second look at its forks, against real servers."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from typing import Any

import pytest
from command import Reply, Seen, chat, command, document, in_store, reply, serving, temp0
from served_engine import served_engine

WORDS = ("It", " is", " stale")
PLAN = ("--prompt", "Why?", "-n", "8", "--company", "1,4", "--max-tokens", "8")
DELAY_S = 0.05


def spoken(*words: str, lead: float = 0.02, rival: str = " was") -> list[dict[str, Any]]:
    """Logprobs of these words: the second one is `lead` ahead of its rival, the others are sure."""
    leads = [3.0, lead, 4.0]
    rivals = [" No", rival, " fresh"]
    return [
        {
            "token": word,
            "logprob": -0.5,
            "bytes": list(word.encode()),
            "top_logprobs": [
                {"token": word, "logprob": -0.5, "bytes": list(word.encode())},
                {"token": other, "logprob": -0.5 - ahead, "bytes": list(other.encode())},
            ],
        }
        for word, ahead, other in zip(words, leads, rivals, strict=True)
    ]


def batched(seen: Seen) -> Reply:
    """In company the second word is another one, by a small lead; logprobs are told where asked for."""
    words, lead, rival = (WORDS, 0.02, " was") if seen.in_flight < 2 else (("It", " was", " stale"), 0.03, " is")
    logprobs = {"content": spoken(*words, lead=lead, rival=rival)} if seen.body.get("logprobs") else None
    status, headers, body = chat("".join(words))
    return (status, headers, body) if logprobs is None else _with(logprobs, words)


def _with(logprobs: object, words: tuple[str, ...]) -> Reply:
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": "".join(words)},
        "finish_reason": "stop",
        "logprobs": logprobs,
    }
    return chat(None, choices=[choice])


def begun_by(seen: Seen) -> str | None:
    """What the client has begun of the answer."""
    last = seen.body["messages"][-1]
    return last["content"] if last["role"] == "assistant" else None


def whole(seen: Seen) -> str:
    return "It is so stale" if seen.in_flight < 2 else "It is too stale"


def continuing(seen: Seen) -> Reply:
    """Goes on from the words it is given, as it would have said them."""
    begun = begun_by(seen) or ""
    if begun:
        assert (seen.body["continue_final_message"], seen.body["add_generation_prompt"]) == (True, False)
    return chat(whole(seen).removeprefix(begun))


def beginning_anew(seen: Seen) -> Reply:
    return chat(whole(seen) if begun_by(seen) is None else "Sure! It is so stale")


def refusing(seen: Seen) -> Reply:
    """Knows no field that asks to go on, and goes on from a last message by itself."""
    if named := [name for name in ("continue_final_message", "add_generation_prompt") if name in seen.body]:
        return reply({"error": {"message": f"Unrecognized request argument supplied: {named[0]}"}}, 400)
    return chat(whole(seen).removeprefix(begun_by(seen) or ""))


def untold(seen: Seen) -> Reply:
    return chat("It is stale" if seen.in_flight < 2 else "It was stale")


def probed(url: str, folder) -> str:
    return document(temp0("probe", url, *PLAN, *in_store(folder), "--json"))["run"]["id"]


def test_forks_are_looked_at_with_logprobs_alone_and_in_company(tmp_path):
    with serving(batched, delay_s=DELAY_S) as server:
        run = probed(server.url, tmp_path)
        asked = len(server.seen)
        found = document(temp0("explain", run, "-n", "4", *in_store(tmp_path), "--json"))
    (fork,) = found["forks"]
    alone, company = fork["looks"]
    assert found["run"] == run
    assert (fork["prefix"], fork["char"]) == ("It ", 3)
    assert (alone["condition"], alone["reached"], alone["margins"]["median"]) == (
        "alone, logprobs",
        4,
        pytest.approx(0.02),
    )
    assert company["condition"] == "company 4, logprobs"
    assert fork["moved"] == pytest.approx(0.05)
    assert "more than the lead" in fork["words"]
    assert all(seen.body["logprobs"] for seen in server.seen[asked:])
    assert [(one["char"], one["has_forked"]) for one in found["positions"]] == [(0, False), (2, True), (5, False)]


def test_the_second_pass_is_a_run_of_its_own_that_can_be_read_again_without_asking(tmp_path):
    with serving(batched, delay_s=DELAY_S) as server:
        run = probed(server.url, tmp_path)
        first = document(temp0("explain", run, "-n", "2", *in_store(tmp_path), "--json"))
        asked = len(server.seen)
        again = document(temp0("explain", run, "--with", first["second"], *in_store(tmp_path), "--json"))
        assert len(server.seen) == asked
    assert again == first
    assert document(temp0("show", run, *in_store(tmp_path), "--json"))["verdict"] == "diverged"


def test_without_logprobs_the_words_say_what_is_not_known(tmp_path):
    with serving(untold, delay_s=DELAY_S) as server:
        run = probed(server.url, tmp_path)
        found = temp0("explain", run, "-n", "4", *in_store(tmp_path))
    assert found.returncode == 0
    assert "How nearly tied the tokens are is not known: no tokens were told." in " ".join(found.stdout.split())


@pytest.mark.parametrize("answer", [continuing, refusing])
def test_an_answer_is_continued_from_just_before_its_fork(tmp_path, answer):
    with serving(answer, delay_s=DELAY_S) as server:
        run = probed(server.url, tmp_path)
        found = document(temp0("explain", run, "-n", "4", *in_store(tmp_path), "--json"))
    (fork,) = found["forks"]
    looks = {(look["condition"], look["way"]): look for look in fork["looks"]}
    alone, company = (looks[name, "continued"] for name in ("alone, logprobs", "company 4, logprobs"))
    ways = [branch["text"] for branch in fork["branches"]]
    assert (alone["reached"], alone["followed"][ways.index("so stale")]) == (4, 4)
    assert company["reached"] == 4
    assert company["followed"][ways.index("too stale")] > 0
    assert "did not go on" not in fork["words"]


def test_a_server_that_begins_another_answer_is_said_not_to_go_on(tmp_path):
    with serving(beginning_anew, delay_s=DELAY_S) as server:
        run = probed(server.url, tmp_path)
        found = document(temp0("explain", run, "-n", "4", *in_store(tmp_path), "--json"))
    (fork,) = found["forks"]
    anew = [look for look in fork["looks"] if look["way"] == "continued"]
    assert [(look["completions"], look["reached"], look["elsewhere"]) for look in anew] == [(4, 0, 0)] * 2
    assert "The endpoint did not go on from a given beginning" in fork["words"]
    assert all(look["reached"] == 4 for look in fork["looks"] if look["way"] == "asked again")


def refusing_prefill(seen: Seen) -> Reply:
    if begun_by(seen) is None:
        return chat(whole(seen))
    key = seen.headers["Authorization"]
    return reply({"error": {"message": f"This model does not support assistant message prefill ({key})."}}, 400)


def test_a_refusal_to_go_on_from_a_beginning_is_quoted_with_keys_redacted(tmp_path):
    keyed, environ = ("--key-env", "EXPLAIN_KEY"), {"EXPLAIN_KEY": "sk-very-secret-1234"}
    with serving(refusing_prefill, delay_s=DELAY_S) as server:
        temp0("probe", server.url, *PLAN, *keyed, *in_store(tmp_path), environ=environ)
        told = temp0("explain", "-n", "4", *keyed, *in_store(tmp_path), "--json", environ=environ)
    (fork,) = document(told)["forks"]
    refused = [look for look in fork["looks"] if look["way"] == "continued"]
    assert [(look["completions"], look["failures"][0]["count"]) for look in refused] == [(0, 4)] * 2
    quoted = "HTTP 400: This model does not support assistant message prefill (Bearer [key])."
    assert {look["failures"][0]["message"] for look in refused} == {quoted}
    assert {look["reason"] for look in refused} == {f"no answer came back: {quoted}"}
    assert quoted in fork["words"]
    assert "sk-very-secret" not in told.stdout + told.stderr


def test_a_server_that_is_gone_is_no_explanation(tmp_path):
    with serving(untold, delay_s=DELAY_S) as server:
        run = probed(server.url, tmp_path)
    gone = temp0("explain", run, *in_store(tmp_path), "--json")
    assert document(gone)["exit_code"] == 3
    assert "stopped early" in gone.stderr


def refusing_logprobs(seen: Seen) -> Reply:
    if seen.body.get("logprobs"):
        return reply({"error": {"message": "logprobs are not supported by this model"}}, 400)
    return whole_chat(seen)


def whole_chat(seen: Seen) -> Reply:
    return chat(whole(seen))


def test_an_endpoint_that_refuses_logprobs_is_quoted_and_can_be_asked_without(tmp_path):
    with serving(refusing_logprobs, delay_s=DELAY_S) as server:
        run = probed(server.url, tmp_path)
        refused = temp0("explain", run, "-n", "2", *in_store(tmp_path))
        without = temp0("explain", run, "-n", "2", "--logprobs", "off", *in_store(tmp_path), "--json")
    assert refused.returncode == 3
    assert "attempts failed; the first: http-400: HTTP 400: logprobs are not supported by this model" in refused.stderr
    assert "--logprobs off asks without them" in refused.stderr
    (fork,) = document(without)["forks"]
    assert [look["reached"] for look in fork["looks"] if look["way"] == "asked again"] == [2, 2]
    assert "failed" not in without.stderr


def test_last_is_the_run_and_not_its_second_pass(tmp_path):
    with serving(continuing, delay_s=DELAY_S) as server:
        run = probed(server.url, tmp_path)
        for _ in range(2):
            found = document(temp0("explain", "-n", "2", *in_store(tmp_path), "--json"))
            assert (found["run"], found["second"] == run) == (run, False)
        by_name = document(temp0("explain", found["second"], "-n", "2", *in_store(tmp_path), "--json"))
    assert by_name["exit_code"] == 0  # a second pass can be asked again, too


def test_ctrl_c_keeps_what_was_asked_and_says_how_to_see_it(tmp_path):
    with serving(whole_chat, delay_s=DELAY_S) as server:
        run = probed(server.url, tmp_path)
        server.delay_s, asked = 0.3, len(server.seen)
        with subprocess.Popen(
            command("explain", run, "-n", "50", *in_store(tmp_path), "--json"),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        ) as process:  # fmt: skip
            while len(server.seen) < asked + 3:
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            stdout, stderr = process.communicate(timeout=100)
        assert process.returncode == json.loads(stdout)["exit_code"]
        again = f"temp0 explain {run} --with {json.loads(stdout)['second']}"
        assert again in stderr
        assert "Traceback" not in stderr
        asked = len(server.seen)
        read = document(temp0(*again.split()[1:], *in_store(tmp_path), "--json"))
        assert len(server.seen) == asked
    assert read == json.loads(stdout)


def test_fields_of_the_users_own_are_sent_in_the_second_pass_too(tmp_path):
    with serving(untold, delay_s=DELAY_S) as server:
        temp0("probe", server.url, *PLAN, "--extra-json", '{"top_k": 1}', *in_store(tmp_path))
        asked = len(server.seen)
        temp0("explain", "-n", "2", *in_store(tmp_path))
    assert server.seen[asked:]
    assert all(seen.body["top_k"] == 1 for seen in server.seen)


def test_headers_of_the_users_own_are_asked_for_again_and_sent_again(tmp_path):
    with serving(untold, delay_s=DELAY_S) as server:
        temp0("probe", server.url, *PLAN, "--header", "X-Team: red", *in_store(tmp_path))
        asked = len(server.seen)
        without = temp0("explain", "-n", "2", *in_store(tmp_path))
        assert len(server.seen) == asked
        given = temp0("explain", "-n", "2", "--header", "X-Team: red", *in_store(tmp_path))
    assert without.returncode == 2
    assert "give again: x-team" in without.stderr
    assert given.returncode == 0
    assert all(seen.headers["X-Team"] == "red" for seen in server.seen[asked:])


def test_why_our_engine_is_not_followed_down_is_in_the_document_too(tmp_path):
    with serving(lambda _: chat("Always.", system_fingerprint="temp0-0123456789ab"), delay_s=DELAY_S) as server:
        run = probed(server.url, tmp_path)
        told = temp0("explain", run, "-n", "2", *in_store(tmp_path), "--json")
    found = document(told)
    assert "not followed down" in found["not_followed"]
    assert f"temp0: {found['not_followed']}" in told.stderr
    assert found["descents"] == []


def test_a_dry_run_sends_nothing_and_says_what_it_would_cost(tmp_path):
    with serving(untold, delay_s=DELAY_S) as server:
        run = probed(server.url, tmp_path)
        asked = len(server.seen)
        told = temp0("explain", run, "--dry-run", *in_store(tmp_path))
        assert len(server.seen) == asked
    assert "16 judged requests" in told.stdout
    assert "nothing was sent" in told.stdout


def test_a_run_without_forks_says_so(tmp_path):
    with serving(lambda _: chat("Always."), delay_s=DELAY_S) as server:
        run = probed(server.url, tmp_path)
        found = temp0("explain", run, "-n", "2", *in_store(tmp_path))
    assert found.returncode == 0
    assert "No answers fork in this run." in found.stdout


def test_an_unknown_run_is_a_usage_error(tmp_path):
    assert temp0("explain", "nosuch", *in_store(tmp_path)).returncode == 2


@pytest.mark.model
def test_a_run_of_the_built_in_engine_is_followed_to_the_bottom(tmp_path):
    prompt = ("--prompt", "Say hi.", "--max-tokens", "4", "--threads", "1", *in_store(tmp_path))
    temp0("probe", *prompt, "-n", "2", "--company", "1,2")
    found = document(temp0("explain", "-n", "1", "--threads", "1", *in_store(tmp_path), "--json"))
    (descent,) = found["descents"]
    assert descent["prompt"] == "Say hi."
    assert descent["arithmetic"] == "stock"
    assert len(descent["candidates"]) == 2
    assert descent["words"]
    invariant = temp0("probe", *prompt, "-n", "2", "--company", "1,2", "--arithmetic", "invariant")
    assert invariant.returncode in {0, 4}
    equal = document(temp0("explain", "-n", "1", "--threads", "1", *in_store(tmp_path), "--json"))
    assert equal["descents"][0]["origin"] is None


@pytest.mark.model
def test_another_model_than_the_address_names_is_refused(tmp_path):
    asked = temp0("probe", "builtin:OTHER?arithmetic=stock", "--prompt", "Hi", "-n", "1", *in_store(tmp_path), "--json")
    assert asked.returncode == 2
    assert "builtin:OTHER?arithmetic=stock names another model" in document(asked)["message"]


@pytest.mark.model
def test_a_served_engine_is_followed_to_the_bottom_from_what_it_read_in_each_dialect(tmp_path):
    with served_engine("--activations", "fp32") as url:
        text, chat = (followed_down(tmp_path, url, api) for api in ("openai-completions", "anthropic"))
    assert 0 < text < chat  # which has the template around it


def followed_down(folder, url: str, api: str) -> int:
    """How many tokens of prompt the descent began with: as many as the server says that it read."""
    plan = ("--prompt", "Say hi.", "--max-tokens", "4", "-n", "2", "--company", "1,2", "--api", api)
    run = document(temp0("probe", url, *plan, *in_store(folder), "--json"))["run"]
    found = document(temp0("explain", run["id"], "--with", run["id"], "--threads", "1", *in_store(folder), "--json"))
    (descent,) = found["descents"]
    assert (descent["prompt"], descent["arithmetic"]) == ("Say hi.", "stock")
    assert descent["prompt_tokens"] * run["requests"] == run["prompt_tokens"]["sum"]
    return descent["prompt_tokens"]
