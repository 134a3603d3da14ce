"""`temp0 tax` as a user meets it: real processes, real HTTP."""

import json
import signal
import subprocess
import time
from typing import Any

import pytest
from command import command, document, temp0
from streaming_server import Streaming, streaming

QUICK = ("--in-flight", "1,4", "--rounds", "2", "--max-tokens", "6", "--ttft-tokens", "40", "--prompt", "Say hi.")
FAST_S, SLOW_S = 0.002, 0.02


def between(base: Streaming, invariant: Streaming, *more: str) -> subprocess.CompletedProcess[str]:
    return temp0("tax", "--url", base.url, "--url", invariant.url, *QUICK, *more)


def priced(base: Streaming, invariant: Streaming, *more: str) -> dict[str, Any]:
    return document(between(base, invariant, "--json", *more))


def test_a_slower_second_server_is_a_tax_and_a_faster_one_a_gain() -> None:
    with streaming(token_s=FAST_S) as fast, streaming(token_s=SLOW_S) as slow:
        costs, gains = priced(fast, slow), priced(slow, fast)
    assert [row["in_flight"] for row in costs["rows"]] == [1, 4]
    assert all(row["token_tax"] > 0 and row["throughput_tax"] > 0 for row in costs["rows"])
    assert all(row["token_tax"] < 0 and row["throughput_tax"] < 0 for row in gains["rows"])
    assert (costs["exit_code"], costs["finished"]) == (0, True)
    assert [side["url"] for side in costs["sides"]] == [fast.url, slow.url]


def test_both_servers_are_sent_the_same_greedy_questions_of_full_length() -> None:
    with streaming() as base, streaming() as invariant:
        found = priced(base, invariant)
    judged = [
        [(body["messages"][0]["content"], body["max_tokens"]) for body in server.bodies if body["max_tokens"] == 6]
        for server in (base, invariant)
    ]
    assert judged[0] == judged[1]
    assert len(judged[0]) == 2 * (1 + 4)
    assert all(body["temperature"] == 0 and body["ignore_eos"] and body["stream"] for body in base.bodies)
    assert found["ttft_prompt_tokens"] == {"asked": 40, "min": 40, "max": 40}
    assert (found["cache"], found["ignore_eos"]) == ("as-found", True)


def test_a_server_that_knows_no_ignore_eos_is_priced_without_it() -> None:
    with streaming(ends_after=4) as base, streaming(refuses=("ignore_eos",), ends_after=5) as invariant:
        found = priced(base, invariant)
    assert found["ignore_eos"] is False
    assert "ignore_eos" not in base.bodies[-1]
    assert [(row["tokens_stock"], row["tokens_invariant"]) for row in found["rows"]] == [(8, 10), (32, 40)]
    assert any("not the same work" in remark for remark in found["remarks"])
    assert any("ignore_eos was refused" in remark for remark in found["remarks"])


def test_without_usage_tokens_are_counted_and_called_an_estimate() -> None:
    with streaming(tells_usage=False, refuses=("stream_options",)) as base, streaming() as invariant:
        found = priced(base, invariant)
    assert found["rows"][0]["tokens_stock"] == 12
    assert any("estimate" in remark for remark in found["remarks"])


def test_a_server_that_dies_midway_leaves_the_rounds_before_it() -> None:
    with streaming(dies_after=12) as base, streaming() as invariant:
        call = between(base, invariant, "--rounds", "3")
    assert call.returncode == 4
    assert "A: the server closed the connection" in " ".join(call.stdout.split())
    assert "Tokens a second" in call.stdout


def test_servers_that_refuse_everything_leave_nothing_measured() -> None:
    with streaming(status=503) as base, streaming() as invariant:
        found = priced(base, invariant)
    assert (found["exit_code"], found["rows"]) == (3, [])
    assert found["failures"][0]["reason"] == "http-503"


def test_the_figures_are_on_standard_output_and_the_cost_is_not() -> None:
    with streaming(token_s=FAST_S) as base, streaming(token_s=SLOW_S) as invariant:
        call = between(base, invariant)
    assert call.returncode == 0
    assert call.stdout.startswith("Here B, against A, costs +")
    assert "cost: 2 rounds on 2 sides that take turns: 20 requests of 6 answer tokens each" in call.stderr
    assert "the first round took" in call.stderr
    assert "Traceback" not in call.stderr


def test_ctrl_c_shows_the_rounds_that_were_whole() -> None:
    with streaming(token_s=FAST_S) as base, streaming(token_s=FAST_S) as invariant:
        arguments = ("tax", "--url", base.url, "--url", invariant.url, *QUICK, "--rounds", "500", "--json")
        with subprocess.Popen(
            command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            while len(invariant.bodies) < 20:
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            stdout, stderr = process.communicate(timeout=60)
    found = json.loads(stdout)
    assert process.returncode == found["exit_code"] == 4
    assert found["finished"] is False
    assert 1 <= found["rows"][0]["rounds"] < 500
    assert "Traceback" not in stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--url", "http://127.0.0.1:9/v1"), "--url was given 1 times, expected twice"),
        (("--url", "http://a/v1", "--url", "http://b/v1", "--threads", "1"), "--threads is the built-in engine's"),
        (("--url", "http://a/v1", "--url", "http://b/v1", "--equal-bytes", "8"), "--equal-bytes is the built-in"),
        (("--model", "m"), "--model is for servers given by --url, twice"),
        (("--in-flight", "1,x"), "is not a list of whole numbers"),
        (("--in-flight", "1,2", "--equal-bytes", "8"), "8 in flight, which is not among those measured"),
        (("--equal-bytes", "8", "--no-equal-bytes"), "not both"),
        (("--url", "fake:", "--url", "fake:"), "no speed to price"),
        (("--url", "http://127.0.0.1:9/v1", "--url", "http://127.0.0.1:9/v1"), "no server answers"),
        (("--url", "http://127.0.0.1:9/v1", "--url", "http://127.0.0.1:9/v1", "--api", "anthropic", "--model", "m"),
         "speaks anthropic, and only openai-chat"),
        (("--weights", "/nowhere.gguf", "--in-flight", "1"), "/nowhere.gguf"),
    ],
)  # fmt: skip
def test_what_cannot_be_right_is_a_usage_error_that_says_so(arguments: tuple[str, ...], said: str) -> None:
    call = temp0("tax", *arguments, "--json")
    assert said in document(call)["message"]
    assert call.returncode == 2
    assert "Traceback" not in call.stderr


@pytest.mark.model
def test_the_built_in_engine_is_priced_against_itself() -> None:
    call = temp0(
        "tax", "--in-flight", "1,2", "--rounds", "1", "--max-tokens", "4", "--threads", "1", "--ttft-tokens", "64",
        "--json",
    )  # fmt: skip
    found = document(call)
    assert found["exit_code"] == 0, call.stderr
    kinds = [(row["in_flight"], row["weight_dtype_stock"], row["weight_dtype_invariant"]) for row in found["rows"]]
    assert kinds == [(1, "fp32", "bf16"), (2, "fp32", "bf16"), (2, "fp32", "fp32")]
    for row in found["rows"]:
        assert row["tokens_stock"] == row["tokens_invariant"] == row["requests"] * 4
        assert row["distinct_invariant"] == 5
        assert all(row[f"{name}_tax"] > -1 for name in ("throughput", "ttft", "token"))
    assert found["ttft_prompt_tokens"] == {"asked": 64, "min": 64, "max": 64}
    assert (found["cache"], found["threads"]) == ("off", 1)
