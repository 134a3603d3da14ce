from __future__ import annotations

import asyncio

import anthropic
import pytest
from scripted_engine import ScriptedEngine
from served_model import KEY
from server_client import talk

HI = [{"role": "user", "content": "Say hi."}]


def sdk(url, *, key=KEY):
    """A client of the server at `url`, which this SDK wants without its /v1."""
    return anthropic.Anthropic(base_url=url.removesuffix("/v1"), api_key=key, max_retries=0, timeout=60)


def with_sdk(engine, conversation, *, key=KEY, **options):
    def speak(url):
        with sdk(url, key=key) as client:
            return conversation(client)

    return talk(engine, lambda client: asyncio.to_thread(speak, str(client.make_url("/v1"))), **options)


def message(client, **fields):
    return client.messages.create(**{"model": "scripted", "messages": HI, "max_tokens": 50, **fields})


def test_the_sdk_reads_a_message():
    body = with_sdk(ScriptedEngine(), message)
    assert body.content[0].text == "Hello there!"
    assert (body.stop_reason, body.usage.output_tokens) == ("end_turn", 5)


def test_the_sdk_reads_a_stream():
    def conversation(client):
        with client.messages.stream(model="scripted", messages=HI, max_tokens=50, stop_sequences=["!"]) as stream:
            return "".join(stream.text_stream), stream.get_final_message()

    text, final = with_sdk(ScriptedEngine(), conversation)
    assert text == final.content[0].text == "Hello there"
    assert (final.stop_reason, final.stop_sequence) == ("stop_sequence", "!")
    assert final.usage.output_tokens == 4


def test_the_sdk_raises_for_a_fault_in_mid_stream(caplog):
    def conversation(client):
        return list(message(client, stream=True))

    with pytest.raises(anthropic.APIError, match="failed"):
        with_sdk(ScriptedEngine(fail_after=2), conversation)


@pytest.mark.parametrize(
    ("error", "fields", "engine", "options"),
    [
        (anthropic.BadRequestError, {"extra_body": {"temperature": 9}}, {}, {}),
        (anthropic.NotFoundError, {"model": "other"}, {}, {}),
        (anthropic.AuthenticationError, {}, {}, {"api_key": "another"}),
        (anthropic.RateLimitError, {}, {"queue_full": True}, {}),
        (anthropic.InternalServerError, {}, {"fail_after": 0}, {}),
    ],
)
def test_the_sdk_raises_the_error_of_its_kind(error, fields, engine, options, caplog):
    with pytest.raises(error) as caught:
        with_sdk(ScriptedEngine(**engine), lambda client: message(client, **fields), **options)
    assert caught.value.body["type"] == "error"


def test_the_sdk_lists_the_model():
    assert with_sdk(ScriptedEngine(), lambda client: [model.id for model in client.models.list()]) == ["scripted"]


@pytest.fixture
def client(served):
    with sdk(served.url) as client:
        yield client


@pytest.mark.model
def test_a_real_message_streamed_equals_it_unstreamed(client, served):
    fields = {"model": served.model, "messages": HI, "max_tokens": 8, "system": "Be brief."}
    whole = client.messages.create(**fields, extra_body={"temperature": 0})
    with client.messages.stream(**fields) as stream:
        text = "".join(stream.text_stream)
        final = stream.get_final_message()
    assert whole.content[0].text == text != ""
    assert final.stop_reason == whole.stop_reason
    assert final.usage.input_tokens == whole.usage.input_tokens > 0
    assert final.usage.output_tokens == whole.usage.output_tokens <= 8


@pytest.mark.model
def test_real_errors_are_of_their_kind(client, served):
    with pytest.raises(anthropic.NotFoundError):
        message(client)
    with pytest.raises(anthropic.BadRequestError, match="max_tokens"):
        message(client, model=served.model, max_tokens=0)
    with sdk(served.url, key="wrong") as stranger, pytest.raises(anthropic.AuthenticationError):
        message(stranger, model=served.model)
