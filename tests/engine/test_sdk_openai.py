from __future__ import annotations

import asyncio

import openai
import pytest
from openai.types.responses import Response
from scripted_engine import END, FIRST, ScriptedEngine
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


def complete(client, **fields):
    return client.completions.create(model="scripted", prompt="Say", **fields)


def respond(client, **fields):
    return client.responses.create(model="scripted", input="Say hi.", **fields)


def test_the_sdk_reads_token_ids_of_a_chat():
    def conversation(client):
        asked = {"extra_body": {"return_token_ids": True}}
        return chat(client, **asked), list(chat(client, stream=True, **asked))

    whole, parts = with_sdk(ScriptedEngine(), conversation)
    assert whole.choices[0].token_ids == [FIRST, FIRST + 1, FIRST + 2, FIRST + 3, END]
    assert parts[0].prompt_token_ids == whole.prompt_token_ids == list(b"user:Say hi.\n")
    told = [token for part in parts for token in getattr(part.choices[0], "token_ids", ())]
    assert told == whole.choices[0].token_ids


def test_the_sdk_reads_a_completion():
    body = with_sdk(ScriptedEngine(), complete)
    assert (body.choices[0].text, body.choices[0].finish_reason) == ("Hello there!", "stop")
    assert body.choices[0].logprobs is None
    assert body.usage.completion_tokens == 5


def test_the_sdk_reads_a_completion_with_logprobs_and_echo():
    body = with_sdk(ScriptedEngine(), lambda client: complete(client, logprobs=2, echo=True, max_tokens=1))
    logprobs = body.choices[0].logprobs
    assert body.choices[0].text == "SayHel"
    assert logprobs.tokens == ["S", "a", "y", "Hel"]
    assert logprobs.token_logprobs == [None, -0.5, -1.0, -0.25]
    assert logprobs.text_offset == [0, 1, 2, 3]
    assert logprobs.top_logprobs[0] is None
    assert logprobs.top_logprobs[1] == {" ": -0.125, "!": -0.25, "a": -0.5}


def test_the_sdk_reads_a_streamed_completion_with_echo_and_usage():
    def conversation(client):
        asked = {"echo": True, "logprobs": 0, "stream_options": {"include_usage": True}}
        return list(complete(client, stream=True, **asked))

    chunks = with_sdk(ScriptedEngine(), conversation)
    choices = [chunk.choices[0] for chunk in chunks if chunk.choices]
    assert "".join(choice.text for choice in choices) == "SayHello there!"
    assert len([token for choice in choices if choice.logprobs for token in choice.logprobs.tokens]) == 8
    assert choices[-1].finish_reason == "stop"
    assert chunks[-1].usage.total_tokens == 8


def test_the_sdk_reads_a_response():
    body = with_sdk(ScriptedEngine(cached=1), respond)
    assert (body.output_text, body.status, body.store) == ("Hello there!", "completed", False)
    assert (body.usage.output_tokens, body.usage.input_tokens_details.cached_tokens) == (5, 1)
    Response.model_validate(body.to_dict())


def test_the_sdk_reads_a_response_with_logprobs_that_ran_into_its_limit():
    asked = {"include": ["message.output_text.logprobs"], "top_logprobs": 2, "max_output_tokens": 2}
    body = with_sdk(ScriptedEngine(), lambda client: respond(client, **asked))
    assert (body.status, body.incomplete_details.reason) == ("incomplete", "max_output_tokens")
    entries = body.output[0].content[0].logprobs
    assert bytes(byte for entry in entries for byte in entry.bytes) == b"Hello"
    assert [len(entry.top_logprobs) for entry in entries] == [2, 2]


def test_the_sdk_gathers_a_streamed_response():
    def conversation(client):
        asked = {"include": ["message.output_text.logprobs"], "top_logprobs": 1}
        with client.responses.stream(model="scripted", input="Say hi.", **asked) as stream:
            return list(stream), stream.get_final_response()

    events, final = with_sdk(ScriptedEngine(), conversation)
    deltas = [event for event in events if event.type == "response.output_text.delta"]
    assert "".join(event.delta for event in deltas) == final.output_text == "Hello there!"
    assert [event.snapshot for event in deltas][-1] == "Hello there!"
    assert len([entry for event in deltas for entry in event.logprobs]) == 5
    assert final.usage.total_tokens == 18


def test_every_event_of_a_streamed_response_is_of_its_type():
    events = with_sdk(ScriptedEngine(), lambda client: list(respond(client, stream=True)))
    assert len(events) == 12
    for event in events:
        type(event).model_validate(event.to_dict())


def test_the_sdk_reads_a_fault_in_a_streamed_response(caplog):
    events = with_sdk(ScriptedEngine(fail_after=2), lambda client: list(respond(client, stream=True)))
    assert (events[-1].type, events[-1].response.error.code) == ("response.failed", "server_error")


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
def test_a_real_response_is_the_chats_answer(client, served):
    asked = {"model": served.model, "input": HI, "max_output_tokens": 8}
    text = client.responses.create(**asked).output_text
    assert text == ask(client, served).choices[0].message.content
    assert list(client.responses.create(**asked, stream=True))[-1].response.output_text == text


@pytest.mark.model
def test_a_real_prompt_is_continued_as_it_is_and_scored(client, served):
    prompt = "The capital of France is"
    asked = {"model": served.model, "prompt": prompt, "max_tokens": 4, "logprobs": 2}
    plain = client.completions.create(**asked).choices[0]
    whole = client.completions.create(**asked, echo=True).choices[0]
    assert "Paris" in plain.text
    assert whole.text == prompt + plain.text
    assert "".join(whole.logprobs.tokens) == whole.text
    ends = [*whole.logprobs.text_offset[1:], len(whole.text)]
    cut = [whole.text[start:end] for start, end in zip(whole.logprobs.text_offset, ends, strict=True)]
    assert cut == whole.logprobs.tokens
    assert whole.logprobs.token_logprobs[0] is None
    assert all(logprob < 0 for logprob in whole.logprobs.token_logprobs[1:])


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
