"""Streamed answers over HTTP: read as what they are, whatever was asked for and however the connection behaves."""

import asyncio
import gzip
import json
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest
from scripted_server import BODIES, Play, ScriptedServer, http, in_pieces, question, then_close

from temp0.core.run import Address, Completion, Failure, Question, Usage
from temp0.probe.connection import Connection
from temp0.probe.dialect import DIALECTS
from temp0.probe.endpoint import Answer
from temp0.probe.gauge import Gauge
from temp0.probe.http import HttpEndpoint
from temp0.probe.key import Key

T = TypeVar("T")
ASKED = question(stream=True)
STREAM = ("Content-Type: text/event-stream",)
WHOLE = '{"id":"c","choices":[{"message":{"content":"hi é"},"finish_reason":"stop"}]}'


def chunk(content: str | None = None, finish: str | None = None) -> str:
    delta = {} if content is None else {"content": content}
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return f"data: {json.dumps({'id': 'c', 'choices': [choice]}, ensure_ascii=False)}\n\n"


HI = chunk("hi") + chunk(" é") + chunk(finish="stop") + "data: [DONE]\n\n"
NOT_KNOWN = http('{"error":{"message":"Unknown parameter: \'stream_options\'."}}', "400 Bad Request")


def chunked(body: str, *, ends: bool = True) -> bytes:
    """The body as a stream is really sent, each event a chunk of its own."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    events = [event.encode() for event in body.split("\n\n") if event]
    chunks = [b"%x\r\n%s\n\n\r\n" % (len(event) + 2, event) for event in events]
    return head + b"".join(chunks) + (b"0\r\n\r\n" if ends else b"")


def unframed(body: str) -> Play:
    """A body whose end is the end of the connection."""
    return then_close(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" + body.encode()
    )


def with_endpoint(
    *answers: bytes | Play,
    act: Callable[[HttpEndpoint, ScriptedServer], Awaitable[T]],
    api: str = "openai-chat",
    key: str | None = None,
    timeout_s: float = 20,
    clock: Callable[[], float] = time.perf_counter,
) -> T:
    async def go() -> T:
        async with ScriptedServer(*answers) as server:
            connection = Connection(server.url, key=Key(value=key) if key else None, timeout_s=timeout_s, clock=clock)
            endpoint = HttpEndpoint(
                address=Address(url=server.url, api=api, model="smol"),
                url=server.url,
                dialect=DIALECTS[api],
                connection=connection,
                gauge=Gauge(connection, server.url),
            )
            try:
                return await act(endpoint, server)
            finally:
                await endpoint.close()

    return asyncio.run(go())


def answer_to(
    script: bytes | Play,
    asked: Question = ASKED,
    *,
    api: str = "openai-chat",
    key: str | None = None,
    timeout_s: float = 20,
) -> Answer:
    return with_endpoint(script, act=lambda it, _: it.complete(asked), api=api, key=key, timeout_s=timeout_s)


def completion_of(script: bytes | Play, asked: Question = ASKED, *, api: str = "openai-chat") -> Completion:
    outcome = answer_to(script, asked, api=api).outcome
    assert isinstance(outcome, Completion), outcome
    return outcome


def failure_of(script: bytes | Play, asked: Question = ASKED, *, timeout_s: float = 20) -> Failure:
    outcome = answer_to(script, asked, timeout_s=timeout_s).outcome
    assert isinstance(outcome, Failure), outcome
    return outcome


def test_streamed_or_whole_the_same_answer_is_the_same_record() -> None:
    streamed = completion_of(chunked(HI))
    assert streamed.text == "hi é"
    assert streamed == completion_of(http(WHOLE), question())


def test_a_question_asked_streamed_says_so_and_asks_for_counts() -> None:
    async def act(endpoint: HttpEndpoint, server: ScriptedServer) -> list[dict[str, object]]:
        await endpoint.complete(ASKED)
        await endpoint.complete(question())
        return [json.loads(sent.body) for sent in server.received]

    streamed, plain = with_endpoint(chunked(HI), act=act)
    assert (streamed["stream"], streamed["stream_options"]) == (True, {"include_usage": True})
    assert plain["stream"] is False
    assert "stream_options" not in plain


@pytest.mark.parametrize(
    ("name", "api", "text"),
    [
        ("llama_chat_stream_logprobs_usage.sse", "openai-chat", "Hello there!"),
        ("llama_messages_stream.sse", "anthropic", "Hello there!"),
        ("tserve_chat_stream.http", "openai-chat", "I'm here"),
    ],
)
def test_a_recorded_stream_of_a_real_server_is_read(name: str, api: str, text: str) -> None:
    body = (BODIES / name).read_text(encoding="utf-8").rpartition("\r\n\r\n")[2]
    assert completion_of(chunked(body), api=api).text == text
    assert completion_of(unframed(body), api=api).text == text


def test_a_stream_byte_by_byte_is_read_as_one() -> None:
    data = chunked(HI.replace("é", "你好\U0001f60a\u2028"))
    pieces = in_pieces(*(data[at : at + 1] for at in range(len(data))))
    assert completion_of(pieces).text == completion_of(data).text == "hi 你好\U0001f60a\u2028"


def test_a_stream_is_known_by_its_beginning_whatever_it_is_called() -> None:
    for said in (HI, "\ufeff" + HI, ": processing\n\n" + HI, "\r\n\r\n" + HI.replace("\n", "\r\n"), "id: 1\n" + HI):
        for called in ((), ("Content-Type: application/json",), ("Content-Type: text/plain",), STREAM):
            assert completion_of(http(said, headers=called)).text == "hi é"


def test_a_stream_that_begins_with_a_field_of_others_is_known_by_what_it_is_called() -> None:
    assert (
        completion_of(http("foo: bar\n" + HI, headers=("Content-Type: Text/Event-Stream; charset=latin-1",))).text
        == "hi é"
    )


def test_a_compressed_stream_is_decompressed() -> None:
    body = gzip.compress(HI.encode())
    assert completion_of(http(body, headers=(*STREAM, "Content-Encoding: gzip"))).text == "hi é"


def test_a_whole_answer_to_a_streamed_question_is_that_answer_and_says_that_it_was_whole() -> None:
    found = completion_of(http(WHOLE, headers=("Content-Type: application/json", "Server: s")))
    assert found.text == "hi é"
    assert found.headers == (("content-type", "application/json"), ("server", "s"))
    assert completion_of(http(WHOLE, headers=STREAM)).text == "hi é"


def test_a_streamed_answer_that_nobody_asked_for_is_that_answer_and_says_that_it_was_streamed() -> None:
    found = completion_of(chunked(HI), question())
    assert found.text == "hi é"
    assert found.headers == (("content-type", "text/event-stream"),)


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (chunked(chunk("hi")), "cut"),
        (unframed(chunk("hi")), "cut"),
        (unframed(chunk("hi") + chunk(finish="stop")[:-1]), "cut"),
        (then_close(chunked(chunk("hi"), ends=False)), "cut"),
        (http("", headers=STREAM), "cut"),
        (http(": processing\n\n", headers=STREAM), "cut"),
        (chunked(chunk("hi") + 'data: {"error":{"message":"no"}}'), "error-in-200"),
        (then_close(chunked(chunk("hi") + 'data: {"error":{"message":"no"}}', ends=False)), "error-in-200"),
        (chunked(chunk("hi") + "data: {oops"), "malformed"),
        (http('{"error":{"message":"no"}}', headers=STREAM), "error-in-200"),
        (http("<html>", headers=STREAM), "not-json"),
        (http("data center on fire"), "not-json"),
        (http(""), "not-json"),
        (http(WHOLE[:-1]), "truncated-json"),
        (http(HI, "500 Internal Server Error", headers=STREAM), "http-500"),
        (then_close(b""), "cut"),
    ],
)
def test_every_fault_of_a_stream_has_its_reason(script: bytes | Play, reason: str) -> None:
    failure = failure_of(script)
    assert failure.reason == reason
    assert failure.message


def test_an_end_in_the_middle_of_a_character_is_cut() -> None:
    body = chunk("hi").encode() + chunk("\U0001f60a").encode().partition(b"\x9f")[0]
    assert failure_of(then_close(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + body)).reason == "cut"


def test_an_answer_that_said_it_was_whole_is_whole_however_the_connection_ended() -> None:
    assert completion_of(then_close(chunked(HI, ends=False))).text == "hi é"
    assert completion_of(then_close(chunked(chunk("hi é") + chunk(finish="stop"), ends=False))).text == "hi é"
    assert completion_of(then_close(http(HI, headers=STREAM, length=1000))).text == "hi é"


def test_a_connection_that_stays_open_after_the_last_word_costs_time_and_no_answer() -> None:
    outcome = answer_to(in_pieces(chunked(HI, ends=False)), timeout_s=0.3).outcome
    assert isinstance(outcome, Completion)
    assert failure_of(in_pieces(chunked(chunk("hi"), ends=False)), timeout_s=0.3).reason == "timeout"


def test_json_that_is_whole_on_a_torn_connection_is_still_cut() -> None:
    assert failure_of(then_close(http(WHOLE, length=1000))).reason == "cut"


def test_the_first_byte_is_the_first_of_the_body_and_not_of_the_headers() -> None:
    now_s = 0.0

    async def play(writer: asyncio.StreamWriter) -> None:
        nonlocal now_s
        head, blank, body = chunked(HI).partition(b"\r\n\r\n")
        writer.write(head + blank)
        await writer.drain()
        await asyncio.sleep(0.05)
        now_s = 5.0
        writer.write(body)

    found = with_endpoint(play, act=lambda it, _: it.complete(ASKED), clock=lambda: now_s)
    assert found.first_byte_s == 5.0


def test_a_server_that_closes_after_each_stream_though_it_announced_to_keep_costs_no_attempt() -> None:
    """llama.cpp does so."""
    kept = b"Keep-Alive: timeout=5, max=100\r\nContent-Type: text/event-stream"
    closing = then_close(chunked(HI).replace(b"Content-Type: text/event-stream", kept))

    async def many(endpoint: HttpEndpoint, server: ScriptedServer) -> tuple[list[Answer], int]:
        alone = [await endpoint.complete(ASKED) for _ in range(3)]
        together = await asyncio.gather(*(endpoint.complete(ASKED) for _ in range(8)))
        return [*alone, *together], len(server.received)

    answers, received = with_endpoint(closing, act=many)
    assert all(isinstance(answer.outcome, Completion) for answer in answers)
    assert received == len(answers)


def test_a_stream_leaves_the_connections_of_other_questions_alone() -> None:
    async def act(endpoint: HttpEndpoint, server: ScriptedServer) -> tuple[list[Answer], int]:
        asked = [question(), ASKED, question(), ASKED, question()]
        return [await endpoint.complete(each) for each in asked], server.connections

    answers, connections = with_endpoint(http(WHOLE), chunked(HI), http(WHOLE), chunked(HI), http(WHOLE), act=act)
    assert all(isinstance(answer.outcome, Completion) for answer in answers)
    assert connections == 3


def test_a_stream_that_is_lost_says_nothing_of_the_connections_that_are_kept() -> None:
    async def act(endpoint: HttpEndpoint, server: ScriptedServer) -> tuple[list[str], int]:
        asked = [question(), ASKED, question(), question()]
        outcomes = [(await endpoint.complete(each)).outcome for each in asked]
        return [type(outcome).__name__ for outcome in outcomes], server.connections

    kinds, connections = with_endpoint(http(WHOLE), then_close(b""), http(WHOLE), act=act)
    assert kinds == ["Completion", "Failure", "Completion", "Completion"]
    assert connections == 2


def test_after_a_stream_that_nobody_asked_for_no_connection_is_kept() -> None:
    async def act(endpoint: HttpEndpoint, server: ScriptedServer) -> tuple[list[Answer], int]:
        return [await endpoint.complete(question()) for _ in range(3)], len(server.received)

    answers, received = with_endpoint(then_close(chunked(HI)), act=act)
    assert all(isinstance(answer.outcome, Completion) for answer in answers)
    assert received == 3


def test_counts_that_a_server_refuses_to_give_fail_one_attempt_and_are_not_asked_for_again() -> None:
    async def act(endpoint: HttpEndpoint, server: ScriptedServer) -> tuple[list[Answer], list[dict[str, object]]]:
        answers = [await endpoint.complete(ASKED) for _ in range(3)]
        return answers, [json.loads(sent.body) for sent in server.received]

    answers, sent = with_endpoint(NOT_KNOWN, chunked(HI), act=act)
    refused, *read = [answer.outcome for answer in answers]
    assert isinstance(refused, Failure)
    assert (refused.reason, refused.status) == ("http-400", 400)
    assert refused.message == "HTTP 400: Unknown parameter: 'stream_options'. (stream_options: not sent again)"
    assert all(isinstance(outcome, Completion) and outcome.usage == Usage() for outcome in read)
    assert ["stream_options" in body for body in sent] == [True, False, False]
    assert all(body["stream"] is True for body in sent)


@pytest.mark.parametrize(
    "refusal",
    [
        http('{"error":{"message":"model not loaded"}}', "400 Bad Request"),
        http('{"error":{"message":"stream_options"}}', "500 Internal Server Error"),
        http('{"error":{"message":"stream_options"}}', "429 Too Many Requests"),
    ],
)
def test_a_refusal_for_another_reason_changes_nothing_that_is_sent(refusal: bytes) -> None:
    async def act(endpoint: HttpEndpoint, server: ScriptedServer) -> list[bool]:
        await endpoint.complete(ASKED)
        await endpoint.complete(ASKED)
        return ["stream_options" in json.loads(sent.body) for sent in server.received]

    assert with_endpoint(refusal, chunked(HI), act=act) == [True, True]


SECRET = "sk-secret-AbC-0123456789"


def test_a_key_that_comes_in_pieces_is_in_no_outcome() -> None:
    entries = [{"token": piece, "logprob": -1.0} for piece in (SECRET[:9], SECRET[9:])]
    pieces = [
        {
            "choices": [
                {
                    "delta": {"content": piece["token"], "reasoning_content": piece["token"]},
                    "logprobs": {"content": [piece]},
                }
            ]
        }
        for piece in entries
    ]
    body = "".join(f"data: {json.dumps(piece)}\n\n" for piece in pieces) + chunk(finish="stop")
    outcome = answer_to(chunked(body), key=SECRET).outcome
    assert isinstance(outcome, Completion)
    assert (outcome.text, outcome.reasoning, outcome.tokens) == ("[key]", "[key]", None)


@pytest.mark.parametrize("place", ["id", "error", "model", "system_fingerprint"])
def test_a_key_in_one_piece_is_in_no_outcome(place: str) -> None:
    body = chunk("hi") + f"data: {json.dumps({place: SECRET, 'choices': []})}\n\n" + chunk(finish="stop")
    shown = repr(answer_to(chunked(body), key=SECRET))
    assert SECRET not in shown
    assert "[key]" in shown or place == "id"


def test_a_placeholder_key_leaves_a_streamed_text_alone() -> None:
    outcome = answer_to(chunked(HI.replace("hi", "an EMPTY cache")), key="EMPTY").outcome
    assert isinstance(outcome, Completion)
    assert outcome.text == "an EMPTY cache é"
