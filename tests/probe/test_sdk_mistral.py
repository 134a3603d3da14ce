"""Mistral's own SDK: it sends what we send, and reads in our samples what we read."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from scripted_server import Received, ScriptedServer, http, question

from temp0.core.run import Completion
from temp0.probe.body import json_outcome, streamed_outcome
from temp0.probe.dialect import DIALECTS

client = pytest.importorskip("mistralai.client", reason="the SDK mistralai is not installed: it comes with temp0[test]")

MISTRAL = DIALECTS["mistral"]
SAMPLES = Path(__file__).parents[1] / "fixtures" / "conformance" / "mistral"
STREAM = ("Content-Type: text/event-stream",)
SAMPLE = "tool_call"


def asked_by_the_sdk(answer: bytes, *, stream: bool, logprobs: bool = False) -> tuple[Received, str, list[Any]]:
    """What the SDK sent, where we would have sent it, and the messages or deltas that it read."""

    async def conversation() -> tuple[Received, str, list[Any]]:
        async with ScriptedServer(
            http(answer, headers=STREAM if stream else ("Content-Type: application/json",))
        ) as server:
            fields = dict(MISTRAL.body(question(stream=stream, logprobs=logprobs), "m"))
            del fields["stream"]
            async with client.Mistral(api_key="k", server_url=server.url) as sdk:
                if stream:
                    events = await sdk.chat.stream_async(**fields)
                    parts = [event.data.choices[0].delta async for event in events]
                else:
                    parts = [(await sdk.chat.complete_async(**fields)).choices[0].message]
            (received,) = server.received
            return received, MISTRAL.url(server.url).removeprefix(server.url), parts

    return asyncio.run(conversation())


@pytest.mark.parametrize("logprobs", [False, True])
@pytest.mark.parametrize("stream", [False, True])
def test_the_sdk_sends_what_we_send(stream: bool, logprobs: bool):
    answer = (SAMPLES / f"{SAMPLE}.{'stream' if stream else 'json'}").read_bytes()
    received, path, _ = asked_by_the_sdk(answer, stream=stream, logprobs=logprobs)
    assert received.line == f"POST {path} HTTP/1.1"
    assert json.loads(received.body) == MISTRAL.body(question(stream=stream, logprobs=logprobs), "m")
    assert received.headers["authorization"] == MISTRAL.headers("k")["Authorization"]


def texts(content: Any) -> tuple[str, str]:
    """The text and the thinking of a content that the SDK read."""
    if content is None or isinstance(content, str):
        return content or "", ""
    said = "".join(part.text for part in content if part.type == "text")
    return said, "".join(inner.text for part in content if part.type == "thinking" for inner in part.thinking)


@pytest.mark.parametrize("name", ["thinking", "tool_call", "tool_call_with_an_object"])
@pytest.mark.parametrize("stream", [False, True])
def test_the_sdk_reads_in_our_samples_what_we_read(name: str, stream: bool):
    answer = (SAMPLES / f"{name}.{'stream' if stream else 'json'}").read_bytes()
    ours = (streamed_outcome if stream else json_outcome)(MISTRAL, answer, ())
    assert isinstance(ours, Completion)
    _, _, parts = asked_by_the_sdk(answer, stream=stream)
    said = [texts(part.content) for part in parts]
    calls = [call.function for part in parts for call in part.tool_calls or ()]
    assert ("".join(text for text, _ in said), "".join(thought for _, thought in said)) == (
        ours.text,
        ours.reasoning or "",
    )
    assert [call.name for call in calls] == [call.name for call in ours.tool_calls]
