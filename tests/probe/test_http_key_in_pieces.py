"""A key that a server says back in pieces and once as a whole: it is nowhere in the record, and the answer is read."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

import pytest
from scripted_server import ScriptedServer, http

from temp0.core.run import Address, Completion, Message, Question
from temp0.probe.connection import Connection
from temp0.probe.dialect import DIALECTS
from temp0.probe.dialect.partial import spells
from temp0.probe.endpoint import Answer
from temp0.probe.gauge import Gauge
from temp0.probe.http import HttpEndpoint
from temp0.probe.key import Key

SECRET = "sk-secret-AbC-0123456789"
FIRST, LAST = SECRET[:9], SECRET[9:]
ASKED = Question(messages=(Message(role="user", content="Say it."),), max_tokens=9, logprobs=True, stream=True)


def responses() -> list[object]:
    pieces = ["The key is ", FIRST, LAST, ", is it?"]
    logprobs = [[{"token": piece, "logprob": -0.1, "bytes": [*piece.encode()]}] for piece in pieces]
    told = {"type": "output_text", "text": "".join(pieces), "logprobs": [entry for own in logprobs for entry in own]}
    return [
        *(
            {"type": "response.output_text.delta", "delta": piece, "logprobs": own}
            for piece, own in zip(pieces, logprobs, strict=True)
        ),
        {"type": "response.completed", "response": {"output": [{"type": "message", "content": [told]}]}},
    ]


def chat() -> list[object]:
    deltas = [{"choices": [{"delta": {"content": piece}}]} for piece in ("The key is ", FIRST, LAST, ", is it?")]
    whole = {"message": {"content": f"The key is {SECRET}, is it?"}, "finish_reason": "stop"}
    return [*deltas, {"choices": [whole]}]


def generate() -> list[object]:
    texts = ["The key is ", f"The key is {FIRST}", f"The key is {SECRET}", f"The key is {SECRET}, is it?"]
    last = {"type": "stop"}
    return [
        {
            "text": text,
            "output_ids": [*range(place)],
            "meta_info": {"completion_tokens": place, "finish_reason": last if place == len(texts) else None},
        }
        for place, text in enumerate(texts, start=1)
    ]


def answer(api: str, path: str, events: Sequence[object]) -> Answer:
    body = "".join(f"data: {json.dumps(event)}\n\n" for event in events)

    async def go() -> Answer:
        async with ScriptedServer(http(body, headers=("Content-Type: text/event-stream",))) as server:
            url = f"{server.url.removesuffix('/v1')}{path}"
            connection = Connection(url, key=Key(value=SECRET), timeout_s=20)
            endpoint = HttpEndpoint(
                address=Address(url=url, api=api, model="m"),
                url=url,
                dialect=DIALECTS[api].at(url),
                connection=connection,
                gauge=Gauge(connection, url),
                keeps_raw=True,
            )
            try:
                return await endpoint.complete(ASKED)
            finally:
                await endpoint.close()

    return asyncio.run(go())


@pytest.mark.parametrize(
    ("api", "path", "events"),
    [
        ("openai-responses", "/v1/responses", responses()),
        ("openai-chat", "/v1/chat/completions", chat()),
        ("sglang", "/generate", generate()),
    ],
    ids=["responses", "a whole message after its deltas", "all so far in each chunk"],
)
def test_a_key_said_in_pieces_and_as_a_whole_is_redacted_and_the_answer_read(
    api: str, path: str, events: Sequence[object]
) -> None:
    found = answer(api, path, events)
    assert isinstance(found.outcome, Completion), found.outcome
    assert (found.outcome.text, found.outcome.tokens) == ("The key is [key], is it?", None)
    assert FIRST not in repr(found)
    assert found.received is None  # the pieces are in it


@pytest.mark.parametrize(
    ("said", "whole"),
    [
        ("The key is sk-12", "The key is [key]."),
        ("The key is .", "The key is [key]."),
        ("A key is sk-12.", "The key is [key]."),
        ("sk-12 or", "[key] or [key]"),
        ("lost a wor", "lost a word"),
        ("[key] or sk", "[key] or [key]!"),
    ],
)
def test_deltas_that_lost_something_beside_a_key_spell_another_text(said: str, whole: str) -> None:
    assert not spells(said, whole)


@pytest.mark.parametrize("said", ["[key] or sk-12", "sk-12 or [key]", "sk-12 or sk-12", "[key] or [key]"])
def test_a_key_may_have_come_whole_in_one_place_and_in_pieces_in_another(said: str) -> None:
    assert spells(said, "[key] or [key]")
