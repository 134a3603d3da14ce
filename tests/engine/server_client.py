"""Talks to the server over real HTTP on a free loopback port, in the words of a test."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import ClientResponse
from aiohttp.test_utils import TestClient, TestServer

from temp0.engine.server import make_app

CHAT = "/v1/chat/completions"
MESSAGES = "/v1/messages"


def chat_body(**fields: Any) -> dict[str, Any]:
    return {"model": "scripted", "messages": [{"role": "user", "content": "Say hi."}], **fields}


def messages_body(**fields: Any) -> dict[str, Any]:
    return chat_body(**{"max_tokens": 50, **fields})


@asynccontextmanager
async def client_of(engine: Any, **options: Any) -> AsyncIterator[TestClient]:
    app = make_app(engine, **{"new_id": lambda: "id1", "clock": lambda: 1_700_000_000.5, **options})
    async with TestClient(TestServer(app)) as client:
        yield client


def talk(engine: Any, conversation: Callable[[TestClient], Awaitable[Any]], **options: Any) -> Any:
    """Run a conversation with a server over `engine` and return what it returns."""

    async def run() -> Any:
        async with client_of(engine, **options) as client:
            return await conversation(client)

    return asyncio.run(run())


def post(engine: Any, path: str, body: Any, *, headers: Any = None, **options: Any) -> tuple[int, Any, Any]:
    """POST one body (bytes as they are, else as JSON) and return status, headers and JSON."""

    async def once(client: TestClient) -> tuple[int, Any, Any]:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        async with client.post(path, data=data, headers=headers) as response:
            return response.status, response.headers, await response.json()

    return talk(engine, once, **options)


def stream(engine: Any, path: str, body: Any, **options: Any) -> list[tuple[str | None, Any]]:
    """POST one body and return the events of the answer as (name, JSON or the raw data)."""

    async def once(client: TestClient) -> list[tuple[str | None, Any]]:
        async with client.post(path, json=body) as response:
            assert response.status == 200, await response.text()
            assert response.headers["Content-Type"].startswith("text/event-stream")
            return await events_of(response)

    return talk(engine, once, **options)


async def events_of(response: ClientResponse) -> list[tuple[str | None, Any]]:
    text = (await response.read()).decode()
    assert text.endswith("\n\n")
    return [_event(block) for block in text.removesuffix("\n\n").split("\n\n")]


def _event(block: str) -> tuple[str | None, Any]:
    fields = dict(line.split(": ", 1) for line in block.split("\n"))
    data = fields["data"]
    return fields.get("event"), data if data == "[DONE]" else json.loads(data)
