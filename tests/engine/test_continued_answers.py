"""An answer begun by the client is gone on from where the engine would be, to the bit, if it had just written it."""

from __future__ import annotations

import pytest
from server_client import CHAT, MESSAGES, talk

from temp0.core.plan import Message
from temp0.engine import Engine
from temp0.engine.builtin import builtin_weights

QUESTION = {"role": "user", "content": "Give me one 12-word proverb about caching."}
TOKENS = 12


async def told(client, *, begun=None, **fields):
    """The choice of a chat answer, and the ids of the prompt it answers."""
    turns = [QUESTION] if begun is None else [QUESTION, {"role": "assistant", "content": begun}]
    going_on = {} if begun is None else {"continue_final_message": True, "add_generation_prompt": False}
    asked = {"logprobs": True, "top_logprobs": 5, "return_token_ids": True, "cache_prompt": False}
    body = {"model": fields.pop("model"), "messages": turns, "max_tokens": TOKENS, **asked, **going_on, **fields}
    async with client.post(CHAT, json=body) as response:
        answer = await response.json()
        assert response.status == 200, answer
        return answer["choices"][0], answer["prompt_token_ids"]


@pytest.mark.model
def test_going_on_from_an_answers_first_tokens_gives_the_distributions_of_the_answer():
    async def compared(client):
        whole, prompt = await told(client, model=engine.name)
        entries, equal, other = whole["logprobs"]["content"], [], []
        for k in range(1, TOKENS):
            begun = "".join(entry["token"] for entry in entries[:k])
            choice, ids = await told(client, model=engine.name, begun=begun, max_tokens=1)
            is_same_text = ids == [*prompt, *whole["token_ids"][:k]]
            (equal if is_same_text else other).append(k)
            if is_same_text:
                assert choice["logprobs"]["content"][0] == entries[k], k
        return equal, other

    with Engine.load(builtin_weights(), arithmetic="invariant", threads=1) as engine:
        engine.start()
        equal, other = talk(engine, compared)
    # Where a text is read again as other tokens nothing is claimed; the texts of this answer's tokens are read as them.
    assert equal == list(range(1, TOKENS)), other


@pytest.mark.model
def test_both_dialects_go_on_from_the_same_beginning_as_the_text_itself():
    async def answers(client):
        chat, _ = await told(client, model=engine.name, begun="A cache")
        turns = [QUESTION, {"role": "assistant", "content": "A cache"}]
        body = {"model": engine.name, "messages": turns, "max_tokens": TOKENS}
        async with client.post(MESSAGES, json=body) as response:
            messages = await response.json()
        text = engine.chat.begun([Message(**turn) for turn in turns])
        completing = {"model": engine.name, "prompt": text, "max_tokens": TOKENS}
        async with client.post("/v1/completions", json=completing) as response:
            legacy = await response.json()
        return chat["message"]["content"], messages["content"][0]["text"], legacy["choices"][0]["text"]

    with Engine.load(builtin_weights(), arithmetic="invariant", threads=1) as engine:
        engine.start()
        chat, messages, legacy = talk(engine, answers)
    assert chat == messages == legacy
    assert chat.strip()
