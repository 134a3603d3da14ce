"""OpenAI's and Anthropic's own SDKs read in every recorded answer, whole and streamed, what we read in it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest
from scripted_server import BODIES, ScriptedServer, http

from temp0.core.run import Completion
from temp0.probe.body import json_outcome, streamed_outcome
from temp0.probe.dialect import DIALECTS

SAMPLES = Path(__file__).parents[1] / "fixtures" / "conformance"
HI: Any = [{"role": "user", "content": "Hi"}]
Read = tuple[str, list[tuple[str, str]], str | None, int | None]
"""The text, the tool calls, why it ended, and how many tokens it has."""


async def chat(client: Any, stream: bool) -> Read:
    told = await client.chat.completions.create(model="m", messages=HI, stream=stream)
    if not stream:
        choice = told.choices[0]
        calls = [(call.function.name, call.function.arguments) for call in choice.message.tool_calls or ()]
        return choice.message.content or "", calls, choice.finish_reason, told.usage and told.usage.completion_tokens
    chunks = [chunk async for chunk in told]
    choices = [chunk.choices[0] for chunk in chunks if chunk.choices]
    deltas = [choice.delta for choice in choices if choice.delta]  # Azure's filters come in chunks without one
    calls_by_index: dict[int, tuple[str, str]] = {}
    for call in (call for delta in deltas for call in delta.tool_calls or ()):
        name, arguments = calls_by_index.get(call.index, ("", ""))
        calls_by_index[call.index] = name + (call.function.name or ""), arguments + (call.function.arguments or "")
    finish = [choice.finish_reason for choice in choices if choice.finish_reason][-1:]
    counts = [chunk.usage.completion_tokens for chunk in chunks if chunk.usage]
    text = "".join(delta.content or "" for delta in deltas)
    return text, [*calls_by_index.values()], *(finish or [None]), *(counts[-1:] or [None])


async def legacy(client: Any, stream: bool) -> Read:
    told = await client.completions.create(model="m", prompt="Hi", stream=stream)
    chunks = [chunk async for chunk in told] if stream else [told]
    choices = [chunk.choices[0] for chunk in chunks if chunk.choices]
    finish = [choice.finish_reason for choice in choices if choice.finish_reason][-1:]
    counts = [chunk.usage.completion_tokens for chunk in chunks if chunk.usage]
    return "".join(choice.text for choice in choices), [], *(finish or [None]), *(counts[-1:] or [None])


async def responses(client: Any, stream: bool) -> Read:
    told = await client.responses.create(model="m", input="Hi", stream=stream)
    if stream:
        told = [event async for event in told][-1].response
    details = told.incomplete_details
    calls = [(item.name, item.arguments) for item in told.output if item.type == "function_call"]
    return told.output_text, calls, (details and details.reason) or told.status, told.usage and told.usage.output_tokens


async def messages(client: Any, stream: bool) -> Read:
    fields: Any = {"model": "m", "messages": HI, "max_tokens": 9}
    if stream:
        async with client.messages.stream(**fields) as events:
            told = await events.get_final_message()
    else:
        told = await client.messages.create(**fields)
    text = "".join(block.text for block in told.content if block.type == "text")
    uses = [block for block in told.content if block.type in {"tool_use", "server_tool_use"}]
    calls = [(use.name, json.dumps(use.input, separators=(",", ":"), ensure_ascii=False)) for use in uses]
    return text, calls, told.stop_reason, told.usage.output_tokens


def of_sdk(api: str, url: str) -> Any:
    if api == "anthropic":
        return anthropic.AsyncAnthropic(base_url=url, api_key="k", max_retries=0)
    return openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0)


def talk(answer: bytes, api: str, *, stream: bool) -> Read:
    method: Callable[[Any, bool], Awaitable[Read]] = METHODS[api]
    content_type = "text/event-stream" if stream else "application/json"

    async def conversation() -> Read:
        async with (
            ScriptedServer(http(answer, headers=(f"Content-Type: {content_type}",))) as server,
            of_sdk(api, server.url) as client,
        ):
            return await method(client, stream)

    return asyncio.run(conversation())


METHODS = {
    **dict.fromkeys(("openai-chat", "azure", "openrouter", "vllm", "sglang"), chat),
    "openai-completions": legacy,
    "openai-responses": responses,
    "anthropic": messages,
}
RECORDED = {
    "openai-chat": ["llama_chat_logprobs.json", "llama_chat_stream_logprobs_usage.sse"],
    "openai-completions": ["llama_completions_logprobs.json", "llama_completions_plain.json"],
    "openai-responses": ["llama_responses.json", "llama_responses_stream.sse"],
    "anthropic": ["llama_messages.json", "llama_messages_stream.sse"],
}
UNREADABLE = {"without_an_opening.stream"}
"""What the SDK refuses, since its first event is not the one that opens a message; llama.cpp sends such streams."""


def answers() -> list[tuple[str, Path]]:
    """Every recorded answer that we read as a completion, with its dialect."""
    paths = [
        *(
            (api, path)
            for api in METHODS
            for path in sorted((SAMPLES / api).glob("*"))
            if "expected" not in path.name and path.name not in UNREADABLE
        ),
        *((api, BODIES / name) for api, names in RECORDED.items() for name in names),
    ]
    return [(api, path) for api, path in paths if isinstance(ours(api, path), Completion)]


def is_stream(path: Path) -> bool:
    return path.suffix in {".stream", ".sse"}


def ours(api: str, path: Path) -> Any:
    return (streamed_outcome if is_stream(path) else json_outcome)(DIALECTS[api], path.read_bytes(), ())


@pytest.mark.parametrize(("api", "path"), answers(), ids=lambda value: getattr(value, "name", value))
def test_the_sdk_reads_what_we_read(api: str, path: Path):
    read = ours(api, path)
    calls = [(call.name, call.arguments) for call in read.tool_calls]
    theirs = talk(path.read_bytes(), api, stream=is_stream(path))
    assert theirs == (read.text, calls, read.finish, read.usage.completion)
