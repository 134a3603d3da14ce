"""The server over a real engine of tiny weights: crowds, clients that leave, and the prefix cache, over HTTP."""

from __future__ import annotations

import asyncio

import pytest
from engine_client import all_free, invariant_engine
from server_client import CHAT, MESSAGES, chat_body, messages_body, talk

PROMPTS = [f"{'Say hi. ' * 5}{number}" for number in range(4)]


def engine_of(**limits):
    return invariant_engine(**{"kv_tokens": 1024, **limits})


def body_of(prompt=PROMPTS[0], **fields):
    messages = [{"role": "user", "content": prompt}]
    asked = {"max_tokens": 20, "logprobs": True, "top_logprobs": 2}
    return chat_body(model="tiny", messages=messages, **(asked | fields))


async def ask(client, **fields):
    async with client.post(CHAT, json=body_of(**fields)) as response:
        return response.status, await response.json()


def cached(answer):
    return answer[1]["usage"]["prompt_tokens_details"]["cached_tokens"]


def choice(answer):
    """The whole choice, text and logprobs: floats are written so that they read back as the same bits."""
    assert answer[0] == 200, answer
    return answer[1]["choices"][0]


async def metrics(client):
    async with client.get("/metrics") as response:
        lines = (await response.text()).splitlines()
    return {name: int(value) for name, value in (line.rsplit(" ", 1) for line in lines if line[0] != "#")}


async def until(condition):
    for _ in range(1000):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it never came true")


def steps(engine, count):
    for _ in range(count):
        engine.step()


def references(**fields):
    """Each prompt's choice, asked alone of an engine of its own."""

    async def one(client):
        return [choice(await ask(client, prompt=prompt, cache_prompt=False, **fields)) for prompt in PROMPTS]

    with engine_of() as engine:
        engine.start()
        return talk(engine, one)


def test_two_hundred_requests_at_once_fill_the_queue_and_no_more():
    engine = engine_of(max_running=8, queue=64)

    async def crowd(client):
        asking = [asyncio.create_task(ask(client, prompt=PROMPTS[place % 4])) for place in range(200)]
        await until(lambda: sum(task.done() for task in asking) == 200 - 8 - 64)
        engine.start()
        return await asyncio.gather(*asking), await metrics(client)

    with engine:
        answers, counted = talk(engine, crowd)
        assert all_free(engine, capacity=1024)
    assert sorted(status for status, _ in answers) == [200] * 72 + [429] * 128
    expected = references()
    for place, answer in enumerate(answers):
        assert answer[0] == 429 or choice(answer) == expected[place % 4]
    assert counted['temp0_requests_total{outcome="queue_full"}'] == 128
    assert counted["temp0_requests_running"] == 0


@pytest.mark.parametrize("stream", [True, False])
def test_a_neighbour_who_leaves_gives_everything_back_and_changes_nobodys_bits(stream):
    engine = engine_of()

    async def leave(client):
        body = body_of(prompt=PROMPTS[1], max_tokens=100, stream=stream)
        leaving = asyncio.create_task(client.post(CHAT, json=body).__aenter__())
        await until(lambda: engine.waiting == 1)
        staying = [asyncio.create_task(ask(client, prompt=prompt)) for prompt in (PROMPTS[0], PROMPTS[2])]
        await until(lambda: engine.waiting == 3)
        await asyncio.to_thread(steps, engine, 9)
        assert engine.running == 3
        if stream:
            (await leaving).close()
        else:
            leaving.cancel()
        await until(lambda: engine.running == 2)
        await asyncio.to_thread(steps, engine, 40)
        return await asyncio.gather(*staying), await metrics(client)

    with engine:
        answers, counted = talk(engine, leave)
        assert all_free(engine, capacity=1024)
    expected = references()
    assert [choice(answer) for answer in answers] == [expected[0], expected[2]]
    assert counted['temp0_requests_total{outcome="cancelled"}'] == 1
    assert counted["temp0_kv_free_tokens"] == 1024


def test_cold_warm_and_reset_are_seen_in_usage_and_nowhere_else():
    async def conversation(client):
        answers = [await ask(client) for _ in range(2)]
        answers.append(await ask(client, cache_prompt=False))
        async with client.post("/reset_prefix_cache") as response:
            assert response.status == 200
        answers += [await ask(client) for _ in range(2)]
        return answers, await metrics(client)

    with engine_of() as engine:
        engine.start()
        answers, counted = talk(engine, conversation)
    known = (len(PROMPTS[0]) - 1) // 16 * 16
    assert [cached(answer) for answer in answers] == [0, known, 0, 0, known]
    assert [choice(answer) for answer in answers] == [references()[0]] * 5
    assert counted["temp0_prompt_tokens_total"] == 5 * len(PROMPTS[0])
    assert counted["temp0_prompt_tokens_cached_total"] == 2 * known


def test_the_anthropic_dialect_leaves_cached_tokens_out_of_its_input():
    async def twice(client):
        body = messages_body(model="tiny", messages=[{"role": "user", "content": PROMPTS[0]}])
        usages = []
        for _ in range(2):
            async with client.post(MESSAGES, json=body) as response:
                usages.append((await response.json())["usage"])
        return [(usage["input_tokens"], usage["cache_read_input_tokens"]) for usage in usages]

    with engine_of() as engine:
        engine.start()
        assert talk(engine, twice) == [(41, 0), (41 - 32, 32)]


def test_requests_that_had_to_give_way_answer_the_same_and_are_counted():
    engine = engine_of(kv_tokens=192)

    async def crowd(client):
        asking = [asyncio.create_task(ask(client, prompt=prompt, max_tokens=100)) for prompt in PROMPTS]
        await until(lambda: engine.waiting == 4)
        engine.start()
        return await asyncio.gather(*asking), await metrics(client)

    with engine:
        answers, counted = talk(engine, crowd)
    assert [choice(answer) for answer in answers] == references(max_tokens=100)
    assert counted["temp0_preemptions_total"] > 0
