"""What connections do to an answer: none of it makes another text, and each fault has its own words."""

import asyncio
import gzip
import zlib
from pathlib import Path

import pytest
from scripted_server import Play, ScriptedServer, http, in_pieces, never, question, then_close

from temp0.core.run import Completion, Failure, Question
from temp0.probe.connection import Connection, Reply
from temp0.probe.dialect import DIALECTS
from temp0.probe.endpoint import Answer
from temp0.probe.intake import Intake
from temp0.probe.opening import open_endpoint

BODY = '{"choices":[{"message":{"content":"hello"},"finish_reason":"stop"}]}'
SSE = "Content-Type: text/event-stream"
EVENT = 'data: {"choices":[{"delta":{"content":"hello"},"finish_reason":null}]}\n\n'
FINISH = 'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n'
COUNT = 'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1}}\n\n'
DONE = "data: [DONE]\n\n"
STREAMED = question(stream=True)


def answer_to(script: bytes | Play, asked: Question | None = None, **options: float) -> Answer:
    async def go() -> Answer:
        async with ScriptedServer(script) as server:
            url = server.url + "/v1/chat/completions"
            endpoint = await open_endpoint(url, model="m", environ={}, **{"timeout_s": 20.0, **options})  # type: ignore[arg-type]
            try:
                return await endpoint.complete(asked or question())
            finally:
                await endpoint.close()

    return asyncio.run(go())


def text_of(script: bytes | Play, asked: Question | None = None, **options: float) -> str:
    outcome = answer_to(script, asked, **options).outcome
    assert isinstance(outcome, Completion), outcome
    return outcome.text


def failure_of(script: bytes | Play, asked: Question | None = None, **options: float) -> Failure:
    outcome = answer_to(script, asked, **options).outcome
    assert isinstance(outcome, Failure), outcome
    return outcome


def open_stream(*events: str) -> Play:
    """A stream that never ends."""
    data = "".join(events).encode()
    return in_pieces(f"HTTP/1.1 200 OK\r\n{SSE}\r\nTransfer-Encoding: chunked\r\n\r\n{len(data):x}\r\n".encode(), data)


def test_an_informational_answer_before_the_real_one_is_passed_over() -> None:
    assert text_of(b"HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n" + http(BODY)) == "hello"


def test_an_answer_of_http_1_0_ends_with_its_connection() -> None:
    assert text_of(then_close(b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n" + BODY.encode())) == "hello"


def test_several_cookies_and_a_very_long_header_do_no_harm() -> None:
    headers = ("Set-Cookie: a=1", "Set-Cookie: b=2", "Content-Security-Policy: " + "x" * 30_000)
    assert text_of(http(BODY, headers=headers)) == "hello"


@pytest.mark.parametrize("compress", [zlib.compress, gzip.compress])
def test_a_compressed_answer_that_breaks_off_is_cut(compress: object) -> None:
    data: bytes = compress(BODY.encode() * 50)  # type: ignore[operator]
    name = "gzip" if data[:2] == b"\x1f\x8b" else "deflate"
    broken = data[:10] + b"\xff\xff\xff\xff\xff" + data[15:]
    assert failure_of(http(broken, headers=(f"Content-Encoding: {name}",))).reason == "cut"


def test_a_compression_that_nobody_asked_for_is_a_failure_that_says_so() -> None:
    failure = failure_of(http(b"\x0b\x02\x80hi\x03", headers=("Content-Encoding: br",)))
    assert failure.reason in {"cut", "not-http"}
    assert failure.message


def test_an_answer_without_a_body_is_no_empty_text() -> None:
    assert failure_of(b"HTTP/1.1 204 No Content\r\n\r\n").reason == "not-json"


def test_a_redirect_is_told_and_not_followed() -> None:
    failure = failure_of(http("", "307 Temporary Redirect", headers=("Location: https://elsewhere.example/",)))
    assert (failure.reason, failure.status) == ("http-307", 307)
    assert "elsewhere.example" in failure.message


def test_a_server_that_says_close_with_every_hundredth_answer_costs_no_attempt() -> None:
    async def play(writer: asyncio.StreamWriter) -> None:
        nonlocal answered
        answered += 1
        is_last = answered % 100 == 0
        writer.write(http(BODY, headers=("Connection: close",) if is_last else ("Connection: keep-alive",)))
        await writer.drain()
        if is_last:
            writer.close()

    async def go() -> tuple[list[Answer], int]:
        async with ScriptedServer(play) as server:
            endpoint = await open_endpoint(server.url + "/v1/chat/completions", model="m", environ={})
            answers = [await endpoint.complete(question()) for _ in range(250)]
            await endpoint.close()
            return answers, server.connections

    answered = 0
    answers, connections = asyncio.run(go())
    assert all(isinstance(answer.outcome, Completion) for answer in answers)
    assert connections == 3


def test_a_folded_header_is_read_or_refused_and_never_another_text() -> None:
    head = b"HTTP/1.1 200 OK\r\nX-Long: a\r\n  b\r\nContent-Length: %d\r\n\r\n" % len(BODY)
    outcome = answer_to(head + BODY.encode()).outcome
    assert isinstance(outcome, Failure) or outcome.text == "hello"
    assert isinstance(outcome, Completion) or outcome.reason == "not-http"


def test_a_stream_that_is_never_ended_after_its_last_word_is_taken_as_it_is() -> None:
    assert text_of(open_stream(EVENT, FINISH, DONE), STREAMED) == "hello"


def test_a_count_that_comes_after_the_finish_is_still_read() -> None:
    outcome = answer_to(open_stream(EVENT, FINISH, COUNT, DONE), STREAMED).outcome
    assert isinstance(outcome, Completion)
    assert (outcome.usage.prompt, outcome.usage.completion) == (3, 1)


def test_a_stream_that_goes_on_after_its_last_word_is_left() -> None:
    async def play(writer: asyncio.StreamWriter) -> None:
        head = f"HTTP/1.1 200 OK\r\n{SSE}\r\nConnection: close\r\n\r\n"
        writer.write((head + EVENT + FINISH + DONE).encode())
        while not writer.is_closing():
            writer.write(b": still here\n\n")
            await writer.drain()
            await asyncio.sleep(0.01)

    assert text_of(play, STREAMED) == "hello"


def test_a_connection_that_is_never_made_has_its_own_words() -> None:
    async def go() -> Answer:
        # Accepting is left to the system, whose greeting a TLS client then waits for.
        async with ScriptedServer(never) as server:
            url = server.url.replace("http:", "https:") + "/v1/chat/completions"
            endpoint = await open_endpoint(url, model="m", connect_timeout_s=0.05, environ={})
            answer = await endpoint.complete(question())
            await endpoint.close()
            return answer

    outcome = asyncio.run(go()).outcome
    assert isinstance(outcome, Failure)
    assert (outcome.reason, outcome.message) == ("timeout-connect", "no connection within 0.05 s")


def test_an_answer_that_never_begins_has_its_own_words() -> None:
    failure = failure_of(never, first_byte_timeout_s=0.05)
    assert (failure.reason, failure.message) == ("timeout-first-byte", "nothing of an answer within 0.05 s")
    headers_only = in_pieces(f"HTTP/1.1 200 OK\r\n{SSE}\r\n\r\n".encode())
    assert failure_of(headers_only, STREAMED, first_byte_timeout_s=0.05).reason == "timeout-first-byte"


def test_a_first_byte_in_time_leaves_the_rest_all_the_time_there_is() -> None:
    async def play(writer: asyncio.StreamWriter) -> None:
        answer = http(BODY)
        writer.write(answer[:-10])
        await writer.drain()
        await asyncio.sleep(0.3)
        writer.write(answer[-10:])

    assert text_of(play, first_byte_timeout_s=0.2) == "hello"


def test_a_stream_that_stalls_says_how_much_came() -> None:
    failure = failure_of(open_stream(EVENT), STREAMED, timeout_s=0.2)
    assert failure.reason == "timeout"
    assert failure.message.startswith(f"no whole answer within 0.2 s; {len(EVENT)} bytes came, the last of them 0.")


def test_a_stream_is_not_gathered_but_read_as_it_comes() -> None:
    intake = Intake(DIALECTS["openai-chat"])
    intake.begin(200, "text/event-stream")
    for _ in range(1000):
        assert intake.take(EVENT.encode() * 10, 0.0)
    assert intake.take((FINISH + DONE).encode(), 0.0)
    assert (len(intake.data), intake.is_over) == (0, True)
    outcome = intake.streamed(())
    assert isinstance(outcome, Completion)
    assert outcome.text == "hello" * 10_000


@pytest.mark.parametrize("size", [1, 7, 100])
@pytest.mark.parametrize(
    "body", [EVENT + FINISH + DONE, BODY, "\ufeff " + EVENT + FINISH, " \r\n" + BODY, "<html>", ""]
)
@pytest.mark.parametrize("content_type", ["text/event-stream", "application/json", ""])
def test_how_a_body_was_cut_changes_nothing(size: int, body: str, content_type: str) -> None:
    def read(pieces: list[bytes]) -> tuple[object, bytes]:
        intake = Intake(DIALECTS["openai-chat"])
        intake.begin(200, content_type)
        for piece in pieces:
            assert intake.take(piece, 0.0)
        intake.end()
        return intake.streamed(()), bytes(intake.data)

    data = body.encode()
    assert read([data[at : at + size] for at in range(0, len(data), size)]) == read([data] if data else [])


def test_an_event_that_never_ends_is_given_up() -> None:
    intake = Intake(DIALECTS["openai-chat"])
    intake.begin(200, "text/event-stream")
    rooms = [intake.take(b"data: " + b"x" * 2**22, 0.0) for _ in range(20)]
    assert (rooms[0], rooms[-1]) == (True, False)


def test_a_stream_whose_text_has_no_end_is_given_up() -> None:
    chunk = ('data: {"choices":[{"delta":{"content":"' + "x" * 2**20 + '"}}]}\n\n').encode()
    intake = Intake(DIALECTS["openai-chat"])
    intake.begin(200, "text/event-stream")
    rooms = []
    while (not rooms or rooms[-1]) and len(rooms) < 200:
        rooms.append(intake.take(chunk, 0.0))
    assert 64 <= len(rooms) <= 130


def test_a_certificate_of_ones_own_is_trusted_where_the_environment_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import ssl

    import trustme

    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(http(BODY))
        await writer.drain()

    async def go() -> Reply | Answer:
        server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
        url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        connection = Connection(url, timeout_s=20)
        reply = await connection.exchange("GET", url)
        await connection.close()
        server.close()
        return reply

    for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
    refused = asyncio.run(go())
    assert isinstance(refused, Answer)
    assert getattr(refused.outcome, "reason", None) == "tls"
    for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        monkeypatch.setenv(name, str(tmp_path / "ca.pem"))
        reply = asyncio.run(go())
        assert isinstance(reply, Reply)
        assert reply.body == BODY.encode()
        monkeypatch.delenv(name)
