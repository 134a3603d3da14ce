"""From a URL to an endpoint: dialects recognised, models found, secrets refused."""

import asyncio
import json
from urllib.parse import urlsplit

import pytest
from scripted_server import BODIES, Play, Received, ScriptedServer, http, question, recorded_http, then_close

from temp0.core.run import Address, Completion
from temp0.errors import EndpointError, Temp0Error, UsageError
from temp0.probe.dialect import DIALECTS
from temp0.probe.opening import API_PATHS, OpenedEndpoint, open_endpoint
from temp0.probe.recognition import recognition

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
        ("http://host/v1/completions", "openai-completions"),
        ("http://host/v1/responses", "openai-responses"),
        ("https://host/v1/messages", "anthropic"),
        ("http://host:11434/api/chat", "ollama"),
        ("http://127.0.0.1:11434", "ollama"),
        ("http://127.0.0.1:11434/v1", "openai-chat"),
        ("http://host:11434/api/generate", "ollama"),
        ("http://host:8080/completion", "llamacpp"),
        ("http://host:30000/generate", "sglang"),
        ("https://api.openai.com/v1", "openai-chat"),
        ("https://api.openai.com/v1/responses", "openai-responses"),
        ("https://api.anthropic.com", "anthropic"),
        ("https://api.anthropic.com/v1", "anthropic"),
        ("https://api.mistral.ai", "mistral"),
        ("https://api.mistral.ai/v1/chat/completions", "mistral"),
        ("https://ollama.com", "ollama"),
        ("https://openrouter.ai", "openrouter"),
        ("https://openrouter.ai/api/v1", "openrouter"),
        ("https://openrouter.ai.evil.example/api/v1", "openai-chat"),
        ("https://mine.openai.azure.com", "azure"),
        ("https://mine.openai.azure.com/openai/v1", "azure"),
        ("https://mine.openai.azure.com/openai/v1/chat/completions", "azure"),
        ("https://mine.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-10-21", "azure"),
        ("https://gateway.example/openai/deployments/d?api-version=2024-10-21", "azure"),
        ("https://mine.openai.azure.com.evil.example/v1", "openai-chat"),
    ],
)
def test_the_dialect_is_recognised_by_the_url(url: str, api: str):
    assert recognition(urlsplit(url), None).dialect is DIALECTS[api]


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("/generate", "POST /generate HTTP/1.1"),
        ("/v1/chat/completions", "POST /v1/chat/completions HTTP/1.1"),
    ],
)
def test_the_url_tells_which_form_of_a_dialect_is_asked(path: str, line: str):
    async def go() -> str:
        async with ScriptedServer(http("{}")) as server:
            endpoint = await open_endpoint(server.url + path, model="m", api="sglang", environ={})
            await endpoint.complete(question())
            await endpoint.close()
            assert endpoint.address.api == "sglang"
            return server.received[0].line

    assert asyncio.run(go()) == line


def test_a_dialect_can_be_forced():
    assert address("http://host/odd/path", api="anthropic") == Address(
        url="http://host/odd/path", api="anthropic", model="m"
    )


def test_a_dialect_that_is_not_spoken_is_refused():
    assert refusal("http://host/v1", api="grpc") == (
        f"the dialect 'grpc' is not known; temp0 speaks {', '.join(DIALECTS)}"
    )


def test_a_path_that_does_not_tell_is_refused_with_those_that_do():
    message = refusal("http://host/odd/path")
    assert "the path '/odd/path' does not tell which dialect" in message
    assert "/chat/completions, /v1, /completions, /responses, /messages" in message
    assert f"--api ({', '.join(DIALECTS)})" in message


def test_every_dialect_has_a_name_that_can_be_forced():
    assert set(API_PATHS) >= set(DIALECTS)
    names = "openai-chat openai-completions openai-responses anthropic mistral ollama llamacpp vllm sglang"
    assert list(API_PATHS)[:9] == names.split()


@pytest.mark.parametrize(
    ("path", "owner", "api", "because"),
    [
        ("", "vllm", "vllm", "its models are owned by 'vllm'"),
        ("/v1", "vllm", "vllm", "its models are owned by 'vllm'"),
        ("/v1/", "sglang", "sglang", "its models are owned by 'sglang'"),
        ("", "library", "ollama", "its models are owned by 'library'"),
        ("/v1", "library", "openai-chat", "its path ends in /v1"),
        ("/v1", "llamacpp", "openai-chat", "its path ends in /v1"),
        ("", "temp0", "openai-chat", "the usual one; the URL names none"),
        ("/v1/chat/completions", "vllm", "openai-chat", "its path ends in /chat/completions"),
    ],
)
@pytest.mark.parametrize("model", [None, "m"])
def test_where_the_url_is_open_the_owner_of_the_models_tells(
    path: str, owner: str, api: str, because: str, model: str | None
):
    listed = http(f'{{"data":[{{"id":"m","owned_by":"{owner}"}}]}}')
    assert recognised(path, listed, model=model) == (api, because)


def test_a_forced_dialect_is_not_corrected():
    listed = http('{"data":[{"id":"m","owned_by":"vllm"}]}')
    assert recognised("/v1", listed, model="m", api="openai-chat") == ("openai-chat", "as asked for")


@pytest.mark.parametrize(
    "answer",
    [
        http("", "404 Not Found"),
        http("<html>"),
        http('{"data":[{"id":"m"}]}'),
        http('{"data":[{"id":"a","owned_by":"vllm"},{"id":"b","owned_by":"somebody"}]}'),
        http('{"data":[{"id":"m","owned_by":["vllm"]}]}'),
        then_close(b""),
    ],
)
def test_a_list_that_tells_nothing_is_done_without_where_the_model_is_known(answer: bytes | Play):
    assert recognised("/v1", answer, model="m") == ("openai-chat", "its path ends in /v1")


def test_ours_counts_among_the_models_of_many_owners():
    listed = http('{"data":[{"id":"m","owned_by":"vllm"},{"id":"n","owned_by":"somebody"}]}')
    assert recognised("/v1", listed, model="m")[0] == "vllm"


def recognised(path: str, answer: bytes | Play, *, model: str | None, api: str | None = None) -> tuple[str, str]:
    async def go() -> tuple[str, str]:
        async with ScriptedServer(answer) as server:
            endpoint = await open_endpoint(server.url + path, model=model, api=api, environ={})
            await endpoint.close()
            assert isinstance(endpoint, OpenedEndpoint)
            return endpoint.address.api, endpoint.because

    return asyncio.run(go())


def test_a_deployment_is_the_model_of_an_azure_url():
    url = "https://mine.openai.azure.com/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21"
    assert address(url, model=None) == Address(url=url, api="azure", model="gpt-4o")


def test_a_deployment_without_a_version_is_refused_with_one_to_add():
    message = refusal("https://mine.openai.azure.com/openai/deployments/gpt-4o/chat/completions")
    assert "?api-version=2024-10-21" in message


def test_what_the_user_adds_to_a_body_goes_over_what_the_dialect_says():
    async def go() -> dict[str, object]:
        async with ScriptedServer(recorded_http("llama_chat_plain.http")) as server:
            url, extra = server.url + "/v1/chat/completions", {"top_p": 0.5, "think": False, "seed": 0}
            endpoint = await open_endpoint(url, model="m", extra=extra, environ={})
            await endpoint.complete(question())
            await endpoint.close()
            sent: dict[str, object] = json.loads(server.received[0].body)
            return sent

    sent = asyncio.run(go())
    assert (sent["top_p"], sent["think"], sent["seed"], sent["temperature"]) == (0.5, False, 0, 0)


def test_headers_of_the_users_own_go_out_in_the_place_of_ours():
    async def go() -> Received:
        async with ScriptedServer(recorded_http("llama_chat_plain.http")) as server:
            endpoint = await open_endpoint(
                server.url + "/v1/chat/completions",
                model="m",
                headers=(("authorization", "Basic abc"), ("X-Team", "red")),
                environ={"OPENAI_API_KEY": "sk-12345678"},
            )
            await endpoint.complete(question())
            await endpoint.close()
            return server.received[0]

    sent = asyncio.run(go())
    assert (sent.headers["authorization"], sent.headers["x-team"]) == ("Basic abc", "red")
    assert b"sk-12345678" not in sent.body


def test_a_header_of_the_users_own_goes_out_once_however_it_is_written():
    async def go() -> bytes:
        heads: list[bytes] = []

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            heads.append(await reader.readuntil(b"\r\n\r\n"))
            writer.write(MODELS)
            writer.close()

        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            own, environ = (("AUTHORIZATION", "Basic abc"),), {"OPENAI_API_KEY": "sk-12345678"}
            await (await open_endpoint(url, headers=own, environ=environ)).close()
        return heads[0]

    assert asyncio.run(go()).lower().count(b"authorization:") == 1


def test_a_secret_header_is_kept_out_of_what_is_recorded():
    async def go() -> str:
        said = http('{"error":{"message":"no such user: hush-hush-1 or hush-hush-2"}}', "401 Unauthorized")
        async with ScriptedServer(said) as server:
            endpoint = await open_endpoint(
                server.url + "/v1/chat/completions",
                model="m",
                headers=(("X-Auth-User", "Bearer hush-hush-1"), ("Cookie", "a=hush-hush-2; b=1")),
                environ={},
            )
            answer = await endpoint.complete(question())
            await endpoint.close()
            return repr(answer)

    said = asyncio.run(go())
    assert "no such user: [key] or [key]" in said
    assert "hush" not in said


@pytest.mark.parametrize("header", [("X Y", "a"), ("", "a"), ("X-Y", "a\nB: c"), ("X-Y", "hush\x00"), ("X-Y:", "b")])
def test_a_header_that_http_cannot_carry_is_refused_without_its_value(header: tuple[str, str]):
    async def go() -> None:
        await open_endpoint("http://host/v1", model="m", headers=[header], environ={})

    with pytest.raises(UsageError, match="cannot be sent") as caught:
        asyncio.run(go())
    assert "hush" not in str(caught.value)


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
