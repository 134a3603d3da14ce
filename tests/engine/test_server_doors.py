from __future__ import annotations

import asyncio
import gzip
import http.client
import json
import logging

import pytest
from scripted_engine import ScriptedEngine
from server_client import CHAT, MESSAGES, chat_body, events_of, messages_body, post, talk

from temp0.errors import EngineError, RequestError

KEY = "sk-open-sesame"
BODIES = {CHAT: chat_body(), MESSAGES: messages_body()}
DIALECTS = pytest.mark.parametrize("path", [CHAT, MESSAGES])


def get(engine, path, *, headers=None, method="GET", **options):
    async def once(client):
        async with client.request(method, path, headers=headers) as response:
            return response.status, response.headers, await response.text()

    return talk(engine, once, **options)


def samples(text):
    return dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))


async def until(condition):
    for _ in range(500):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it never came true")


def kind(path, body):
    if path == MESSAGES:
        assert body["type"] == "error"
        assert body.keys() == {"type", "error"}
        assert body["error"].keys() == {"type", "message"}
    else:
        assert body.keys() == {"error"}
        assert body["error"].keys() == {"message", "type", "param", "code"}
    return body["error"]["type"]


@DIALECTS
def test_a_full_queue_is_429_with_a_time_to_wait(path):
    status, headers, body = post(ScriptedEngine(queue_full=True), path, BODIES[path])
    assert (status, kind(path, body)) == (429, "rate_limit_error")
    assert int(headers["Retry-After"]) >= 1


@DIALECTS
def test_what_the_engine_refuses_is_400_with_its_words(path):
    status, _, body = post(ScriptedEngine(crash=RequestError("too much for the KV cache")), path, BODIES[path])
    assert (status, kind(path, body)) == (400, "invalid_request_error")
    assert body["error"]["message"] == "too much for the KV cache"


@DIALECTS
@pytest.mark.parametrize(
    "engine",
    [
        {"crash": ZeroDivisionError("secret detail")},
        {"crash": EngineError("a step failed: secret detail")},
        {"fail_after": 0},
        {"fail_after": 2},
    ],
)
def test_an_engine_fault_is_500_and_keeps_its_details_to_the_log(path, engine, caplog):
    status, _, body = post(ScriptedEngine(**engine), path, BODIES[path])
    assert (status, kind(path, body)) == (500, "api_error" if path == MESSAGES else "server_error")
    assert "secret" not in json.dumps(body)
    assert "secret detail" in caplog.text


@DIALECTS
def test_an_engine_fault_before_the_first_token_of_a_stream_is_500(path, caplog):
    status, _, body = post(ScriptedEngine(fail_after=0), path, BODIES[path] | {"stream": True})
    assert status == 500
    assert kind(path, body)


@DIALECTS
def test_an_engine_fault_in_mid_stream_ends_it_with_an_error_event(path, caplog):
    async def once(client):
        async with client.post(path, json=BODIES[path] | {"stream": True}) as response:
            assert response.status == 200
            return await events_of(response)

    *_, (name, last) = talk(ScriptedEngine(fail_after=2), once)
    assert name == ("error" if path == MESSAGES else None)
    assert kind(path, last)
    assert "secret" not in json.dumps(last)


@DIALECTS
@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": KEY}, {"x-api-key": ""}])
def test_a_wrong_key_is_401_and_is_not_repeated(path, headers):
    engine = ScriptedEngine()
    status, _, body = post(engine, path, BODIES[path], headers=headers, api_key=KEY)
    assert (status, kind(path, body)) == (401, "authentication_error")
    assert "wrong" not in body["error"]["message"].replace("missing or wrong", "")
    assert KEY not in json.dumps(body)
    assert not engine.requests


@DIALECTS
@pytest.mark.parametrize("headers", [{"Authorization": f"Bearer {KEY}"}, {"x-api-key": KEY}])
def test_the_right_key_opens(path, headers):
    assert post(ScriptedEngine(), path, BODIES[path], headers=headers, api_key=KEY)[0] == 200


@pytest.mark.parametrize(("path", "status"), [("/health", 200), ("/metrics", 200), ("/v1/models", 401)])
def test_only_the_routes_under_v1_ask_for_the_key(path, status):
    assert get(ScriptedEngine(), path, api_key=KEY)[0] == status


@DIALECTS
def test_a_body_that_is_too_large_is_413(path):
    status, _, body = post(ScriptedEngine(), path, b" " * 2000, largest_body_bytes=1000)
    assert (status, kind(path, body)) == (413, "request_too_large" if path == MESSAGES else "invalid_request_error")


def test_a_compressed_body_is_measured_unpacked():
    packed = gzip.compress(b" " * 500_000)
    headers = {"Content-Encoding": "gzip"}
    assert post(ScriptedEngine(), CHAT, packed, headers=headers, largest_body_bytes=10_000)[0] == 413


def test_a_body_that_is_not_compressed_as_it_says_is_400():
    status, _, body = post(ScriptedEngine(), CHAT, b"not gzip", headers={"Content-Encoding": "gzip"})
    assert (status, kind(CHAT, body)) == (400, "invalid_request_error")


@pytest.mark.parametrize(("path", "shape"), [("/v1/nothing", CHAT), ("/", CHAT), ("/v1/messages/batches", MESSAGES)])
def test_an_unknown_route_is_a_404_in_json(path, shape):
    status, _, text = get(ScriptedEngine(), path)
    assert (status, kind(shape, json.loads(text))) == (404, "not_found_error")


def test_a_wrong_method_is_405_and_says_the_right_one():
    status, headers, text = get(ScriptedEngine(), CHAT)
    assert (status, headers["Allow"]) == (405, "POST")
    assert "POST" in json.loads(text)["error"]["message"]


def test_the_model_list_reads_in_both_dialects():
    page = json.loads(get(ScriptedEngine(), "/v1/models")[2])
    assert page["object"] == "list"
    assert (page["has_more"], page["first_id"], page["last_id"]) == (False, "scripted", "scripted")
    model = page["data"][0]
    assert (model["id"], model["object"], model["created"]) == ("scripted", "model", 1_700_000_000)
    assert (model["type"], model["created_at"]) == ("model", "2023-11-14T22:13:20Z")


def test_one_model_is_found_by_name_and_no_other():
    engine = ScriptedEngine(name="a/b c.gguf")
    assert json.loads(get(engine, "/v1/models/a/b%20c.gguf")[2])["id"] == "a/b c.gguf"
    assert get(engine, "/v1/models/other")[0] == 404


def test_health_names_the_model():
    status, _, text = get(ScriptedEngine(), "/health")
    assert (status, json.loads(text)) == (200, {"status": "ok", "model": "scripted"})


def test_the_prefix_cache_is_emptied_on_demand():
    engine = ScriptedEngine()
    assert post(engine, "/reset_prefix_cache", b"")[::2] == (200, {"status": "ok"})
    assert engine.resets == 1
    assert get(engine, "/reset_prefix_cache")[0] == 405
    assert engine.resets == 1


def test_only_who_has_the_key_empties_the_prefix_cache():
    engine = ScriptedEngine()
    assert post(engine, "/reset_prefix_cache", b"", api_key=KEY)[0] == 401
    assert engine.resets == 0
    assert post(engine, "/reset_prefix_cache", b"", api_key=KEY, headers={"x-api-key": KEY})[0] == 200
    assert engine.resets == 1


def test_metrics_are_prometheus_text_with_help_and_type():
    counts = {"emitted_tokens": 40, "prompt_tokens": 90, "cached_tokens": 64, "preemptions": 5}
    engine = ScriptedEngine(running=3, waiting=2, free_tokens=320, kept_tokens=112, prefix_cache=True, **counts)
    status, headers, text = get(engine, "/metrics")
    assert (status, headers["Content-Type"]) == (200, "text/plain; version=0.0.4; charset=utf-8")
    assert text.endswith("\n")
    found = samples(text)
    assert found["temp0_requests_running"] == "3"
    assert found["temp0_requests_waiting"] == "2"
    assert found["temp0_generated_tokens_total"] == "40"
    assert found["temp0_prompt_tokens_total"] == "90"
    assert found["temp0_prompt_tokens_cached_total"] == "64"
    assert found["temp0_preemptions_total"] == "5"
    assert found["temp0_kv_free_tokens"] == "320"
    assert found["temp0_prefix_cache_kept_tokens"] == "112"
    assert found["temp0_prefix_cache_enabled"] == "1"
    assert found['temp0_requests_total{outcome="stop"}'] == "0"
    for name in {sample.split("{")[0] for sample in found}:
        assert f"# HELP {name} " in text
        assert f"# TYPE {name} {'counter' if name.endswith('_total') else 'gauge'}\n" in text


@pytest.mark.parametrize(
    ("engine", "fields", "outcome"),
    [
        ({}, {}, "stop"),
        ({}, {"max_tokens": 1}, "length"),
        ({}, {"stop": "lo"}, "stop_sequence"),
        ({}, {"n": 2}, "refused"),
        ({"queue_full": True}, {}, "queue_full"),
        ({"fail_after": 1}, {}, "fault"),
        ({"fail_after": 1}, {"stream": True}, "fault"),
    ],
)
def test_every_request_is_counted_once_by_how_it_ended(engine, fields, outcome, caplog):
    async def once(client):
        async with client.post(CHAT, json=chat_body(**fields)) as response:
            await response.read()
        async with client.get("/metrics") as response:
            return await response.text()

    found = samples(talk(ScriptedEngine(**engine), once))
    totals = {name: value for name, value in found.items() if name.startswith("temp0_requests_total")}
    assert {name for name, value in totals.items() if value != "0"} == {f'temp0_requests_total{{outcome="{outcome}"}}'}
    assert totals[f'temp0_requests_total{{outcome="{outcome}"}}'] == "1"


def test_a_request_for_no_completion_is_not_counted():
    async def wrong_method(client):
        async with client.get(CHAT) as response:
            assert response.status == 405
        async with client.post("/no_such_thing") as response:
            assert response.status == 404
        async with client.get("/metrics") as response:
            return samples(await response.text())

    assert talk(ScriptedEngine(), wrong_method)['temp0_requests_total{outcome="refused"}'] == "0"


@DIALECTS
def test_a_client_that_leaves_a_stream_frees_its_slot(path):
    engine = ScriptedEngine(stall_after=2)

    async def leave(client):
        async with client.post(path, json=BODIES[path] | {"stream": True}) as response:
            await response.content.readline()
            assert engine.running == 1
            response.close()
        await until(lambda: engine.cancelled == [0] and engine.running == 0)
        async with client.get("/metrics") as response:
            return samples(await response.text())

    assert talk(engine, leave)['temp0_requests_total{outcome="cancelled"}'] == "1"


@DIALECTS
def test_a_client_that_leaves_before_an_unstreamed_answer_frees_its_slot(path):
    engine = ScriptedEngine(stall_after=2)

    async def leave(client):
        asking = asyncio.create_task(client.post(path, json=BODIES[path]).__aenter__())
        await until(lambda: engine.running == 1)
        asking.cancel()
        await until(lambda: engine.cancelled == [0] and engine.running == 0)

    talk(engine, leave)
    assert (engine.cancelled, engine.running) == ([0], 0)


def test_an_answered_request_is_not_cancelled():
    engine = ScriptedEngine()
    post(engine, CHAT, chat_body())
    assert engine.cancelled == []


def test_a_connection_is_kept_after_a_stream():
    def on_one_connection(port):
        connection = http.client.HTTPConnection("127.0.0.1", port)
        connection.connect()
        connection.auto_open = 0  # a request on a closed connection raises
        statuses = []
        for _ in range(3):
            connection.request("POST", CHAT, json.dumps(chat_body(stream=True)))
            response = connection.getresponse()
            statuses.append((response.status, response.read()[-14:]))
        connection.close()
        return statuses

    async def thrice(client):
        return await asyncio.to_thread(on_one_connection, client.port)

    assert talk(ScriptedEngine(), thrice) == [(200, b"data: [DONE]\n\n")] * 3


def test_many_clients_at_once_get_their_own_answers():
    async def many(client):
        async def ask(limit):
            async with client.post(CHAT, json=chat_body(max_tokens=limit)) as response:
                return (await response.json())["choices"][0]["message"]["content"]

        return await asyncio.gather(*(ask(1 + place % 4) for place in range(40)))

    starts = ["Hel", "Hello", "Hello there", "Hello there!"]
    assert talk(ScriptedEngine(), many) == starts * 10


def test_no_log_line_holds_a_key(caplog):
    caplog.set_level(logging.DEBUG)
    headers = {"Authorization": f"Bearer {KEY}"}
    post(ScriptedEngine(crash=ZeroDivisionError()), CHAT, chat_body(), headers=headers, api_key=KEY)
    assert caplog.text
    assert KEY not in caplog.text
