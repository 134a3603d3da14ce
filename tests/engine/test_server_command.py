from __future__ import annotations

import asyncio
import inspect
import json
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request

import aiohttp
import pytest
from click.testing import CliRunner
from served_model import KEY, serve_process, served_model
from tiny_gguf import write_gguf

from temp0.cli.serve import serve
from temp0.engine import Engine

LONG = 20_000


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """Options that serve a model of a few thousand weights, which can be asked for very long answers."""
    path = write_gguf(tmp_path_factory.mktemp("tiny") / "tiny.gguf", metadata={"llama.context_length": LONG + 1000})
    return ("--weights", str(path), "--kv-tokens", str(2 * LONG))


HEAVY = ("numpy", "aiohttp", "tokenizers", "asyncio")


def test_help_loads_nothing_heavy_and_teaches():
    code = f"import sys, temp0.cli.serve; print([name for name in {HEAVY} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"
    text = CliRunner().invoke(serve, ["--help"]).output
    for word in (
        "/v1/chat/completions",
        "/v1/messages",
        "/metrics",
        "--key-env",
        "greedy",
        "8020",
        "OPENAI_BASE_URL=",
        "/reset_prefix_cache",
        "cache_prompt",
    ):
        assert word in text
    assert "exit-with-stdin" not in text


def test_the_limits_that_help_shows_are_those_of_the_engine():
    shown = {option.name: option.default for option in serve.params}
    engine = {name: parameter.default for name, parameter in inspect.signature(Engine).parameters.items()}
    for name in ("kv_tokens", "max_running", "chunk_tokens", "queue", "prefix_cache"):
        assert shown[name] == engine[name]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--chunk-tokens", "300", "--kv-tokens", "256"), "chunk_tokens is 300, more than the 256"),
        (("--kv-tokens", "15"), "kv_tokens is 15, expected at least 16"),
        (("--weight-dtype", "bf16"), "weight_dtype is 'bf16', expected 'fp32' with stock"),
    ],
)
def test_what_can_never_work_is_refused_at_start(options, said, tmp_path):
    path = write_gguf(tmp_path / "tiny.gguf")
    with serve_process("--port", "0", "--weights", str(path), *options) as process:
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, "")
    assert said in err
    assert "Traceback" not in err


def test_a_key_variable_that_is_not_set_is_a_usage_error(tmp_path):
    with serve_process("--key-env", "TEMP0_NO_SUCH_VARIABLE") as process:
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, "")
    assert "TEMP0_NO_SUCH_VARIABLE" in err
    assert "Traceback" not in err


def test_absent_weights_are_one_message_and_exit_2(tmp_path):
    with serve_process("--port", "0", "--weights", str(tmp_path / "absent.gguf")) as process:
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, "")
    assert "absent.gguf" in err
    assert "Traceback" not in err


def test_a_taken_port_is_one_message_and_exit_2(tiny):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with serve_process("--port", str(port), *tiny) as process:
            out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, "")
    assert str(port) in err
    assert "Traceback" not in err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_cleanly_after_one_line(number, tiny):
    with served_model(*tiny) as served:
        served.process.send_signal(number)
        out, err = served.process.communicate(timeout=60)
    assert (served.process.returncode, out) == (0, "")
    assert "Traceback" not in err


def test_a_signal_in_mid_stream_ends_it_too(tiny):
    with served_model(*tiny) as served:
        body = {"model": served.model, "messages": [{"role": "user", "content": "Hi"}], "stream": True}
        request = urllib.request.Request(
            f"{served.url}/chat/completions",
            data=json.dumps(body | {"max_tokens": LONG, "ignore_eos": True}).encode(),
            headers={"Authorization": f"Bearer {KEY}"},
        )
        with urllib.request.urlopen(request, timeout=60) as response:
            assert response.readline().startswith(b"data: {")
            served.process.send_signal(signal.SIGTERM)
            _, err = served.process.communicate(timeout=60)
    assert served.process.returncode == 0
    assert "Traceback" not in err


def test_it_ends_when_its_standard_input_does(tiny):
    with served_model(*tiny) as served:
        served.process.stdin.close()
        assert served.process.wait(timeout=60) == 0


def test_it_outlives_no_parent_that_was_killed(tiny):
    code = (
        "import subprocess, sys, time\n"
        "command = [sys.executable, '-m', 'temp0', 'serve', '--port', '0', '--exit-with-stdin', *sys.argv[1:]]\n"
        "pipe = subprocess.PIPE\n"
        "child = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, start_new_session=True)\n"
        "print(child.stdout.readline(), flush=True)\n"
        "time.sleep(600)\n"
    )
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", code, *tiny], stdout=pipe, stderr=pipe, text=True) as parent:
        assert "listening" in parent.stdout.readline()
        parent.kill()
        parent.communicate(timeout=60)  # the error stream, which the server inherited, ends only when the server does


def test_a_host_that_others_reach_is_warned_about_unless_a_key_is_set(tiny):
    with serve_process("--port", "0", "--host", "0.0.0.0", *tiny) as process:
        assert "listening on http://0.0.0.0:" in process.stdout.readline()
        process.stdin.close()
        assert "warning" in process.stderr.read()


def test_the_key_from_the_environment_is_asked_for(tiny):
    with served_model(*tiny) as served:
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"{served.url}/models", timeout=60)
        with refused.value as answer:
            assert (answer.code, KEY.encode() in answer.read()) == (401, False)


def test_a_full_queue_refuses_and_keeps_answering_the_others(tiny):
    async def crowd(url, model):
        body = {"model": model, "messages": [{"role": "user", "content": "hi"}], "max_tokens": 500, "ignore_eos": True}
        headers = {"Authorization": f"Bearer {KEY}"}

        async def ask(session):
            async with session.post(f"{url}/chat/completions", json=body, headers=headers) as response:
                return response.status, response.headers.get("Retry-After"), await response.json()

        async with aiohttp.ClientSession() as session:
            return await asyncio.gather(*(ask(session) for _ in range(10)))

    with served_model("--max-running", "1", "--queue", "1", *tiny) as served:
        outcomes = asyncio.run(crowd(served.url, served.model))
    refused = [outcome for outcome in outcomes if outcome[0] == 429]
    answered = [body for status, _, body in outcomes if status == 200]
    assert refused
    assert {retry_after for _, retry_after, _ in refused} == {"1"}
    assert answered
    assert {body["usage"]["completion_tokens"] for body in answered} == {500}
    assert len(refused) + len(answered) == 10
