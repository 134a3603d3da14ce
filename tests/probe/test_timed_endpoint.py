"""Streamed answers over HTTP: what is sent, what is refused, and every fault of the way as a failure."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest
from scripted_server import Play, ScriptedServer, http, never, question, then_close

from temp0.core.run import Failure
from temp0.errors import EndpointError, UsageError
from temp0.probe.streamed_chat import StreamedAnswer
from temp0.probe.timed_endpoint import Extras, TimedEndpoint, open_timed_endpoint

T = TypeVar("T")
STREAM = http(
    'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":null}]}\n\n'
    'data: {"choices":[{"delta":{},"finish_reason":"length"}]}\n\ndata: [DONE]\n\n',
    headers=("Content-Type: text/event-stream",),
)


def with_server(
    *answers: bytes | Play,
    act: Callable[[TimedEndpoint, ScriptedServer], Awaitable[T]],
    timeout_s: float = 20,
    key: str | None = None,
) -> T:
    async def go() -> T:
        async with ScriptedServer(*answers) as server:
            environ = {} if key is None else {"OPENAI_API_KEY": key}
            endpoint = await open_timed_endpoint(server.url, model="m", timeout_s=timeout_s, environ=environ)
            try:
                return await act(endpoint, server)
            finally:
                await endpoint.close()

    return asyncio.run(go())


def asked(*answers: bytes | Play, timeout_s: float = 20, key: str | None = None) -> object:
    return with_server(*answers, act=lambda it, _: it.ask(question(), Extras()), timeout_s=timeout_s, key=key)


def failed(*answers: bytes | Play, timeout_s: float = 20, key: str | None = None) -> Failure:
    found = asked(*answers, timeout_s=timeout_s, key=key)
    assert isinstance(found, Failure), found
    return found


def opened(url: str, **given: str) -> None:
    async def go() -> None:
        await (await open_timed_endpoint(url, model="m", environ={}, **given)).close()  # type: ignore[arg-type]

    asyncio.run(go())


def test_a_streamed_answer_is_read_with_its_times() -> None:
    found = asked(STREAM)
    assert isinstance(found, StreamedAnswer)
    assert found.text == "Hi"
    assert 0 < found.first_s <= found.last_s


def test_a_question_is_greedy_streamed_and_asks_for_counts_and_full_length() -> None:
    async def act(endpoint: TimedEndpoint, server: ScriptedServer) -> tuple[dict[str, object], str]:
        await endpoint.ask(question(max_tokens=4), Extras())
        return json.loads(server.received[-1].body), server.received[-1].line

    body, line = with_server(STREAM, act=act)
    assert line.startswith("POST /v1/chat/completions ")
    assert (body["temperature"], body["stream"], body["max_tokens"], body["model"]) == (0, True, 4, "m")
    assert body["ignore_eos"] is True
    assert body["stream_options"] == {"include_usage": True}


def test_what_is_left_out_is_not_sent() -> None:
    async def act(endpoint: TimedEndpoint, server: ScriptedServer) -> dict[str, object]:
        await endpoint.ask(question(), Extras(ignore_eos=False, stream_options=False))
        sent: dict[str, object] = json.loads(server.received[-1].body)
        return sent

    assert {"ignore_eos", "stream_options"} & with_server(STREAM, act=act).keys() == set()


def test_a_refusal_that_names_a_field_says_what_is_left() -> None:
    extras = Extras()
    named = failed(http('{"error":{"message":"Unrecognized request argument: ignore_eos"}}', "400 Bad Request"))
    assert extras.without(named) == Extras(ignore_eos=False)
    listed = failed(http('{"detail":[{"loc":["body","stream_options"],"msg":"no"}]}', "422 Unprocessable Entity"))
    assert extras.without(listed) == Extras(stream_options=False)


def test_a_refusal_for_another_reason_leaves_nothing_to_try() -> None:
    assert Extras().without(failed(http('{"error":"model not loaded"}', "400 Bad Request"))) is None
    assert Extras().without(failed(http('{"error":"ignore_eos"}', "500 Internal Server Error"))) is None
    assert Extras(ignore_eos=False).without(failed(http('{"error":"ignore_eos"}', "400 Bad Request"))) is None


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (http("slow down", "429 Too Many Requests"), "http-429"),
        (then_close(b""), "cut"),
        (then_close(http(b"data: {", length=500)), "cut"),
        (http('{"choices":[{"message":{"content":"whole"}}]}'), "malformed"),
        (http('data: {"error":{"message":"no"}}\n\n'), "error-in-200"),
        (then_close(b"nonsense\r\n\r\n"), "not-http"),
    ],
)
def test_a_fault_of_the_way_is_a_failure(script: bytes | Play, reason: str) -> None:
    assert failed(script).reason == reason


def test_silence_is_a_time_out() -> None:
    assert failed(never, timeout_s=0.2).reason == "timeout"


def test_a_key_goes_out_and_never_comes_back() -> None:
    key = "sk-secret-0123456789"

    async def act(endpoint: TimedEndpoint, server: ScriptedServer) -> tuple[str, object]:
        found = await endpoint.ask(question(), Extras())
        return server.received[-1].headers["authorization"], found

    sent, found = with_server(http(f"bad key {key}", "401 Unauthorized"), act=act, key=key)
    assert sent == f"Bearer {key}"
    assert isinstance(found, Failure)
    assert key not in found.message


def test_after_a_lost_connection_each_is_used_once() -> None:
    async def act(endpoint: TimedEndpoint, _: ScriptedServer) -> list[object]:
        return [await endpoint.ask(question(), Extras()) for _ in range(3)]

    first, lost, again = with_server(STREAM, then_close(b""), STREAM, act=act)
    assert isinstance(first, StreamedAnswer)
    assert isinstance(lost, Failure)
    assert isinstance(again, StreamedAnswer)


def test_a_simulated_endpoint_has_no_price() -> None:
    with pytest.raises(EndpointError, match="no speed to price"):
        opened("fake:")


def test_another_dialect_is_refused_by_name() -> None:
    with pytest.raises(EndpointError, match="speaks anthropic, and only openai-chat"):
        opened("https://api.anthropic.com")


def test_a_missing_key_is_said_before_anything_is_sent() -> None:
    with pytest.raises(UsageError, match="NO_SUCH_KEY is not set"):
        opened("http://127.0.0.1:9/v1", key_env="NO_SUCH_KEY")
