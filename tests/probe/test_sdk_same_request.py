"""What the endpoint really sends is what each official SDK sends: line, deciding headers, and body, types included."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

import anthropic
import openai
import pytest
from scripted_server import Received, ScriptedServer, http, question

from temp0.core.run import Question
from temp0.probe.dialect import DIALECTS
from temp0.probe.opening import open_endpoint

mistral = pytest.importorskip(
    "mistralai.client", reason="the SDK mistralai is not installed: it comes with temp0[test]"
)
ollama = pytest.importorskip("ollama", reason="the SDK ollama is not installed: it comes with temp0[test]")

KEY = "sk-of-a-test"
REFUSAL = http('{"error":{"message":"no"}}', "400 Bad Request")
DECIDING = ("content-type", "content-encoding", "authorization", "x-api-key", "api-key")
"""The headers by which a server reads a request and lets it in; what else is sent names the client."""

Ask = Callable[[str, dict[str, Any]], Awaitable[object]]


def of_openai(method: str) -> Ask:
    async def ask(url: str, body: dict[str, Any]) -> None:
        async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0) as client:
            resource: Any = client
            for part in method.split("."):
                resource = getattr(resource, part)
            await resource.create(**body)

    return ask


async def of_anthropic(url: str, body: dict[str, Any]) -> None:
    """The SDK has no argument for a temperature any more, so it is given as a field of the body."""
    temperature = {"temperature": body.pop("temperature")}
    async with anthropic.AsyncAnthropic(base_url=url, api_key=KEY, max_retries=0) as client:
        await client.messages.create(**body, extra_body=temperature)


async def of_mistral(url: str, body: dict[str, Any]) -> None:
    stream = body.pop("stream")
    async with mistral.Mistral(api_key=KEY, server_url=url) as client:
        await (client.chat.stream_async if stream else client.chat.complete_async)(**body)


def of_ollama(method: str) -> Ask:
    async def ask(url: str, body: dict[str, Any]) -> None:
        client = ollama.AsyncClient(host=url, headers={"Authorization": f"Bearer {KEY}"})
        try:
            told = await getattr(client, method)(**body)
            if body["stream"]:
                [part async for part in told]
        finally:
            await client.close()

    return ask


SDKS: dict[str, tuple[str, str, Ask]] = {
    "openai-chat": ("openai-chat", "/v1", of_openai("chat.completions")),
    "openai-completions": ("openai-completions", "/v1/completions", of_openai("completions")),
    "openai-responses": ("openai-responses", "/v1/responses", of_openai("responses")),
    "anthropic": ("anthropic", "", of_anthropic),
    "mistral": ("mistral", "", of_mistral),
    "ollama": ("ollama", "", of_ollama("chat")),
    "ollama-generate": ("ollama", "/api/generate", of_ollama("generate")),
}
"""A dialect, where it is spoken, and how its SDK asks what a body of ours asks."""

LEFT_UNSAID: Mapping[str, Mapping[str, Any]] = {
    "anthropic": {"stream": False},  # the SDK says nothing where no stream is wanted, which is the default
}
LET_IN_OTHERWISE: Mapping[str, Mapping[str, str]] = {
    "anthropic": {"authorization": f"Bearer {KEY}"},  # of the SDK's version of the API; ours is let in by x-api-key
}
SENT_BESIDES: Mapping[str, Mapping[str, Any]] = {
    "ollama": {"tools": []},  # the SDK has an empty list for every chat, which asks for nothing
}


def received(ask: Callable[[str], Awaitable[object]]) -> Received:
    """The one request that comes of asking."""

    async def conversation() -> Received:
        async with ScriptedServer(REFUSAL) as server:
            with suppress(openai.APIError, anthropic.APIError, mistral.errors.MistralError, ollama.ResponseError):
                await ask(server.url)
            (only,) = server.received
            return only

    return asyncio.run(conversation())


def of_ours(api: str, path: str, asked: Question) -> Received:
    async def ask(url: str) -> None:
        endpoint = await open_endpoint(url + path, model="m", api=api, key_env="KEY", environ={"KEY": KEY})
        await endpoint.complete(asked)
        await endpoint.close()

    return received(ask)


def typed(value: Any) -> Any:
    """The value with the types of JSON, since for Python 0 and false are one; JSON has one type of number."""
    if isinstance(value, dict):
        return {name: typed(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [typed(inner) for inner in value]
    return ("number" if type(value) in (int, float) else type(value).__name__, value)


@pytest.mark.parametrize("logprobs", [False, True])
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", SDKS)
def test_the_endpoint_sends_what_the_sdk_sends(name: str, stream: bool, logprobs: bool):
    api, path, ask = SDKS[name]
    asked = question(stream=stream, logprobs=logprobs and DIALECTS[api].can_logprobs)
    ours = of_ours(api, path, asked)
    body = dict(DIALECTS[api].at("http://host" + path).body(asked, "m"))
    theirs = received(lambda url: ask(url, body))
    told = {**LEFT_UNSAID.get(name, {}), **json.loads(theirs.body)}
    besides = SENT_BESIDES.get(name, {})
    assert {field: told.pop(field) for field in besides} == besides
    assert typed(told) == typed(json.loads(ours.body))
    assert theirs.line == ours.line
    let_in = LET_IN_OTHERWISE.get(name, {})
    assert let_in.items() <= theirs.headers.items()
    credentials = {"x-api-key": KEY} if let_in else {}
    assert {**deciding(theirs), **credentials} == {**deciding(ours), **let_in}


def deciding(request: Received) -> dict[str, str]:
    return {name: request.headers[name] for name in DECIDING if name in request.headers}
