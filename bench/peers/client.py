"""The one client that asks every server: greedy, of fixed length, each request on a connection of its own.

Tokens are the server's own count, and a server that gives another number than was asked for has no figure. A
connection is never used twice: llama.cpp closes it after a stream although it says otherwise.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from itertools import cycle, islice

import aiohttp

from peers.environment import NotMeasuredError
from temp0.engine.builtin import NAME

_LIMIT = aiohttp.ClientTimeout(total=300)
_FIRST_CHARACTERS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """So many requests, so many at once, with the prompts in rotation and answers of `max_tokens` tokens each."""

    prompts: tuple[str, ...]
    in_flight: int
    requests: int
    max_tokens: int


def tokens_per_second(url: str, load: Load) -> float:
    """Tokens of all answers over the time from the first request sent to the last answer read."""
    return asyncio.run(_tokens_per_second(url, load))


def first_token_seconds(url: str, prompt: str) -> float:
    """Seconds from sending a streamed request to its first text."""
    return asyncio.run(_first_token_seconds(url, prompt))


def prompt_tokens(url: str, prompt: str) -> int:
    """How many tokens the server's template and tokenizer make of a prompt."""
    return asyncio.run(_prompt_tokens(url, prompt))


def prompt_of(tokens: int, url: str) -> str:
    """A prompt that has so many tokens by the server's own count; ValueError where no such prompt is found."""
    words = tokens
    for _ in range(5):
        prompt = " ".join(["word"] * words)
        excess = prompt_tokens(url, prompt) - tokens
        if not excess:
            return prompt
        words -= excess
    raise ValueError(f"no prompt of {tokens} tokens was found: {words + excess} words were {tokens + excess}")


async def _tokens_per_second(url: str, load: Load) -> float:
    left: Iterator[str] = islice(cycle(load.prompts), load.requests)

    async def work(session: aiohttp.ClientSession) -> None:
        for prompt in left:
            usage = await _usage(session, url, _body(prompt, load.max_tokens))
            if usage["completion_tokens"] != load.max_tokens:
                raise NotMeasuredError(
                    f"it gave {usage['completion_tokens']} tokens where {load.max_tokens} were asked"
                )

    async with _session() as session:
        started = time.perf_counter()
        await asyncio.gather(*(work(session) for _ in range(load.in_flight)))
        return load.requests * load.max_tokens / (time.perf_counter() - started)


async def _first_token_seconds(url: str, prompt: str) -> float:
    body = {**_body(prompt, 2), "stream": True}
    async with _session() as session:
        started = time.perf_counter()
        async with _answering(session, url, body) as response:
            async for line in response.content:
                if _has_text(line):
                    return time.perf_counter() - started
    raise NotMeasuredError("its stream ended without any text")


async def _prompt_tokens(url: str, prompt: str) -> int:
    async with _session() as session:
        return int((await _usage(session, url, _body(prompt, 1)))["prompt_tokens"])


async def _usage(session: aiohttp.ClientSession, url: str, body: dict[str, object]) -> dict[str, int]:
    async with _answering(session, url, body) as response:
        usage: dict[str, int] = (await response.json())["usage"]
        return usage


@asynccontextmanager
async def _answering(
    session: aiohttp.ClientSession, url: str, body: dict[str, object]
) -> AsyncIterator[aiohttp.ClientResponse]:
    """A response with status 200; whatever goes wrong is a reason for having no figure."""
    try:
        async with session.post(f"{url}/v1/chat/completions", json=body) as response:
            if response.status != HTTPStatus.OK:
                said = (await response.text())[:_FIRST_CHARACTERS]
                raise NotMeasuredError(f"it answered {response.status}: {said}")
            yield response
    except (aiohttp.ClientError, TimeoutError) as error:
        raise NotMeasuredError(f"it did not answer: {error!r}") from error


def _session() -> aiohttp.ClientSession:
    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0, force_close=True), timeout=_LIMIT)


def _body(prompt: str, max_tokens: int) -> dict[str, object]:
    return {
        "model": NAME,
        "messages": [{"role": "user", "content": prompt}],
        "max_tokens": max_tokens,
        "temperature": 0,
        "ignore_eos": True,
        "cache_prompt": False,
    }


def _has_text(line: bytes) -> bool:
    data = line.removeprefix(b"data: ").strip()
    if not line.startswith(b"data: ") or data == b"[DONE]":
        return False
    choices: Sequence[dict[str, dict[str, object]]] = json.loads(data).get("choices", ())
    return any(choice["delta"].get("content") for choice in choices)
