from __future__ import annotations

import pytest
from engine_client import invariant_engine
from scripted_engine import END, FIRST, ScriptedEngine
from server_client import CHAT, chat_body, post, stream, talk

RESPONSES = "/v1/responses"
HELLO = ScriptedEngine().text
LOGPROBS = ["message.output_text.logprobs"]


def body_of(**fields):
    return {"model": "scripted", "input": "Say hi.", **fields}


def answer(engine, **fields):
    status, _, body = post(engine, RESPONSES, body_of(**fields))
    assert status == 200, body
    return body


def events_of(engine, **fields):
    """The data of all events, whose names are their types and whose numbers count from 0."""
    events = stream(engine, RESPONSES, body_of(stream=True, **fields))
    assert [name for name, _ in events] == [data["type"] for _, data in events]
    assert [data["sequence_number"] for _, data in events] == list(range(len(events)))
    return [data for _, data in events]


def part(body):
    return body["output"][0]["content"][0]


def test_an_answer_has_the_dialects_shape():
    assert answer(ScriptedEngine(cached=2), instructions="Be brief.", max_output_tokens=50, metadata={"a": "b"}) == {
        "id": "resp_id1",
        "object": "response",
        "created_at": 1_700_000_000,
        "model": "scripted",
        "system_fingerprint": "temp0-0123456789ab",
        "status": "completed",
        "incomplete_details": None,
        "error": None,
        "instructions": "Be brief.",
        "max_output_tokens": 50,
        "temperature": 0.0,
        "top_p": 1.0,
        "top_logprobs": 0,
        "metadata": {"a": "b"},
        "background": False,
        "parallel_tool_calls": False,
        "previous_response_id": None,
        "reasoning": {"effort": None, "summary": None},
        "store": False,
        "text": {"format": {"type": "text"}},
        "tool_choice": "none",
        "tools": [],
        "truncation": "disabled",
        "output": [
            {
                "id": "msg_id1",
                "type": "message",
                "status": "completed",
                "role": "assistant",
                "content": [{"type": "output_text", "text": HELLO, "annotations": [], "logprobs": []}],
            }
        ],
        "usage": {
            "input_tokens": len("system:Be brief.\nuser:Say hi.\n"),
            "input_tokens_details": {"cached_tokens": 2, "cache_write_tokens": 0},
            "output_tokens": 5,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": len("system:Be brief.\nuser:Say hi.\n") + 5,
        },
    }


def test_an_answer_cut_at_its_limit_is_incomplete():
    body = answer(ScriptedEngine(), max_output_tokens=2)
    assert (body["status"], body["output"][0]["status"]) == ("incomplete", "incomplete")
    assert body["incomplete_details"] == {"reason": "max_output_tokens"}
    assert part(body)["text"] == "Hello"


def test_a_stop_string_completes_the_answer():
    body = answer(ScriptedEngine(), stop=" the")
    assert (body["status"], part(body)["text"]) == ("completed", "Hello")


def test_instructions_and_items_become_one_conversation():
    engine = ScriptedEngine()
    items = [
        {"role": "developer", "content": "D"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": t} for t in ("U", "V")]},
        {
            "type": "message",
            "id": "msg_1",
            "status": "completed",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "A", "annotations": []}],
        },
        {"role": "user", "content": "W"},
    ]
    answer(engine, instructions="I", input=items)
    assert bytes(engine.requests[0].tokens) == b"system:I\nsystem:D\nuser:UV\nassistant:A\nuser:W\n"


def test_what_the_engine_can_honour_reaches_it():
    engine = ScriptedEngine()
    sent = {"temperature": 0.5, "seed": -7, "ignore_eos": True, "cache_prompt": False, "max_output_tokens": 9}
    answer(engine, include=LOGPROBS, top_logprobs=3, **sent)
    answer(engine)
    request, plain = engine.requests
    assert (request.temperature, request.seed, request.max_tokens, request.ignore_eos) == (0.5, -7, 9, True)
    assert (request.logprobs, request.top_logprobs, request.use_prefix_cache) == (True, 3, False)
    assert (plain.temperature, plain.max_tokens, plain.logprobs, plain.use_prefix_cache) == (0, 1024, False, True)


def test_logprobs_are_those_of_chat_completions():
    told = part(answer(ScriptedEngine(), include=LOGPROBS, top_logprobs=2))["logprobs"]
    _, _, chat = post(ScriptedEngine(), CHAT, chat_body(logprobs=True, top_logprobs=2))
    assert told == chat["choices"][0]["logprobs"]["content"]
    assert [entry["id"] for entry in told] == [FIRST, FIRST + 1, FIRST + 2, FIRST + 3, END]
    assert [len(entry["top_logprobs"]) for entry in told] == [2] * 5


def test_a_stream_opens_and_closes_what_it_tells_in_the_dialects_order():
    events = events_of(ScriptedEngine(script=(b"Hel", b"lo\xe2", b"\x82", b"\xac")))
    assert [event["type"] for event in events] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    assert [event["delta"] for event in events[4:7]] == ["Hel", "lo", "\u20ac"]
    begun = events[0]["response"]
    assert (begun["status"], begun["output"], begun["usage"]) == ("in_progress", [], None)
    assert (events[2]["item"]["status"], events[2]["item"]["content"]) == ("in_progress", [])
    assert events[3]["part"]["text"] == ""
    places = [(event["item_id"], event["output_index"], event["content_index"]) for event in events[3:9]]
    assert set(places) == {("msg_id1", 0, 0)}


@pytest.mark.parametrize("fields", [{}, {"include": LOGPROBS, "top_logprobs": 2}, {"max_output_tokens": 3}])
def test_a_stream_tells_what_the_whole_answer_tells(fields):
    engine = ScriptedEngine(script=(b"Hel", b"lo\xe2", b"\x82", b"\xac"))
    whole, events = answer(engine, **fields), events_of(engine, **fields)
    deltas = [event for event in events if event["type"] == "response.output_text.delta"]
    done, part_done, item_done, ended = events[-4:]
    assert ended["type"] == f"response.{whole['status']}"
    assert ended["response"] == whole
    assert item_done["item"] == whole["output"][0]
    assert part_done["part"] == part(whole)
    assert "".join(event["delta"] for event in deltas) == done["text"] == part(whole)["text"]
    assert [entry for event in deltas for entry in event["logprobs"]] == done["logprobs"] == part(whole)["logprobs"]


def test_a_fault_in_mid_stream_is_a_failed_response(caplog):
    last = events_of(ScriptedEngine(fail_after=2))[-1]
    assert (last["type"], last["response"]["status"]) == ("response.failed", "failed")
    assert last["response"]["error"]["code"] == "server_error"
    assert "secret" not in str(last)


def test_a_fault_before_the_first_token_has_a_status_of_its_own(caplog):
    status, _, body = post(ScriptedEngine(fail_after=0), RESPONSES, body_of(stream=True))
    assert (status, body["error"]["type"]) == (500, "server_error")


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"store": True}, "store"),
        ({"previous_response_id": "resp_1"}, "previous_response_id"),
        ({"conversation": "conv_1"}, "conversation"),
        ({"background": True}, "background"),
        ({"prompt": {"id": "pmpt_1"}}, "prompt"),
        ({"truncation": "auto"}, "truncation"),
        ({"tools": [{"type": "web_search"}]}, "tools"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"text": {"format": {"type": "json_object"}}}, "text.format"),
        ({"text": {"verbosity": "low"}}, "text.verbosity"),
        ({"max_tokens": 5}, "max_tokens"),
        ({"max_completion_tokens": 5}, "max_completion_tokens"),
        ({"messages": []}, "messages"),
        ({"n": 2}, "n"),
        ({"echo": True}, "echo"),
        ({"prompt_logprobs": 1}, "prompt_logprobs"),
        ({"temperature": 0.7, "top_p": 0.9}, "top_p"),
        ({"temperature": 3}, "temperature"),
        ({"max_output_tokens": 0}, "max_output_tokens"),
        ({"include": ["all"]}, "include[0]"),
        ({"include": [*LOGPROBS, 5]}, "include[1]"),
        ({"top_logprobs": 2}, "top_logprobs"),
        ({"include": LOGPROBS, "top_logprobs": 21}, "top_logprobs"),
        ({"instructions": 5}, "instructions"),
        ({"input": None}, "input"),
        ({"input": []}, "input"),
        ({"input": 5}, "input"),
        ({"input": ["Say hi."]}, "input[0]"),
        ({"input": [{"type": "reasoning", "summary": []}]}, "input[0].type"),
        ({"input": [{"type": "item_reference", "id": "msg_1"}]}, "input[0].type"),
        ({"input": [{"role": "tool", "content": "x"}]}, "input[0].role"),
        ({"input": [{"role": "user", "content": [{"type": "text", "text": "x"}]}]}, "input[0].content[0].type"),
        ({"input": [{"role": "user", "content": [{"type": "input_image"}]}]}, "input[0].content[0].type"),
        ({"model": None}, "model"),
    ],
)
def test_a_bad_field_is_refused_by_its_name(fields, field):
    engine = ScriptedEngine()
    status, _, body = post(engine, RESPONSES, body_of(**fields))
    assert status == 400
    assert body["error"]["param"] == field
    assert field in body["error"]["message"]
    assert not engine.requests


@pytest.mark.parametrize(
    "fields",
    [
        {"store": False, "background": False, "truncation": "disabled", "tools": [], "tool_choice": "auto"},
        {"text": {"format": {"type": "text"}, "verbosity": "medium"}, "reasoning": {"effort": "low"}},
        {"include": ["reasoning.encrypted_content"], "user": "u", "service_tier": "auto", "top_p": 0.1},
    ],
)
def test_fields_that_change_nothing_are_tolerated(fields):
    assert part(answer(ScriptedEngine(), **fields))["text"] == HELLO


def test_a_conversation_has_the_text_and_the_bits_that_chat_completions_give_it():
    turns = [{"role": "user", "content": "Say hi."}, {"role": "assistant", "content": "Hi."}]
    last = {"role": "user", "content": "Again. " * 6}

    async def both(client):
        limits = {"model": "tiny", "ignore_eos": True, "top_logprobs": 3}
        chat = {"messages": [{"role": "system", "content": "Be brief."}, *turns, last], "max_tokens": 12}
        asked = {"instructions": "Be brief.", "input": [*turns, last], "max_output_tokens": 12, "include": LOGPROBS}
        async with client.post(CHAT, json={**limits, **chat, "logprobs": True}) as response:
            one = (await response.json())["choices"][0]
        async with client.post(RESPONSES, json={**limits, **asked}) as response:
            return one, part(await response.json())

    with invariant_engine(kv_tokens=2048) as engine:
        engine.start()
        chat, response = talk(engine, both)
    assert response["text"] == chat["message"]["content"]
    assert response["logprobs"] == chat["logprobs"]["content"]
    assert len(response["logprobs"]) == 12
