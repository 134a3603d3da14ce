"""Ollama's own SDK: it sends what we send, and reads in our samples what we read."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from scripted_server import ScriptedServer, http, question

from temp0.core.run import Completion
from temp0.probe.body import json_outcome, streamed_outcome
from temp0.probe.dialect import DIALECTS

ollama = pytest.importorskip("ollama", reason="the SDK ollama is not installed: it comes with temp0[test]")

OLLAMA = DIALECTS["ollama"]
SAMPLES = Path(__file__).parents[1] / "fixtures" / "conformance" / "ollama"
LINES = ("Content-Type: application/x-ndjson",)
ANSWER = (SAMPLES / "chat_with_logprobs.json").read_bytes()
GENERATED = (SAMPLES / "generate.json").read_bytes()


@asynccontextmanager
async def closing(server: ScriptedServer) -> AsyncIterator[Any]:
    """The SDK's client of a server."""
    client = ollama.AsyncClient(host=server.url)
    try:
        yield client
    finally:
        await client.close()


def sent(answer: bytes, ask: Callable[[Any], Awaitable[object]]) -> tuple[str, dict[str, Any]]:
    """The path and the body that the SDK sends."""

    async def conversation() -> tuple[str, dict[str, Any]]:
        async with ScriptedServer(http(answer)) as server:
            async with closing(server) as client:
                await ask(client)
            (received,) = server.received
            return received.line.split(" ")[1], json.loads(received.body)

    return asyncio.run(conversation())


def options(body: Mapping[str, Any]) -> Mapping[str, Any]:
    told: Mapping[str, Any] = body["options"]
    return told


def test_the_sdk_sends_a_chat_as_we_do():
    ours = OLLAMA.body(question(logprobs=True), "m")

    async def ask(client: Any) -> None:
        fields = {"options": options(ours), "logprobs": True, "top_logprobs": 5}
        await client.chat(model="m", messages=ours["messages"], **fields)

    path, body = sent(ANSWER, ask)
    assert path == "/api/chat"
    assert {name: value for name, value in body.items() if name != "tools"} == ours
    assert body["tools"] == []  # which the SDK sends always


def test_the_sdk_asks_for_a_stream_as_we_do():
    ours = OLLAMA.body(question(stream=True), "m")

    async def ask(client: Any) -> None:
        parts = await client.chat(model="m", messages=ours["messages"], options=options(ours), stream=True)
        assert [part.done async for part in parts] == [True]

    _, body = sent(ANSWER, ask)
    assert {name: value for name, value in body.items() if name != "tools"} == ours


def test_the_sdk_has_a_text_generated_as_we_do():
    form = OLLAMA.at("http://h/api/generate")
    ours = form.body(question(), "m")

    async def ask(client: Any) -> None:
        await client.generate(model="m", prompt=ours["prompt"], options=options(ours))

    assert sent(GENERATED, ask) == ("/api/generate", ours)


def read_by_the_sdk(answer: bytes, *, stream: bool) -> tuple[str, str, list[tuple[str, Any]]]:
    async def conversation() -> tuple[str, str, list[tuple[str, Any]]]:
        async with ScriptedServer(http(answer, headers=LINES if stream else ())) as server, closing(server) as client:
            told = await client.chat(model="m", messages=[{"role": "user", "content": "Hi"}], stream=stream)
            messages = [part.message async for part in told] if stream else [told.message]
        calls = [call.function for message in messages for call in message.tool_calls or ()]
        texts = ["".join(getattr(each, name) or "" for each in messages) for name in ("content", "thinking")]
        return texts[0], texts[1], [(call.name, dict(call.arguments)) for call in calls]

    return asyncio.run(conversation())


@pytest.mark.parametrize("name", ["chat_with_logprobs", "thinking_and_a_tool_call"])
@pytest.mark.parametrize("stream", [False, True])
def test_the_sdk_reads_in_our_samples_what_we_read(name: str, stream: bool):
    answer = (SAMPLES / f"{name}.{'stream' if stream else 'json'}").read_bytes()
    ours = (streamed_outcome if stream else json_outcome)(OLLAMA, answer, ())
    assert isinstance(ours, Completion)
    calls = [(call.name, json.loads(call.arguments)) for call in ours.tool_calls]
    assert read_by_the_sdk(answer, stream=stream) == (ours.text, ours.reasoning or "", calls)
