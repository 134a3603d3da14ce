"""An answer in lines over HTTP, as Ollama streams it: where it is asked for, and what becomes of it on the way."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from scripted_server import Play, ScriptedServer, http, in_pieces, question, then_close

from temp0.core.run import Completion, Failure
from temp0.probe.opening import open_endpoint

SAMPLES = Path(__file__).parents[1] / "fixtures" / "conformance" / "ollama"
LINES = ("Content-Type: application/x-ndjson",)
STREAM = (SAMPLES / "generate.stream").read_bytes()
TAGS = http(json.dumps({"models": [{"name": "llama3.2:latest", "model": "llama3.2:latest"}]}))
TEXT = "a\u2028b"


def answer(*answers: bytes | Play, path: str = "/api/generate", stream: bool = True) -> Completion | Failure:
    async def conversation() -> Completion | Failure:
        async with ScriptedServer(*answers) as server:
            endpoint = await open_endpoint(server.url + path, model="m", api="ollama", environ={})
            try:
                return (await endpoint.complete(question(stream=stream))).outcome
            finally:
                await endpoint.close()

    return asyncio.run(conversation())


@pytest.mark.parametrize(
    ("path", "asked", "field"),
    [
        ("", "/api/chat", "messages"),
        ("/api/chat", "/api/chat", "messages"),
        ("/api/generate", "/api/generate", "prompt"),
    ],
)
def test_the_url_decides_what_is_asked_and_the_only_model_is_found(path: str, asked: str, field: str):
    async def conversation() -> None:
        async with ScriptedServer(TAGS, http(STREAM, headers=LINES)) as server:
            endpoint = await open_endpoint(server.url + path, api="ollama", environ={})
            assert isinstance((await endpoint.complete(question(stream=True))).outcome, Completion)
            await endpoint.close()
            listed, posed = server.received
        assert listed.line == "GET /api/tags HTTP/1.1"
        assert posed.line == f"POST {asked} HTTP/1.1"
        body = json.loads(posed.body)
        assert (body["model"], body["stream"], field in body) == ("llama3.2:latest", True, True)
        assert endpoint.address.api == "ollama"

    asyncio.run(conversation())


def test_lines_that_come_byte_by_byte_are_one_answer():
    whole = answer(http((SAMPLES / "generate.json").read_bytes()), stream=False)
    assert isinstance(whole, Completion)
    assert whole.text == TEXT
    sent = http(STREAM, headers=LINES)
    assert answer(in_pieces(*(sent[at : at + 1] for at in range(len(sent))))) == whole
    assert answer(http(STREAM.replace(b"\n", b"\r\n\r\n"), headers=())) == whole


def test_a_stream_that_was_lost_after_its_last_line_is_whole_and_before_it_cut():
    lost = http(STREAM, headers=LINES, length=len(STREAM) + 10)
    found = answer(then_close(lost))
    assert isinstance(found, Completion)
    assert found.text == TEXT
    early = http(STREAM[:-30], headers=LINES, length=len(STREAM))
    assert isinstance(cut := answer(then_close(early)), Failure)
    assert cut.reason == "cut"
    assert isinstance(cut := answer(http(STREAM[:-30], headers=LINES)), Failure)
    assert cut.reason == "cut"


def test_an_error_line_is_the_failure_also_where_the_connection_is_then_lost():
    error = b'{"error":"out of memory"}\n'
    body = STREAM.splitlines(keepends=True)[0] + error
    for sent in (http(body, headers=LINES), then_close(http(body, headers=LINES, length=1000))):
        assert answer(sent) == Failure(reason="error-in-200", message="out of memory")


def test_an_answer_in_events_is_none_of_this_dialect():
    found = answer(http(b'data: {"response":"Hi","done":true}\n\n', headers=("Content-Type: text/event-stream",)))
    assert isinstance(found, Failure)
    assert found.reason == "not-json"


def test_a_refusal_is_quoted_as_the_server_words_it():
    found = answer(http('{"error":"\\"m\\" does not support thinking"}', "400 Bad Request"))
    assert isinstance(found, Failure)
    assert found.message == 'HTTP 400: "m" does not support thinking'
