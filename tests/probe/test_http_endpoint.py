"""An endpoint over HTTP: one request for one question, and every answer and fault as a value."""

import asyncio
import gzip
import json
import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import aiohttp
import pytest
from scripted_server import Play, ScriptedServer, http, in_pieces, never, question, recorded_http, then_close

from temp0.core.run import Address, Completion, Failure
from temp0.errors import EndpointError, UsageError
from temp0.probe.connection import REASON_OF_EXCEPTION, Connection
from temp0.probe.dialect import DIALECTS
from temp0.probe.dialect.reason import REASONS
from temp0.probe.endpoint import Answer
from temp0.probe.gauge import Gauge
from temp0.probe.http import HttpEndpoint
from temp0.probe.intake import LARGEST_BYTES
from temp0.probe.key import Key

T = TypeVar("T")
HELLO = '{"choices":[{"message":{"content":"hello"},"finish_reason":"stop"}]}'


def with_endpoint(
    url: str,
    act: Callable[[HttpEndpoint], Awaitable[T]],
    *,
    api: str = "openai-chat",
    key: str | None = None,
    timeout_s: float = 20,
) -> Awaitable[T]:
    async def go() -> T:
        dialect = DIALECTS[api]
        connection = Connection(
            url, key=Key(value=key) if key else None, headers=dialect.headers(key), timeout_s=timeout_s
        )
        endpoint = HttpEndpoint(
            address=Address(url=url, api=api, model="smol"),
            url=url,
            dialect=dialect,
            connection=connection,
            gauge=Gauge(connection, url),
        )
        try:
            return await act(endpoint)
        finally:
            await endpoint.close()

    return go()


def answer_to(script: bytes | Play, *, key: str | None = None, timeout_s: float = 20) -> Answer:
    async def go() -> Answer:
        async with ScriptedServer(script) as server:
            return await with_endpoint(server.url, lambda it: it.complete(question()), key=key, timeout_s=timeout_s)

    return asyncio.run(go())


def failure_of(script: bytes | Play, *, timeout_s: float = 20) -> Failure:
    outcome = answer_to(script, timeout_s=timeout_s).outcome
    assert isinstance(outcome, Failure), outcome
    return outcome


def completion_of(script: bytes | Play) -> Completion:
    outcome = answer_to(script).outcome
    assert isinstance(outcome, Completion), outcome
    return outcome


def test_the_request_on_the_wire_is_what_was_meant():
    async def go() -> ScriptedServer:
        async with ScriptedServer(http(HELLO)) as server:
            await with_endpoint(server.url + "/v1", lambda it: it.complete(question()), key="sk-12345678")
            return server

    (sent,) = asyncio.run(go()).received
    assert sent.line == "POST /v1/chat/completions HTTP/1.1"
    assert sent.headers["authorization"] == "Bearer sk-12345678"
    assert sent.headers["content-type"] == "application/json"
    assert json.loads(sent.body)["temperature"] == 0
    assert b'"temperature":0,' in sent.body


def test_a_recorded_answer_of_llama_cpp_is_read_with_its_headers():
    completion = completion_of(recorded_http("llama_chat_plain.http"))
    assert completion.text == "Hello there! I"
    assert completion.headers == (("server", "llama.cpp"),)


def test_a_recorded_answer_of_transformers_serve_is_read():
    completion = completion_of(recorded_http("tserve_chat.http"))
    assert (completion.text, completion.fingerprint) == ("I'm here", None)
    assert ("x-request-id", "184e44fd-3438-4f17-943c-8bcd2926358b") in completion.headers


def test_only_headers_that_matter_are_kept():
    told = (
        "CF-Cache-Status: HIT",
        "X-RateLimit-Remaining: 3",
        "Set-Cookie: a=b",
        "Authorization: x",
        "Cache-Control: no",
        "Date: y",
    )
    assert completion_of(http(HELLO, headers=told)).headers == (
        ("cf-cache-status", "HIT"),
        ("x-ratelimit-remaining", "3"),
    )


def test_a_header_of_foreign_bytes_is_written_as_escapes():
    (header,) = completion_of(http(HELLO, headers=()).replace(b"OK\r\n", b"OK\r\nServer: caf\xe9\r\n")).headers
    assert header[1].isprintable()


def test_an_answer_byte_by_byte_is_read_as_one():
    data = http(HELLO)
    assert completion_of(in_pieces(*(data[at : at + 1] for at in range(len(data))))).text == "hello"


def test_a_chunked_answer_cut_inside_a_character_is_read_as_one():
    body = HELLO.replace("hello", "你好😊").encode()
    chunks = b"".join(b"1\r\n" + body[at : at + 1] + b"\r\n" for at in range(len(body)))
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert completion_of(head + chunks + b"0\r\n\r\n").text == "你好😊"


def test_a_compressed_answer_is_decompressed():
    body = gzip.compress(HELLO.encode())
    assert completion_of(http(body, headers=("Content-Encoding: gzip",))).text == "hello"


def test_a_lone_surrogate_survives_the_wire():
    assert completion_of(http(HELLO.replace("hello", r"a\udcb2"))).text == "a\udcb2"


def test_the_first_byte_is_timed_also_where_the_rest_never_comes():
    assert answer_to(http(HELLO)).first_byte_s is not None
    cut = answer_to(then_close(http(HELLO, length=1000)))
    assert isinstance(cut.outcome, Failure)
    assert cut.first_byte_s is not None
    assert answer_to(never, timeout_s=0.05).first_byte_s is None
    assert answer_to(http("")).first_byte_s is None


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (then_close(b""), "cut"),
        (then_close(b"HTTP/1.1 200 OK\r\nContent-"), "cut"),
        (then_close(http(HELLO, length=1000)), "cut"),
        (then_close(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"), "cut"),
        (then_close(b"220 mail.example ESMTP\r\n\r\n"), "not-http"),
        (http(b"no gzip at all", headers=("Content-Encoding: gzip",)), "cut"),
        (never, "timeout"),
        (in_pieces(http(HELLO, length=1000)), "timeout"),
        (http("<html>\n<h1>Bad gateway</h1>"), "not-json"),
        (http(""), "not-json"),
        (http(b'{"a":"\xff"}'), "not-json"),
        (http("{" + '"a":' * 3 + "}"), "not-json"),
        (http(HELLO + HELLO), "not-json"),
        (http("[" * 200_000 + "]" * 200_000), "not-json"),
        (http('{"a":' + "9" * 5000 + "}"), "not-json"),
        (http(HELLO[:-1]), "truncated-json"),
        (http(HELLO[:-20]), "truncated-json"),
        (http(HELLO[:40]), "truncated-json"),
        (http('{"id":"x"}'), "no-choices"),
        (http('{"choices":[{"message":{"content":null}}]}'), "null-content"),
        (http("[]"), "malformed"),
        (http('{"error":{"message":"overloaded"}}'), "error-in-200"),
        (http("", "204 No Content"), "not-json"),
        (http("go away", "302 Found", headers=("Location: https://elsewhere.example/v1",)), "http-302"),
        (http('{"error":{"message":"bad key"}}', "401 Unauthorized"), "http-401"),
        (http("<html>slow down", "429 Too Many Requests", headers=("Retry-After: 7",)), "http-429"),
        (http("", "500 Internal Server Error"), "http-500"),
        (http(HELLO, "503 Service Unavailable"), "http-503"),
    ],
)
def test_every_fault_has_its_reason(script: bytes | Play, reason: str):
    failure = failure_of(script, timeout_s=0.3 if reason == "timeout" else 20)
    assert failure.reason == reason
    assert reason in REASONS or reason == f"http-{failure.status}"
    assert failure.message


def test_a_length_announced_too_short_is_a_failure():
    assert failure_of(http(HELLO, length=len(HELLO) - 5)).reason in {"truncated-json", "not-http"}


@pytest.mark.parametrize("cut", range(1, len(HELLO)))
def test_json_cut_anywhere_is_truncated_json(cut: int):
    assert failure_of(http(HELLO[:cut])).reason == "truncated-json"


def test_a_refusal_quotes_the_server():
    assert failure_of(recorded_http("llama_404.http")) == Failure(
        reason="http-404", message="HTTP 404: File Not Found", status=404
    )
    assert "Expected 'messages' to be an array" in failure_of(recorded_http("llama_error_badtype.http")).message
    assert failure_of(http('{"detail":"no such model"}', "400 Bad Request")).message == "HTTP 400: no such model"
    assert "(retry-after: 7)" in failure_of(http("", "429 Slow", headers=("Retry-After: 7",))).message


def test_html_is_quoted_on_one_line_up_to_200_characters():
    failure = failure_of(http("<html>\n  <title>502</title>\x1b[31m" + "x" * 1000))
    assert failure.message.startswith("not JSON: <html> <title>502</title>\\x1b[31mxxx")
    assert len(failure.message) < 230


def test_a_closed_port_is_refused():
    async def go() -> Answer:
        async with ScriptedServer(http(HELLO)) as server:
            url = server.url
        return await with_endpoint(url, lambda it: it.complete(question()))

    outcome = asyncio.run(go()).outcome
    assert isinstance(outcome, Failure)
    assert outcome.reason == "refused"


def test_https_to_a_plain_port_is_a_tls_failure():
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async def go() -> Answer:
        async with await asyncio.start_server(hang_up, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            return await with_endpoint(f"https://127.0.0.1:{port}", lambda it: it.complete(question()))

    outcome = asyncio.run(go()).outcome
    assert isinstance(outcome, Failure)
    assert outcome.reason == "tls"


def test_an_answer_larger_than_any_answer_is_given_up():
    async def flood(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        chunk = b"100000\r\n" + b" " * 2**20 + b"\r\n"
        for _ in range(LARGEST_BYTES // 2**20 + 2):
            writer.write(chunk)
            await writer.drain()

    assert failure_of(flood).reason == "too-large"


def test_nothing_is_sent_twice():
    async def go() -> ScriptedServer:
        async with ScriptedServer(http(HELLO), then_close(b"")) as server:
            outcomes = await with_endpoint(server.url, three)
            assert [type(outcome) for outcome in outcomes] == [Completion, Failure, Failure]
            return server

    async def three(endpoint: HttpEndpoint) -> list[Completion | Failure]:
        return [(await endpoint.complete(question())).outcome for _ in range(3)]

    assert len(asyncio.run(go()).received) == 3


def test_bytes_after_an_answer_never_become_the_next_answer():
    stray = http(HELLO.replace("hello", "stray"))

    async def two(endpoint: HttpEndpoint) -> list[Completion | Failure]:
        first = await endpoint.complete(question())
        await asyncio.sleep(0.05)
        return [first.outcome, (await endpoint.complete(question())).outcome]

    async def go() -> list[Completion | Failure]:
        async with ScriptedServer(http(HELLO) + stray) as server:
            return await with_endpoint(server.url, two)

    for outcome in asyncio.run(go()):
        assert isinstance(outcome, Failure) or outcome.text == "hello"


def test_a_cookie_is_not_carried_to_the_next_attempt():
    async def go() -> ScriptedServer:
        async with ScriptedServer(http(HELLO, headers=("Set-Cookie: replica=7",))) as server:
            await with_endpoint(server.url, twice)
            return server

    async def twice(endpoint: HttpEndpoint) -> None:
        await endpoint.complete(question())
        await endpoint.complete(question())

    assert all("cookie" not in sent.headers for sent in asyncio.run(go()).received)


def test_as_many_requests_are_in_flight_as_were_started():
    async def go() -> int:
        released = asyncio.Event()

        async def wait(writer: asyncio.StreamWriter) -> None:
            await released.wait()
            writer.write(http(HELLO))

        async def many(endpoint: HttpEndpoint) -> None:
            asking = asyncio.gather(*(endpoint.complete(question()) for _ in range(150)))
            async with asyncio.timeout(30):
                while len(server.received) < 150:
                    await asyncio.sleep(0.01)
            released.set()
            await asking

        async with ScriptedServer(wait) as server:
            await with_endpoint(server.url, many)
            return server.connections

    assert asyncio.run(go()) == 150


def test_what_the_dialect_cannot_say_is_refused_before_it_is_sent():
    async def go() -> None:
        async with ScriptedServer(http(HELLO)) as server:
            with pytest.raises(UsageError, match="anthropic has no logprobs"):
                await with_endpoint(server.url, lambda it: it.complete(question(logprobs=True)), api="anthropic")
            assert not server.received

    asyncio.run(go())


def test_every_exception_of_the_client_library_has_a_reason():
    kinds = [
        kind for kind in vars(aiohttp).values() if isinstance(kind, type) and issubclass(kind, aiohttp.ClientError)
    ]
    assert len(kinds) > 20
    for kind in [*kinds, ssl.SSLError, ConnectionResetError, TimeoutError]:
        assert any(issubclass(kind, known) for known, _ in REASON_OF_EXCEPTION), kind
    assert {reason for _, reason in REASON_OF_EXCEPTION} <= set(REASONS)


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (aiohttp.ClientSSLError, "tls"),
        (aiohttp.ClientConnectorCertificateError, "tls"),
        (ssl.SSLEOFError, "tls"),
        (aiohttp.ConnectionTimeoutError, "timeout-connect"),
        (aiohttp.SocketTimeoutError, "timeout"),
        (aiohttp.ClientProxyConnectionError, "proxy"),
        (aiohttp.ClientHttpProxyError, "proxy"),
        (aiohttp.ClientConnectorDNSError, "refused"),
        (aiohttp.ClientConnectionResetError, "cut"),
        (ConnectionResetError, "cut"),
        (aiohttp.ClientResponseError, "not-http"),
    ],
)
def test_a_special_exception_goes_before_its_general_kind(kind: type[Exception], reason: str):
    assert next(name for known, name in REASON_OF_EXCEPTION if issubclass(kind, known)) == reason


SECRET = "sk-secret/AbC-0123456789"
ESCAPED = "".join(f"\\u00{ord(letter):02X}" for letter in SECRET)
LISTED = [*SECRET.encode()]


def everywhere(spelling: str) -> list[bytes]:
    told = {"message": "SPELL", "content": "SPELL", "reasoning_content": "SPELL"}
    token = {"token": "SPELL", "bytes": LISTED, "logprob": -1.0}
    choice = {"message": told, "finish_reason": "SPELL", "logprobs": {"content": [{**token, "top_logprobs": [token]}]}}
    whole = {"choices": [choice], "id": "SPELL", "model": "SPELL", "system_fingerprint": "SPELL", "created": "SPELL"}
    only_others = {"content": [{"token": "hi", "logprob": -1.0, "top_logprobs": [token]}]}
    bodies = [
        json.dumps(whole),
        json.dumps({"choices": [{"message": {"content": "hi"}, "logprobs": only_others}]}),
        json.dumps({"error": {"message": "bad key SPELL"}}),
        json.dumps({"choices": "SPELL"}),
        json.dumps({"SPELL": 1}),
        json.dumps(whole)[:200],
        "x" * 190 + "SPELL",
        "SPELL",
    ]
    headers = (f"X-Request-Id: {SECRET}", f"Server: {SECRET}", f"Retry-After: {SECRET}", f"Location: {SECRET}")
    return [
        http(body.replace("SPELL", spelling), f"{status} {SECRET}", headers=headers)
        for body in bodies
        for status in (200, 401, 302)
    ]


@pytest.mark.parametrize("spelling", [SECRET, SECRET.replace("/", "\\/"), ESCAPED])
def test_a_key_echoed_everywhere_is_in_no_outcome(spelling: str):
    for script in everywhere(spelling):
        shown = repr(answer_to(script, key=SECRET))
        assert SECRET not in shown
        assert SECRET[:12] not in shown
        assert ESCAPED[:24] not in shown


def test_a_placeholder_key_leaves_the_text_alone():
    outcome = answer_to(http(HELLO.replace("hello", "an EMPTY cache")), key="EMPTY").outcome
    assert isinstance(outcome, Completion)
    assert outcome.text == "an EMPTY cache"
    refused = answer_to(http('{"error":"key EMPTY is wrong"}', "401 No"), key="EMPTY").outcome
    assert "EMPTY" not in repr(refused)


def test_a_proxy_of_the_environment_is_used_but_not_for_this_machine(monkeypatch: pytest.MonkeyPatch):
    async def go(url: str) -> tuple[Answer, list[str]]:
        async with ScriptedServer(http(HELLO)) as server:
            monkeypatch.setenv("http_proxy", server.url)
            monkeypatch.setenv("no_proxy", "")
            answer = await with_endpoint(url, lambda it: it.complete(question()))
            return answer, [sent.line for sent in server.received]

    answer, lines = asyncio.run(go("http://model.example/v1"))
    assert isinstance(answer.outcome, Completion)
    assert lines == ["POST http://model.example/v1/chat/completions HTTP/1.1"]
    assert asyncio.run(go("http://localhost:1/v1"))[1] == []


def test_a_netrc_entry_is_not_sent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    (tmp_path / "netrc").write_text("default login me password netrc-secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))

    async def go() -> ScriptedServer:
        async with ScriptedServer(http(HELLO)) as server:
            await with_endpoint(server.url, lambda it: it.complete(question()))
            return server

    assert "authorization" not in asyncio.run(go()).received[0].headers


def test_a_proxy_of_another_kind_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("all_proxy", "socks5://127.0.0.1:1080")
    for name in ("http_proxy", "HTTP_PROXY", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)

    async def go() -> None:
        Connection("http://model.example/v1")

    with pytest.raises(EndpointError, match="socks5"):
        asyncio.run(go())
