"""The proof over HTTP: whoever else asks, leaves or comes back, a prompt has one text and one set of logprobs."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from over_http import PROMPTS, Company, Tally, chat, main, tally
from served_engine import served_engine


@pytest.fixture(scope="module")
def invariant() -> Iterator[str]:
    with served_engine("--arithmetic", "invariant", "--kv-tokens", "1024") as url:
        yield url


@pytest.mark.model
def test_every_prompt_has_one_text_and_one_set_of_logprobs_in_random_company(invariant: str) -> None:
    seen = asyncio.run(tally(invariant, Company(n=6, max_tokens=24, seed=1)))
    assert max(seen.in_flight) > 6
    assert seen.left == 6
    assert [len(seen.answers[prompt]) for prompt in PROMPTS] == [6] * 3
    assert [seen.distinct_texts(prompt) for prompt in PROMPTS] == [1] * 3
    assert [seen.distinct_logprobs(prompt) for prompt in PROMPTS] == [1] * 3


@pytest.mark.model
def test_a_client_that_leaves_in_the_middle_changes_no_bit_of_another(invariant: str) -> None:
    async def beside(leavers: int) -> object:
        async with chat(invariant) as server:
            ours = asyncio.create_task(server.asked(PROMPTS["D"], max_tokens=24))
            await asyncio.gather(*(server.left(PROMPTS["E"]) for _ in range(leavers)))
            return await ours

    alone = asyncio.run(beside(0))
    assert [asyncio.run(beside(leavers)) for leavers in (1, 3)] == [alone] * 2


def test_a_single_other_bit_in_a_single_answer_is_seen() -> None:
    seen = asyncio.run(_tally_of_a_server_that_changes_its_mind())
    for prompt in PROMPTS:
        assert len(seen.answers[prompt]) == 4
        assert seen.distinct_texts(prompt) == 1
        assert seen.distinct_logprobs(prompt) == 2


async def _tally_of_a_server_that_changes_its_mind() -> Tally:
    """A server that has one logprob when a prompt comes for the first time, and the next number ever after."""
    known: set[str] = set()

    async def completions(request: web.Request) -> web.Response:
        prompt = (await request.json())["messages"][0]["content"]
        entry = {"token": "Hi", "logprob": -0.1 if prompt in known else math.nextafter(-0.1, 0), "top_logprobs": []}
        known.add(prompt)
        return web.json_response({"choices": [{"message": {"content": "Hi"}, "logprobs": {"content": [entry]}}]})

    async def models(request: web.Request) -> web.Response:
        return web.json_response({"data": [{"id": "fickle"}]})

    app = web.Application()
    app.add_routes([web.get("/v1/models", models), web.post("/v1/chat/completions", completions)])
    async with TestServer(app) as server:
        return await tally(str(server.make_url("/v1")), Company(n=4, max_tokens=1))


@pytest.mark.model
def test_the_script_prints_what_it_saw(invariant: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--n", "2", "--max-tokens", "6", "--most-in-flight", "3", invariant + "/"]) == 0
    printed = capsys.readouterr().out
    assert "C: 2 completions, distinct texts 1, distinct sets of logprobs 1\n" in printed
    assert "2 clients left in the middle" in printed
