from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request

import pytest
from click.testing import CliRunner
from served_model import KEY, serve_process, served_model

from temp0.cli.serve import serve

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
    ):
        assert word in text
    assert "exit-with-stdin" not in text


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


@pytest.mark.model
def test_a_taken_port_is_one_message_and_exit_2():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with serve_process("--port", str(port)) as process:
            out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, "")
    assert str(port) in err
    assert "Traceback" not in err


@pytest.mark.model
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_cleanly_after_one_line(number):
    with served_model() as served:
        served.process.send_signal(number)
        out, err = served.process.communicate(timeout=60)
    assert (served.process.returncode, out) == (0, "")
    assert "Traceback" not in err


@pytest.mark.model
def test_a_signal_in_mid_stream_ends_it_too():
    with served_model() as served:
        body = {"model": served.model, "messages": [{"role": "user", "content": "Hi"}], "stream": True}
        request = urllib.request.Request(
            f"{served.url}/chat/completions",
            data=json.dumps(body | {"max_tokens": 900, "ignore_eos": True}).encode(),
            headers={"Authorization": f"Bearer {KEY}"},
        )
        with urllib.request.urlopen(request, timeout=60) as response:
            assert response.readline().startswith(b"data: {")
            served.process.send_signal(signal.SIGTERM)
            _, err = served.process.communicate(timeout=60)
    assert served.process.returncode == 0
    assert "Traceback" not in err


@pytest.mark.model
def test_it_ends_when_its_standard_input_does():
    with served_model() as served:
        served.process.stdin.close()
        assert served.process.wait(timeout=60) == 0


@pytest.mark.model
def test_it_outlives_no_parent_that_was_killed():
    code = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-m', 'temp0', 'serve', '--port', '0', '--exit-with-stdin'],"
        " stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True)\n"
        "print(child.pid, child.stdout.readline(), flush=True)\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        pid, line = parent.stdout.readline().split(" ", 1)
        assert "listening" in line
        descriptor = os.pidfd_open(int(pid))
        parent.kill()
    import select

    ended, _, _ = select.select([descriptor], [], [], 60)
    os.close(descriptor)
    assert ended


@pytest.mark.model
def test_a_host_that_others_reach_is_warned_about_unless_a_key_is_set():
    with serve_process("--port", "0", "--host", "0.0.0.0") as process:
        assert "listening on http://0.0.0.0:" in process.stdout.readline()
        process.stdin.close()
        assert "warning" in process.stderr.read()


@pytest.mark.model
def test_the_key_from_the_environment_is_asked_for():
    with served_model() as served:
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"{served.url}/models", timeout=60)
        body = refused.value.read()
        refused.value.close()
        assert (refused.value.code, KEY.encode() in body) == (401, False)
