"""The server's own running count, from pages of real and of uncooperative servers."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted_server import BODIES, Play, Received, ScriptedServer, http, never, then_close

from temp0.probe.connection import Connection
from temp0.probe.gauge import Gauge, running_count


def counts(*answers: bytes | Play, timeout_s: float = 20) -> tuple[list[float | None], ScriptedServer]:
    async def go() -> tuple[list[float | None], ScriptedServer]:
        async with ScriptedServer(*answers) as server:
            connection = Connection(server.url)
            asked = Gauge(connection, server.url + "/v1", timeout_s=timeout_s)
            told = [await asked.running() for _ in range(3)]
            await connection.close()
            return told, server

    return asyncio.run(go())


def page(text: str) -> bytes:
    return http(text, headers=("Content-Type: text/plain",))


def test_a_recorded_page_of_llama_cpp_tells_its_count():
    assert running_count((BODIES / "llama_metrics.txt").read_bytes()) == 0.0


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("vllm:num_requests_running 2", 2),
        ('vllm:num_requests_running{engine="0",model_name="a"} 2.0\nvllm:num_requests_running{engine="1"} 3.0\n', 5),
        ('sglang:num_running_reqs{model_name="x } y \\" z"} 7.0\n', 7),
        ("# HELP temp0_requests_running Now.\n# TYPE temp0_requests_running gauge\ntemp0_requests_running 4\n", 4),
        ("llamacpp:requests_processing 1 1700000000000\n", 1),
        ("vllm:num_requests_running 1e1\n", 10),
        ("vllm:num_requests_waiting 9\n", None),
        ("my_vllm:num_requests_running 9\n", None),
        ("vllm:num_requests_running_total 9\n", None),
        ("vllm:num_requests_running NaN\n", None),
        ("vllm:num_requests_running +Inf\n", None),
        ("vllm:num_requests_running -1\n", None),
        ("vllm:num_requests_running many\n", None),
        ("", None),
    ],
)
def test_a_count_is_summed_over_label_sets_or_unknown(text: str, count: float | None):
    assert running_count(text.encode()) == count


@settings(deadline=None)
@given(st.binary(max_size=60), st.text(max_size=20))
def test_any_page_is_read_without_an_exception(tail: bytes, value: str):
    named = b"vllm:num_requests_running"
    for metrics in (tail, named + tail, named + b" " + value.encode("utf-8", "surrogatepass")):
        count = running_count(metrics)
        assert count is None or count >= 0


def test_the_count_is_asked_at_the_root_again_and_again():
    told, server = counts(page("temp0_requests_running 1\n"), page("temp0_requests_running 8\n"))
    assert told == [1, 8, 8]
    assert {sent.line for sent in server.received} == {"GET /metrics HTTP/1.1"}


@pytest.mark.parametrize(
    "first",
    [http("no", "404 Not Found"), http("no", "401 No"), page("<html>"), page("python_info 1\n")],
)
def test_a_server_that_does_not_tell_is_asked_only_once(first: bytes | Play):
    told, server = counts(first, page("temp0_requests_running 1\n"))
    assert told == [None, None, None]
    assert len(server.received) == 1


def test_a_server_that_hangs_up_is_given_up():
    told, server = counts(then_close(b""), then_close(b""), page("temp0_requests_running 1\n"))
    assert told == [None, None, None]
    assert len(server.received) == 2  # the client library repeats a GET once


def test_a_server_that_never_answers_is_asked_only_once():
    told, server = counts(never, timeout_s=0.05)
    assert told == [None, None, None]
    assert len(server.received) == 1


def test_ollama_tells_no_count_and_is_not_asked_again():
    """Its `/api/ps` lists the models in memory and not the requests that run: it holds no count."""
    told, server = counts(http("404 page not found", "404 Not Found", headers=("Content-Type: text/plain",)))
    assert told == [None, None, None]
    assert [sent.line for sent in server.received] == ["GET /metrics HTTP/1.1"]


def test_a_server_that_has_told_may_miss_once():
    told, _ = counts(page("temp0_requests_running 1\n"), http("busy", "503 No"), page("temp0_requests_running 2\n"))
    assert told == [1, None, 2]


def test_a_hosted_api_is_never_asked(monkeypatch: pytest.MonkeyPatch):
    async def go() -> list[Received]:
        async with ScriptedServer(page("temp0_requests_running 1\n")) as server:
            monkeypatch.setenv("http_proxy", server.url)
            monkeypatch.setenv("no_proxy", "")
            hosted = ("api.openai.com", "openrouter.ai", "mine.openai.azure.com")
            for host, told in (("model.example", 1), *((host, None) for host in hosted)):
                connection = Connection(f"http://{host}")
                assert await Gauge(connection, f"http://{host}/v1").running() == told
                await connection.close()
            return server.received

    assert [sent.line for sent in asyncio.run(go())] == ["GET http://model.example/metrics HTTP/1.1"]
