"""Writes what a play tells in the shapes of the wire: OpenAI's chat, whole or streamed, and Anthropic's messages.

Nothing here is temp0's: the shapes are written from what servers were seen to send.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from scenario import NOT_TOLD, Asked, Spoken, Told, spoken

BEGUN = 1_767_225_600


def chat(told: Told, asked: Asked) -> bytes:
    """The body of an unstreamed chat answer. NaN and infinities go out as they are, as some servers send them."""
    if told.body is not None:
        return told.body
    message: dict[str, Any] = {"role": "assistant", "content": told.text}
    if told.reasoning is not None:
        message["reasoning_content"] = told.reasoning
    choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": told.finish}
    if asked.wants_logprobs:
        choice["logprobs"] = {"content": [_entry(token) for token in _tokens(told)]}
    body = {"object": "chat.completion", **_head(told, asked), "choices": [choice], "usage": _usage(told)}
    return json.dumps(body).encode()


def chat_events(told: Told, asked: Asked) -> bytes:
    """The whole body of a streamed chat answer: a role, a delta for each token, the finish, the usage, the end."""
    head = {"object": "chat.completion.chunk", **_head(told, asked)}
    if told.events is not None:
        events = [{**head, **event} for event in told.events]
    else:
        events = [{**head, "choices": [_delta({"role": "assistant", "content": None})]}]
        for token in _tokens(told):
            logprobs = {"content": [_entry(token)]} if asked.wants_logprobs else None
            events.append({**head, "choices": [_delta({"content": token.text}, logprobs=logprobs)]})
        events.append({**head, "choices": [_delta({}, finish=told.finish)]})
        events.append({**head, "choices": [], "usage": _usage(told)})
    lines = [f"data: {json.dumps(event, ensure_ascii=False)}\n\n" for event in events]
    return "".join([*lines, "data: [DONE]\n\n"]).encode()


def messages(told: Told, asked: Asked) -> bytes:
    """The body of an Anthropic answer; `content` holds its blocks."""
    content = [{"type": "text", "text": told.text}] if told.content is None else list(told.content)
    body = {
        "id": told.id or f"msg_{asked.order:06}",
        "type": "message",
        "role": "assistant",
        "model": told.model,
        "content": content,
        "stop_reason": told.finish,
        "stop_sequence": None,
        "usage": {"input_tokens": 9, "output_tokens": 4},
    }
    return json.dumps(body).encode()


def _delta(delta: dict[str, Any], *, finish: str | None = None, logprobs: Any = None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": logprobs}


def _head(told: Told, asked: Asked) -> dict[str, Any]:
    head: dict[str, Any] = {
        "id": told.id or f"chatcmpl-{asked.order:06}",
        "created": BEGUN + asked.order if told.created is None else told.created,
        "model": told.model,
    }
    return head if told.fingerprint is NOT_TOLD else {**head, "system_fingerprint": told.fingerprint}


def _tokens(told: Told) -> Sequence[Spoken]:
    return spoken(told.text or "") if told.tokens is None else told.tokens


def _usage(told: Told) -> dict[str, Any]:
    count = len(_tokens(told))
    usage: dict[str, Any] = {"prompt_tokens": 9, "completion_tokens": count, "total_tokens": 9 + count}
    if told.cached_tokens is not None:
        usage["prompt_tokens_details"] = {"cached_tokens": told.cached_tokens}
    if told.reasoning is not None:
        usage["completion_tokens_details"] = {"reasoning_tokens": len(told.reasoning.split())}
    return usage


def _entry(token: Spoken) -> dict[str, Any]:
    entry: dict[str, Any] = {"token": token.text if token.string is None else token.string, "logprob": token.logprob}
    entry["bytes"] = list(token.text.encode())
    entry["top_logprobs"] = [
        {"token": text, "logprob": logprob, "bytes": list(text.encode())} for text, logprob in token.top
    ]
    return entry
