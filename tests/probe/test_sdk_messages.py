"""Anthropic's own SDK: it sends what we send, but for what its version of the API has not, and reads what we read."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anthropic
import pytest
from scripted_server import Received, ScriptedServer, http, question

from temp0.core.run import Completion
from temp0.probe.body import json_outcome, streamed_outcome
from temp0.probe.dialect import DIALECTS

ANTHROPIC = DIALECTS["anthropic"]
SAMPLES = Path(__file__).parents[1] / "fixtures" / "conformance" / "anthropic"
EVENTS = ("Content-Type: text/event-stream",)
JSON = ("Content-Type: application/json",)
WITHOUT_TEMPERATURE = "2026-10-21"


def talk(answer: bytes, headers: tuple[str, ...], ask: Callable[[Any], Awaitable[object]]) -> tuple[object, Received]:
    """What came of asking by the SDK, and the one request that it sent."""

    async def conversation() -> tuple[object, Received]:
        async with (
            ScriptedServer(http(answer, headers=headers)) as server,
            anthropic.AsyncAnthropic(base_url=server.url, api_key="k-1", max_retries=0) as client,
        ):
            told = await ask(client)
            (received,) = server.received
            return told, received

    return asyncio.run(conversation())


def fields(*, stream: bool) -> dict[str, Any]:
    ours = dict(ANTHROPIC.body(question(stream=stream), "claude"))
    return {name: ours[name] for name in ("model", "messages", "max_tokens")}


@pytest.mark.parametrize("stream", [False, True])
def test_the_sdk_sends_what_we_send(stream: bool):
    """It has no argument for a temperature any more, and leaves a stream unsaid where none is wanted."""
    ours = dict(ANTHROPIC.body(question(stream=stream), "claude"))
    kind, headers = ("stream", EVENTS) if stream else ("json", JSON)

    async def ask(client: Any) -> None:
        await client.messages.create(**fields(stream=stream), stream=stream, extra_body={"temperature": 0})

    _, received = talk((SAMPLES / f"every_kind_of_block.{kind}").read_bytes(), headers, ask)
    assert received.line.split(" ")[1] == "/v1/messages"
    assert {"stream": False, **json.loads(received.body)} == ours


def test_the_sdk_names_a_version_that_has_no_temperature_and_we_the_one_before():
    async def ask(client: Any) -> None:
        await client.messages.create(**fields(stream=False))

    _, received = talk((SAMPLES / "refusal.json").read_bytes(), JSON, ask)
    named = received.headers["anthropic-version"]
    if named < WITHOUT_TEMPERATURE:
        pytest.skip(f"this SDK is of the version {named}")
    assert ANTHROPIC.headers(None)["anthropic-version"] == "2023-06-01"
    assert b"temperature" not in received.body


@pytest.mark.parametrize("stream", [False, True])
def test_the_sdk_reads_in_our_sample_what_we_read(stream: bool):
    answer = (SAMPLES / f"every_kind_of_block.{'stream' if stream else 'json'}").read_bytes()

    async def ask(client: Any) -> Any:
        if not stream:
            return await client.messages.create(**fields(stream=False))
        async with client.messages.stream(**fields(stream=True)) as events:
            return await events.get_final_message()

    told, _ = talk(answer, EVENTS if stream else JSON, ask)
    ours = (streamed_outcome if stream else json_outcome)(ANTHROPIC, answer, ())
    assert isinstance(ours, Completion)
    blocks = getattr(told, "content")  # noqa: B009 - what the SDK gives has no one type
    assert "".join(block.text for block in blocks if block.type == "text") == ours.text
    assert "".join(block.thinking for block in blocks if block.type == "thinking") == ours.reasoning
    calls = [(block.name, block.input) for block in blocks if block.type in {"tool_use", "server_tool_use"}]
    assert calls == [(call.name, json.loads(call.arguments)) for call in ours.tool_calls]
