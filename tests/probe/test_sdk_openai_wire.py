"""OpenAI's own SDK: asked for the same, it sends the body that we send to the place that we send it to."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from pathlib import Path

import openai
import pytest
from scripted_server import BODIES, Received, ScriptedServer, http, question

from temp0.core.run import Completion
from temp0.probe.dialect import DIALECTS

METHODS = {"openai-chat": "chat.completions", "openai-completions": "completions", "openai-responses": "responses"}
SAMPLES = Path(__file__).parents[1] / "fixtures" / "conformance"


async def sent_by_the_sdk(name: str, *, stream: bool, logprobs: bool) -> tuple[Received, str]:
    """What the SDK sends of our body's fields as its arguments, and where we would have sent it."""
    async with ScriptedServer(http("{}", status="400 Bad Request")) as server:
        dialect = DIALECTS[name]
        async with openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key="k", max_retries=0) as client:
            method = client
            for part in METHODS[name].split("."):
                method = getattr(method, part)
            with suppress(openai.BadRequestError):
                await method.create(**dialect.body(question(stream=stream, logprobs=logprobs), "smol"))
        (received,) = server.received
        return received, dialect.url(server.url).removeprefix(server.url)


@pytest.mark.parametrize("logprobs", [False, True])
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", METHODS)
def test_the_sdk_sends_what_we_send(name: str, stream: bool, logprobs: bool) -> None:
    received, path = asyncio.run(sent_by_the_sdk(name, stream=stream, logprobs=logprobs))
    assert received.line == f"POST {path} HTTP/1.1"
    assert json.loads(received.body) == DIALECTS[name].body(question(stream=stream, logprobs=logprobs), "smol")
    assert received.headers["authorization"] == DIALECTS[name].headers("k")["Authorization"]


async def read_by_the_sdk(body: bytes, method: str) -> str:
    async with (
        ScriptedServer(http(body)) as server,
        openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key="k", max_retries=0) as client,
    ):
        if method == "responses":
            return (await client.responses.create(model="smol", input="Say hi.")).output_text
        return (await client.completions.create(model="smol", prompt="Say hi.")).choices[0].text


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("openai-completions", BODIES / "llama_completions_logprobs.json"),
        ("openai-completions", SAMPLES / "openai-completions" / "lists_of_tokens.json"),
        ("openai-responses", BODIES / "llama_responses.json"),
        ("openai-responses", SAMPLES / "openai-responses" / "logprobs_and_a_summary.json"),
    ],
    ids=lambda value: getattr(value, "stem", value),
)
def test_the_sdk_reads_the_text_that_we_read(name: str, path: Path) -> None:
    body = path.read_bytes()
    ours = DIALECTS[name].completion(json.loads(body))
    assert isinstance(ours, Completion)
    assert asyncio.run(read_by_the_sdk(body, METHODS[name])) == ours.text
