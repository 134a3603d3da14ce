"""From a URL to an endpoint: dialects recognised, models found, secrets refused."""

import asyncio

import pytest
from scripted_server import BODIES, Play, ScriptedServer, http, question, recorded_http, then_close

from temp0.core.run import Address, Completion
from temp0.errors import EndpointError, Temp0Error, UsageError
from temp0.probe.opening import API_PATHS, open_endpoint

MODELS = http((BODIES / "llama_models.json").read_bytes())


def address(url: str, *, model: str | None = "m", api: str | None = None) -> Address:
    async def go() -> Address:
        endpoint = await open_endpoint(url, model=model, api=api, environ={})
        await endpoint.close()
        return endpoint.address

    return asyncio.run(go())


def refusal(url: str, *, model: str | None = "m", api: str | None = None, key_env: str | None = None) -> str:
    async def go() -> None:
        await open_endpoint(url, model=model, api=api, key_env=key_env, environ={})

    with pytest.raises(Temp0Error) as caught:
        asyncio.run(go())
    assert caught.value.__cause__ is None
    return str(caught.value)


def refusal_of_models(answer: bytes | Play) -> str:
    async def go() -> str:
        async with ScriptedServer(answer) as server:
            with pytest.raises(EndpointError) as caught:
                await open_endpoint(server.url, environ={})
            return str(caught.value)

    return asyncio.run(go())


@pytest.mark.parametrize(
    ("url", "api"),
    [
        ("http://127.0.0.1:8000", "openai-chat"),
        ("http://127.0.0.1:8000/v1", "openai-chat"),
        ("http://host/some/v1/", "openai-chat"),
        ("https://host/v1/chat/completions", "openai-chat"),
        ("https://openrouter.ai", "openai-chat"),
        ("https://api.mistral.ai/v1", "openai-chat"),
        ("https://api.anthropic.com", "anthropic"),
        ("https://api.anthropic.com/v1", "anthropic"),
        ("https://host/v1/messages", "anthropic"),
    ],
)
def test_the_dialect_is_recognised_by_the_url(url: str, api: str):
    assert address(url) == Address(url=url.rstrip("/"), api=api, model="m")


def test_a_dialect_can_be_forced():
    assert address("http://host/odd/path", api="anthropic").api == "anthropic"


@pytest.mark.parametrize(
    ("url", "api", "said"),
    [
        (
            "http://host/v1/completions",
            None,
            "'openai-completions' is not spoken yet; temp0 speaks openai-chat, anthropic",
        ),
        ("http://host/v1/responses", None, "'openai-responses' is not spoken yet"),
        ("http://host:11434/api/chat", None, "'ollama' is not spoken yet"),
        ("http://host/v1", "vllm", "'vllm' is not spoken yet"),
        ("http://host/v1", "grpc", "'grpc' is not known; temp0 speaks openai-chat, anthropic"),
        ("http://host/odd/path", None, "the path '/odd/path' does not tell which dialect"),
    ],
)
def test_a_dialect_that_is_not_spoken_is_refused(url: str, api: str | None, said: str):
    assert said in refusal(url, api=api)


def test_every_name_of_a_dialect_is_known():
    names = "openai-chat openai-completions openai-responses anthropic mistral ollama llamacpp vllm sglang"
    assert list(API_PATHS) == names.split()


@pytest.mark.parametrize("url", ["localhost:8000/v1", "ftp://host", "http://", "", "http:///v1", "/v1", "fake"])
def test_what_is_no_url_is_refused_with_an_example(url: str):
    assert "http://127.0.0.1:8000/v1" in refusal(url)


@pytest.mark.parametrize(
    "url", ["http://[::1", "http://host:sk-123", "http://host:99999", "http://me:pw@\u2100.example"]
)
def test_a_url_that_cannot_be_read_is_refused_without_repeating_it(url: str):
    assert refusal(url) == "the endpoint is no URL that can be read: look at its host and port"


@pytest.mark.parametrize(
    "url",
    [
        "https://me:sk-123@host/v1",
        "https://sk-123@host/v1",
        "https://host/v1?api-key=sk-123",
        "https://host/v1?x=1&access_token=sk-123",
        "https://host/v1?KEY=sk-123",
    ],
)
def test_a_secret_in_the_url_is_refused_and_not_repeated(url: str):
    message = refusal(url)
    assert "sk-123" not in message
    assert "--key-env" in message


def test_a_harmless_parameter_is_kept():
    assert address("https://host/v1?api-version=2").url == "https://host/v1?api-version=2"


def test_a_named_variable_that_is_not_set_is_a_usage_error():
    async def go() -> None:
        await open_endpoint("http://host/v1", model="m", key_env="MINE", environ={})

    with pytest.raises(UsageError, match="MINE"):
        asyncio.run(go())


def test_the_only_model_is_taken():
    async def go() -> Address:
        async with ScriptedServer(MODELS) as server:
            endpoint = await open_endpoint(server.url, environ={})
            await endpoint.close()
            assert server.received[0].line == "GET /v1/models HTTP/1.1"
            return endpoint.address

    assert asyncio.run(go()).model == "models/smol-BF16.gguf"


def test_several_models_are_listed_ten_of_them():
    ids = ",".join(f'{{"id":"model-{number}"}}' for number in range(12))
    message = refusal_of_models(http(f'{{"data":[{ids}]}}'))
    assert "12 models" in message
    assert "model-9, ..." in message
    assert "model-10" not in message


@pytest.mark.parametrize(
    "answer",
    [
        http("", "404 Not Found"),
        http('{"data":[]}'),
        http('{"data":{"id":"x"}}'),
        http('{"data":[{"id":3},7]}'),
        http("<html>"),
        http("[" * 100_000),
        then_close(b""),
    ],
)
def test_a_server_that_names_no_model_asks_for_the_flag(answer: bytes | Play):
    assert "--model" in refusal_of_models(answer)


def test_why_no_model_is_known_is_said():
    assert "HTTP 404: File Not Found" in refusal_of_models(recorded_http("llama_404.http"))


def test_an_opened_endpoint_asks_with_the_key_of_the_environment():
    async def go() -> None:
        async with ScriptedServer(recorded_http("llama_chat_plain.http")) as server:
            environ = {"OPENAI_API_KEY": "sk-12345678"}
            endpoint = await open_endpoint(server.url, model="m", environ=environ)
            answer = await endpoint.complete(question())
            await endpoint.close()
            assert isinstance(answer.outcome, Completion)
            assert server.received[0].headers["authorization"] == "Bearer sk-12345678"
            assert "sk-12345678" not in repr((endpoint, endpoint.address, answer))

    asyncio.run(go())


def test_a_known_host_is_asked_under_its_own_path(monkeypatch: pytest.MonkeyPatch):
    async def go() -> str:
        async with ScriptedServer(recorded_http("llama_chat_plain.http")) as server:
            monkeypatch.setenv("http_proxy", server.url)
            monkeypatch.setenv("no_proxy", "")
            endpoint = await open_endpoint("http://api.groq.com", model="m", environ={"GROQ_API_KEY": "gsk-123456"})
            await endpoint.complete(question())
            await endpoint.close()
            assert endpoint.address.url == "http://api.groq.com"
            assert "authorization" not in server.received[0].headers
            return server.received[0].line

    assert asyncio.run(go()) == "POST http://api.groq.com/openai/v1/chat/completions HTTP/1.1"


def test_a_fake_endpoint_is_opened_by_its_url():
    assert address("fake:rate=0.5", model=None) == Address(url="fake:rate=0.5", api="fake", model="fake")
