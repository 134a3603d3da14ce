"""OpenAI's own SDK as Azure's client: it sends what we send, to the place that we send it to."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress

import openai
import pytest
from scripted_server import Received, ScriptedServer, http, question

from temp0.probe.dialect import DIALECTS

AZURE = DIALECTS["azure"]
VERSION = "2024-10-21"


@pytest.mark.parametrize("stream", [False, True])
def test_the_sdk_sends_what_we_send(stream: bool):
    async def conversation() -> tuple[Received, str]:
        async with ScriptedServer(http("{}", "400 Bad Request")) as server:
            async with openai.AsyncAzureOpenAI(
                azure_endpoint=server.url, api_key="k", api_version=VERSION, max_retries=0
            ) as sdk:
                with suppress(openai.BadRequestError):
                    await sdk.chat.completions.create(**AZURE.body(question(stream=stream), "gpt-4o"))
            (received,) = server.received
            url = f"{server.url}/openai/deployments/gpt-4o?api-version={VERSION}"
            return received, AZURE.url(url).removeprefix(server.url)

    received, place = asyncio.run(conversation())
    assert received.line == f"POST {place} HTTP/1.1"
    assert json.loads(received.body) == AZURE.body(question(stream=stream), "gpt-4o")
    assert {"api-key": received.headers["api-key"]} == AZURE.headers("k")
