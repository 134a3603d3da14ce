"""vLLM and SGLang as their documentation has them: recognised, nothing left to the model, made cold."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

import pytest
from engine_server import DEFAULTS, IDS, EngineServer
from scripted_server import question

from temp0.core.run import Completion, Question
from temp0.probe.endpoint import ColdMeans, Endpoint
from temp0.probe.opening import open_endpoint

T = TypeVar("T")
ENGINES = pytest.mark.parametrize("engine", ["vllm", "sglang"])


def with_engine(engine: EngineServer, act: Callable[[Endpoint], Awaitable[T]], *, api: str | None = None) -> T:
    async def go() -> T:
        async with engine.serve() as server:
            endpoint = await open_endpoint(server.url, api=api, environ={})
            try:
                return await act(endpoint)
            finally:
                await endpoint.close()

    return asyncio.run(go())


def asked(engine: EngineServer, *questions: Question, api: str | None = None) -> list[Completion]:
    async def act(endpoint: Endpoint) -> list[Completion]:
        answers = [await endpoint.complete(each) for each in questions]
        assert all(isinstance(answer.outcome, Completion) for answer in answers), answers
        return [answer.outcome for answer in answers if isinstance(answer.outcome, Completion)]

    return with_engine(engine, act, api=api)


@ENGINES
def test_the_engine_is_recognised_and_its_only_model_taken(engine: str):
    async def act(endpoint: Endpoint) -> tuple[str, str]:
        return endpoint.address.api, endpoint.address.model

    assert with_engine(EngineServer(engine), act) == (engine, "qwen")


@ENGINES
@pytest.mark.parametrize("stream", [False, True])
def test_nothing_is_left_to_the_models_own_sampling(engine: str, stream: bool):
    (read,) = asked(EngineServer(engine), question(stream=stream))
    assert (read.text, read.finish, read.usage.completion) == ("Café", "stop", 3)


def test_the_server_of_this_test_tells_what_was_left_to_the_model():
    server = EngineServer("vllm")
    assert b"left to the model: " + ", ".join(DEFAULTS).encode() in server._completion({"stream": False})


@ENGINES
def test_streamed_and_whole_answers_give_the_same_record(engine: str):
    whole, streamed = asked(EngineServer(engine), question(), question(stream=True))
    assert whole == streamed


@pytest.mark.parametrize("stream", [False, True])
def test_token_ids_come_with_logprobs(stream: bool):
    (read,) = asked(EngineServer("vllm"), question(logprobs=True, stream=stream))
    assert [token.id for token in read.tokens or ()] == list(IDS)


def test_token_ids_come_with_logprobs_of_whole_answers_of_sglang():
    whole, streamed = asked(EngineServer("sglang"), question(logprobs=True), question(logprobs=True, stream=True))
    assert [token.id for token in whole.tokens or ()] == list(IDS)
    assert [token.id for token in streamed.tokens or ()] == [None, None, None]


@ENGINES
def test_the_engines_own_count_is_told(engine: str):
    async def act(endpoint: Endpoint) -> float | None:
        return await endpoint.running()

    assert with_engine(EngineServer(engine, running=3), act) == 3


def cold_twice(engine: EngineServer) -> ColdMeans:
    async def act(endpoint: Endpoint) -> ColdMeans:
        means = await endpoint.cold_means()
        assert isinstance(means, ColdMeans)
        assert await endpoint.make_cold() is None
        for state in ("cold", "cold", "warm"):
            await endpoint.complete(replace(question(), cache=state))
        return means

    return with_engine(engine, act)


def test_each_cold_question_to_vllm_has_a_salt_of_its_own():
    engine = EngineServer("vllm")
    assert cold_twice(engine).by == "a new cache_salt each time"
    first, second, warm = (each.get("cache_salt") for each in engine.asked)
    assert first != second
    assert None not in {first, second}
    assert warm is None


def test_sglang_is_flushed_before_a_cold_block():
    engine = EngineServer("sglang")
    assert cold_twice(engine).is_reset
    assert engine.resets == 2  # the first asks whether there is such a route
    assert not any("cache_salt" in each for each in engine.asked)
