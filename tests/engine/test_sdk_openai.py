from __future__ import annotations

import asyncio

import openai
import pytest
from scripted_engine import ScriptedEngine
from served_model import KEY
from server_client import talk

HI = [{"role": "user", "content": "Say hi."}]


def sdk(url, *, key=KEY):
    return openai.OpenAI(base_url=url, api_key=key, max_retries=0, timeout=60)


def with_sdk(engine, conversation, *, key=KEY, **options):
    """Run `conversation` with an SDK client of a server over `engine`."""

    def speak(url):
        with sdk(url, key=key) as client:
            return conversation(client)

    return talk(engine, lambda client: asyncio.to_thread(speak, str(client.make_url("/v1"))), **options)


def chat(client, **fields):
    return client.chat.completions.create(model="scripted", messages=HI, **fields)


def test_the_sdk_reads_an_answer():
    body = with_sdk(ScriptedEngine(), chat)
    assert body.choices[0].message.content == "Hello there!"
    assert body.choices[0].finish_reason == "stop"
    assert body.system_fingerprint == "temp0-0123456789ab"
    assert body.usage.completion_tokens == 5


def test_the_sdk_reads_a_stream_with_logprobs_and_usage():
    def conversation(client):
        options = {"include_usage": True}
        return list(chat(client, stream=True, stream_options=options, logprobs=True, top_logprobs=2))

    chunks = with_sdk(ScriptedEngine(), conversation)
    choices = [chunk.choices[0] for chunk in chunks if chunk.choices]
    assert "".join(choice.delta.content or "" for choice in choices) == "Hello there!"
    entries = [entry for choice in choices if choice.logprobs for entry in choice.logprobs.content]
    assert bytes(byte for entry in entries for byte in entry.bytes) == b"Hello there!"
    assert [len(entry.top_logprobs) for entry in entries] == [2] * 5
    assert chunks[-1].usage.total_tokens == 18


def test_the_sdk_raises_for_a_fault_in_mid_stream(caplog):
    with pytest.raises(openai.APIError, match="failed"):
        with_sdk(ScriptedEngine(fail_after=2), lambda client: list(chat(client, stream=True)))


@pytest.mark.parametrize(
    ("error", "fields", "engine", "options"),
    [
        (openai.BadRequestError, {"temperature": 9}, {}, {}),
        (openai.BadRequestError, {"tools": [{"type": "function", "function": {"name": "f"}}]}, {}, {}),
        (openai.NotFoundError, {"extra_body": {"model": "other"}}, {}, {}),
        (openai.AuthenticationError, {}, {}, {"api_key": "another"}),
        (openai.RateLimitError, {}, {"queue_full": True}, {}),
        (openai.InternalServerError, {}, {"fail_after": 0}, {}),
    ],
)
def test_the_sdk_raises_the_error_of_its_kind(error, fields, engine, options, caplog):
    with pytest.raises(error) as caught:
        with_sdk(ScriptedEngine(**engine), lambda client: chat(client, **fields), **options)
    assert caught.value.body["message"]


@pytest.fixture
def client(served):
    with sdk(served.url) as client:
        yield client


def ask(client, served, **fields):
    return client.chat.completions.create(model=served.model, messages=HI, **{"max_tokens": 8, **fields})


@pytest.mark.model
def test_a_real_answer_streamed_equals_it_unstreamed(client, served):
    whole = ask(client, served)
    parts = list(ask(client, served, stream=True))
    assert whole.choices[0].message.content
    assert "".join(part.choices[0].delta.content or "" for part in parts) == whole.choices[0].message.content
    assert parts[-1].choices[0].finish_reason == whole.choices[0].finish_reason
    assert {part.system_fingerprint for part in parts} == {whole.system_fingerprint}


@pytest.mark.model
def test_real_logprobs_are_of_the_text_and_in_order(client, served):
    choice = ask(client, served, logprobs=True, top_logprobs=5).choices[0]
    assert bytes(byte for entry in choice.logprobs.content for byte in entry.bytes).decode() == choice.message.content
    for entry in choice.logprobs.content:
        ranked = [alternative.logprob for alternative in entry.top_logprobs]
        assert ranked == sorted(ranked, reverse=True)
        assert entry.logprob == ranked[0] <= 0


@pytest.mark.model
def test_ignore_eos_fills_the_whole_length(client, served):
    body = ask(client, served, max_tokens=32, extra_body={"ignore_eos": True})
    assert (body.usage.completion_tokens, body.choices[0].finish_reason) == (32, "length")


@pytest.mark.model
def test_a_seed_makes_a_real_sample_repeatable(client, served):
    texts = [ask(client, served, temperature=1.5, seed=seed).choices[0].message.content for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]


@pytest.mark.model
def test_the_real_model_is_listed(client, served):
    assert [model.id for model in client.models.list()] == [served.model]
    assert client.models.retrieve(served.model).id == served.model


@pytest.mark.model
def test_real_errors_are_of_their_kind(client, served):
    with pytest.raises(openai.NotFoundError):
        client.chat.completions.create(model="other", messages=HI)
    with pytest.raises(openai.BadRequestError, match="messages"):
        ask(client, served, extra_body={"messages": []})
    with pytest.raises(openai.BadRequestError, match="context"):
        ask(client, served, max_tokens=10**6)
    with sdk(served.url, key="wrong") as stranger, pytest.raises(openai.AuthenticationError):
        ask(stranger, served)
