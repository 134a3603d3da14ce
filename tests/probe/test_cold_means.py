"""Cold by the server's own means: which server it is, what it has, and that nothing is pretended."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted_server import BODIES, ScriptedServer, http, question, recorded_http

from temp0.core.run import Failure
from temp0.errors import UsageError
from temp0.probe.connection import Connection
from temp0.probe.dialect import DIALECTS
from temp0.probe.endpoint import ColdMeans, NoColdMeans
from temp0.probe.gauge import Gauge
from temp0.probe.key import Key
from temp0.probe.opening import open_endpoint
from temp0.probe.prefix_cache import NOT_COLD, SERVERS, SGLANG, VLLM, PrefixCache, reset_told

T = TypeVar("T")
Routes = Mapping[str, bytes | list[bytes]]

LLAMA = (BODIES / "llama_models.json").read_bytes()
NO_ROUTE = http('{"detail":"Not Found"}', "404 Not Found")
DONE = http('{"success":true}')
HELD = http('{"success":false}')
FLUSHED = http("Cache flushed.\nPlease check backend logs for more details.\n", headers=("Content-Type: text/plain",))
BUSY = http("Flush cache failed.\n", "400 Bad Request", headers=("Content-Type: text/plain",))
VLLM_RESET = "POST /reset_prefix_cache?reset_external=true"


def models(owner: str) -> bytes:
    return http(f'{{"object":"list","data":[{{"id":"m","object":"model","owned_by":"{owner}"}}]}}')


def metrics(text: str) -> bytes:
    return http(text, headers=("Content-Type: text/plain",))


def routed(routes: Routes) -> ScriptedServer:
    """A server that answers by method and path, the last answer of a route again and again, others with 404."""
    left = {route: [answer] if isinstance(answer, bytes) else list(answer) for route, answer in routes.items()}

    async def play(writer: asyncio.StreamWriter) -> None:
        answers = left.get(server.received[-1].line.removesuffix(" HTTP/1.1"), [NO_ROUTE])
        writer.write(answers.pop(0) if len(answers) > 1 else answers[0])
        await writer.drain()

    server = ScriptedServer(play)
    return server


def with_cache(
    routes: Routes,
    do: Callable[[PrefixCache], Awaitable[T]],
    *,
    api: str = "openai-chat",
    path: str = "/v1",
    key: Key | None = None,
) -> tuple[T, list[str]]:
    """What `do` gives, and the first lines of all requests that were sent."""

    async def go() -> tuple[T, list[str]]:
        async with routed(routes) as server:
            url = server.url + path
            connection = Connection(url, key=key)
            cache = PrefixCache(
                connection, url, dialect=DIALECTS[api], model="m", gauge=Gauge(connection, url), pauses_s=(0, 0, 0)
            )
            given = await do(cache)
            await connection.close()
            return given, [sent.line.removesuffix(" HTTP/1.1") for sent in server.received]

    return asyncio.run(go())


def means(routes: Routes, *, api: str = "openai-chat") -> ColdMeans | NoColdMeans:
    return with_cache(routes, PrefixCache.means, api=api)[0]


def why_not(routes: Routes, *, api: str = "openai-chat") -> str:
    found = means(routes, api=api)
    assert isinstance(found, NoColdMeans)
    return found.why


async def found_and_reset(cache: PrefixCache) -> Failure | None:
    assert isinstance(await cache.means(), ColdMeans)
    return await cache.reset()


def test_llama_cpp_is_recognised_and_bypassed_by_each_question():
    found, sent = with_cache({"GET /v1/models": http(LLAMA)}, PrefixCache.means)
    assert found == ColdMeans(server="llama.cpp", by="cache_prompt: false", is_reset=False)
    assert sent == ["GET /v1/models"]


def test_our_own_server_is_bypassed_by_each_question_in_either_dialect():
    for api in ("openai-chat", "anthropic"):
        found = means({"GET /v1/models": models("temp0")}, api=api)
        assert found == ColdMeans(server="temp0", by="cache_prompt: false", is_reset=False)


def test_a_field_that_the_dialect_drops_is_no_means():
    assert why_not({"GET /v1/models": http(LLAMA)}, api="anthropic") == (
        "llama.cpp takes no cache_prompt: false in the dialect anthropic"
    )


@pytest.mark.parametrize(
    ("owner", "route", "answer", "server", "by"),
    [
        ("vllm", VLLM_RESET, DONE, "vLLM", "POST /reset_prefix_cache"),
        ("vllm", VLLM_RESET, http(""), "vLLM", "POST /reset_prefix_cache"),
        ("vllm", VLLM_RESET, HELD, "vLLM", "POST /reset_prefix_cache"),
        ("sglang", "POST /flush_cache", FLUSHED, "SGLang", "POST /flush_cache"),
        ("sglang", "POST /flush_cache", BUSY, "SGLang", "POST /flush_cache"),
    ],
)
def test_a_server_with_a_reset_is_reset(owner: str, route: str, answer: bytes, server: str, by: str):
    found, sent = with_cache({"GET /v1/models": models(owner), route: answer}, PrefixCache.means)
    assert found == ColdMeans(server=server, by=by, is_reset=True)
    assert [line for line in sent if line not in {"GET /metrics", "GET /version"}] == ["GET /v1/models", route]


def test_vllm_without_its_reset_says_how_to_have_one():
    assert why_not({"GET /v1/models": models("vllm")}) == (
        "vLLM was asked to POST /reset_prefix_cache, and has it only when it is started with VLLM_SERVER_DEV_MODE=1"
    )


@pytest.mark.parametrize("release", ["0.9.0", "0.10.2rc1", "0.26.0.dev7+g1234abc", "1.0"])
@pytest.mark.parametrize("api", ["openai-chat", "vllm"])
def test_vllm_of_a_release_that_knows_salts_gets_a_new_one_with_each_cold_question(release: str, api: str):
    async def salts(cache: PrefixCache) -> tuple[ColdMeans | NoColdMeans, list[object], list[bool]]:
        found = await cache.means()
        asked = [replace(question(), cache=state) for state in ("cold", "cold", "warm", "as-found")]
        assert await cache.reset() is None
        return (
            found,
            [cache.fields(each).get("cache_salt") for each in asked],
            [cache.is_salted(each) for each in asked],
        )

    routes = {"GET /v1/models": models("vllm"), "GET /version": http(f'{{"version":"{release}"}}')}
    (found, salts_sent, salted), _ = with_cache(routes, salts, api=api)
    assert found == ColdMeans(server="vLLM", by="a new cache_salt each time", is_reset=False)
    assert salts_sent[2:] == [None, None]
    assert salts_sent[0] != salts_sent[1]
    assert all(isinstance(salt, str) and len(salt) >= 43 for salt in salts_sent[:2])
    assert salted == [True, True, False, False]


def test_vllm_that_has_both_is_reset_and_salted():
    async def act(cache: PrefixCache) -> tuple[ColdMeans | NoColdMeans, bool]:
        found = await cache.means()
        assert await cache.reset() is None
        return found, cache.is_salted(replace(question(), cache="cold"))

    routes = {"GET /v1/models": models("vllm"), "GET /version": http('{"version":"0.11.0"}'), VLLM_RESET: DONE}
    (found, salted), sent = with_cache(routes, act)
    by = "POST /reset_prefix_cache, and a new cache_salt each time"
    assert (found, salted) == (ColdMeans(server="vLLM", by=by, is_reset=True), True)
    assert sent.count(VLLM_RESET) == 2


@pytest.mark.parametrize("answer", ['{"version":"0.8.5"}', '{"version":7}', '{"version":"main"}', "{}", "<html>"])
def test_vllm_that_may_pass_over_a_salt_is_reset(answer: str):
    routes = {"GET /v1/models": models("vllm"), "GET /version": http(answer), VLLM_RESET: DONE}
    assert means(routes) == ColdMeans(server="vLLM", by="POST /reset_prefix_cache", is_reset=True)


def test_a_dialect_that_has_no_salt_is_reset():
    routes = {"GET /v1/models": models("vllm"), "GET /version": http('{"version":"0.9.0"}'), VLLM_RESET: DONE}
    assert means(routes, api="anthropic") == ColdMeans(server="vLLM", by="POST /reset_prefix_cache", is_reset=True)


def test_a_reset_that_is_forbidden_is_no_means():
    refused = http('{"error":"Unauthorized"}', "401 Unauthorized")
    assert why_not({"GET /v1/models": models("sglang"), "POST /flush_cache": refused}).endswith(
        "answers HTTP 401: Unauthorized"
    )


@pytest.mark.parametrize(
    ("routes", "server"),
    [
        ({"GET /props": http('{"title":"my props"}')}, None),
        ({"GET /props": http('{"total_slots":4,"model_path":"m.gguf"}')}, "llama.cpp"),
        ({"GET /metrics": metrics("# HELP llamacpp:n x\nllamacpp:requests_processing 0\n")}, "llama.cpp"),
        ({"GET /metrics": metrics("temp0_requests_running 0\n")}, "temp0"),
        ({"GET /metrics": metrics('vllm:num_requests_running{engine="0"} 0.0\n'), VLLM_RESET: DONE}, "vLLM"),
        ({"GET /metrics": metrics("sglang:num_running_reqs 0\n"), "POST /flush_cache": FLUSHED}, "SGLang"),
        ({"GET /metrics": metrics("# llamacpp:is not here\nmy_llamacpp:x 1\n")}, None),
    ],
)
def test_a_server_that_hides_its_owner_is_known_by_its_properties_or_metrics(routes: Routes, server: str | None):
    found = means({"GET /v1/models": models("somebody"), **routes})
    assert (found.server if isinstance(found, ColdMeans) else None) == server


def test_a_server_that_nobody_recognises_may_have_a_reset_all_the_same():
    found = means({"GET /v1/models": models("somebody"), VLLM_RESET: DONE})
    assert found == ColdMeans(server="the server", by="POST /reset_prefix_cache", is_reset=True)


@pytest.mark.parametrize(
    "anything", [http("{}"), http(""), http('{"choices":[]}'), http("<html>welcome</html>"), http('{"success":1}')]
)
def test_a_server_that_says_yes_to_anything_has_no_means(anything: bytes):
    routes = {"GET /v1/models": models("somebody"), VLLM_RESET: anything, "POST /flush_cache": anything}
    assert "none of llama.cpp, temp0, vLLM, SGLang" in why_not(routes)


def test_transformers_server_has_no_means():
    assert "none of llama.cpp" in why_not({"GET /v1/models": recorded_http("tserve_models.http")})


def test_a_gateway_of_many_owners_is_judged_by_our_model():
    listed = '{"data":[{"id":"m","owned_by":"llamacpp"},{"id":"n","owned_by":"openai"}]}'
    assert isinstance(means({"GET /v1/models": http(listed)}), ColdMeans)
    assert isinstance(means({"GET /v1/models": http(listed.replace('"m"', '"o"'))}), NoColdMeans)


def test_the_server_is_asked_only_once():
    async def twice(cache: PrefixCache) -> None:
        assert await cache.means() is await cache.means()

    assert with_cache({"GET /v1/models": http(LLAMA)}, twice)[1] == ["GET /v1/models"]


def test_a_hosted_api_is_never_asked(monkeypatch: pytest.MonkeyPatch):
    async def go() -> tuple[ColdMeans | NoColdMeans, int]:
        async with routed({}) as server:
            monkeypatch.setenv("http_proxy", server.url)
            monkeypatch.setenv("no_proxy", "")
            endpoint = await open_endpoint("http://api.openai.com", model="m", environ={})
            found = await endpoint.cold_means()
            await endpoint.close()
            return found, len(server.received)

    found, requests = asyncio.run(go())
    assert isinstance(found, NoColdMeans)
    assert requests == 0


def test_a_server_under_a_path_is_reset_under_it():
    routes = {"GET /some/v1/models": models("vllm"), "POST /some/reset_prefix_cache?reset_external=true": DONE}
    found, _ = with_cache(routes, PrefixCache.means, path="/some/v1")
    assert isinstance(found, ColdMeans)


@pytest.mark.parametrize(
    ("routes", "reset"),
    [
        ({"GET /v1/models": models("vllm"), VLLM_RESET: [DONE, HELD, HELD, DONE]}, VLLM_RESET),
        (
            {"GET /v1/models": models("sglang"), "POST /flush_cache": [FLUSHED, BUSY, BUSY, FLUSHED]},
            "POST /flush_cache",
        ),
    ],
)
def test_a_busy_server_is_asked_again_for_a_short_while(routes: Routes, reset: str):
    refusal, sent = with_cache(routes, found_and_reset)
    assert refusal is None
    assert sent.count(reset) == 4


@pytest.mark.parametrize("later", [HELD, BUSY, http("oops", "500 Server Error"), NO_ROUTE])
def test_a_server_that_will_not_is_a_failure_and_never_taken_for_cold(later: bytes):
    for owner, route, first in (("vllm", VLLM_RESET, DONE), ("sglang", "POST /flush_cache", FLUSHED)):
        refusal, _ = with_cache({"GET /v1/models": models(owner), route: [first, later]}, found_and_reset)
        assert refusal is not None
        assert refusal.reason == NOT_COLD
        assert "would not empty its prefix cache" in refusal.message


def test_an_old_vllm_that_does_not_tell_is_believed_only_when_it_is_idle():
    """Before 0.26 it answered 200 whether it had reset anything or not."""
    running, idle = (metrics(f"vllm:num_requests_running {count}\n") for count in (1, 0))
    routes = {"GET /v1/models": models("vllm"), VLLM_RESET: http("")}
    refusal, _ = with_cache({**routes, "GET /metrics": running}, found_and_reset)
    assert refusal is not None
    assert "requests of others are running" in refusal.message
    assert with_cache({**routes, "GET /metrics": [running, running, idle]}, found_and_reset)[0] is None
    assert with_cache(routes, found_and_reset)[0] is None


def test_a_bypass_needs_no_reset():
    refusal, sent = with_cache({"GET /v1/models": http(LLAMA)}, found_and_reset)
    assert refusal is None
    assert sent == ["GET /v1/models"]


def test_only_a_cold_question_carries_the_field():
    async def fields(cache: PrefixCache) -> list[object]:
        await cache.means()
        return [dict(cache.fields(replace(question(), cache=state))) for state in ("as-found", "cold", "warm")]

    assert with_cache({"GET /v1/models": http(LLAMA)}, fields)[0] == [{}, {"cache_prompt": False}, {}]
    assert with_cache({"GET /v1/models": models("vllm"), VLLM_RESET: DONE}, fields)[0] == [{}, {}, {}]


def test_a_cold_question_without_a_means_is_refused_before_it_is_sent():
    async def ask(cache: PrefixCache) -> None:
        await cache.means()
        with pytest.raises(UsageError, match="none is known here"):
            cache.fields(replace(question(), cache="cold"))

    with_cache({"GET /v1/models": recorded_http("tserve_models.http")}, ask)


def test_a_cold_question_arrives_with_the_field_and_others_without():
    async def go() -> list[bytes]:
        answer = recorded_http("llama_chat_plain.http")
        async with routed({"GET /v1/models": http(LLAMA), "POST /v1/chat/completions": answer}) as server:
            endpoint = await open_endpoint(server.url, environ={})
            assert isinstance(await endpoint.cold_means(), ColdMeans)
            for state in ("cold", "warm", "as-found"):
                await endpoint.complete(replace(question(), cache=state))
            await endpoint.close()
            return [sent.body for sent in server.received if sent.line.startswith("POST")]

    assert [b'"cache_prompt":false' in body for body in asyncio.run(go())] == [True, False, False]


def test_a_refusal_that_repeats_the_key_does_not_show_it():
    echo = http('{"error":"bad key sk-12345678"}', "500 Server Error")
    routes = {"GET /v1/models": models("vllm"), VLLM_RESET: [DONE, echo]}
    refusal, _ = with_cache(routes, found_and_reset, key=Key(value="sk-12345678"))
    assert refusal is not None
    assert "sk-12345678" not in refusal.message
    assert "bad key [key]" in refusal.message


@settings(deadline=None)
@given(st.sampled_from(SERVERS), st.integers(100, 599), st.binary(max_size=60))
def test_any_answer_to_a_reset_is_read_without_an_exception(server, status: int, body: bytes):
    told = reset_told(server, status, body)
    assert not (told.is_done and told.may_come)
    assert not told.is_done or 200 <= status < 300


def test_success_false_is_never_done():
    assert not reset_told(VLLM, 200, b'{"success": false}').is_done
    assert not reset_told(SGLANG, 200, b'{"success": false}').is_done
