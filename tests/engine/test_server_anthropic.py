from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted_engine import ScriptedEngine
from server_client import MESSAGES, messages_body, post, stream

MIXED = "a\u00e9\u20ac\U0001f600!"


def answer(engine, **fields):
    status, _, body = post(engine, MESSAGES, messages_body(**fields))
    assert status == 200, body
    return body


def events(engine, **fields):
    found = stream(engine, MESSAGES, messages_body(stream=True, **fields))
    assert all(name == data["type"] for name, data in found)
    return [data for _, data in found]


def deltas(found):
    return "".join(event["delta"]["text"] for event in found if event["type"] == "content_block_delta")


def test_a_message_has_the_shape_of_the_dialect():
    assert answer(ScriptedEngine()) == {
        "id": "msg_id1",
        "type": "message",
        "role": "assistant",
        "model": "scripted",
        "system_fingerprint": "temp0-0123456789ab",
        "content": [{"type": "text", "text": "Hello there!"}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": len("user:Say hi.\n"),
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": 5,
        },
    }


def test_a_stream_has_the_events_of_the_dialect_in_order():
    found = events(ScriptedEngine(script=(b"Hel", b"lo")))
    assert [event["type"] for event in found] == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    assert found[0]["message"]["content"] == []
    assert found[0]["message"]["stop_reason"] is None
    assert found[1]["content_block"] == {"type": "text", "text": ""}
    assert found[-2]["delta"] == {"stop_reason": "end_turn", "stop_sequence": None}
    assert found[-2]["usage"]["output_tokens"] == 3


@settings(max_examples=12, deadline=None)
@given(st.lists(st.integers(1, len(MIXED.encode()) - 1), unique=True, max_size=6).map(sorted))
def test_a_streamed_message_equals_the_unstreamed_one_at_any_token_cut(places):
    data = MIXED.encode()
    script = tuple(data[a:b] for a, b in zip([0, *places], [*places, len(data)], strict=True))
    engine = ScriptedEngine(script=script)
    assert answer(engine)["content"][0]["text"] == deltas(events(engine)) == MIXED


@pytest.mark.parametrize(
    ("fields", "reason", "stop", "text"),
    [
        ({}, "end_turn", None, "Hello there!"),
        ({"max_tokens": 1}, "max_tokens", None, "Hel"),
        ({"stop_sequences": ["xx", "o th"]}, "stop_sequence", "o th", "Hell"),
    ],
)
def test_a_stop_reason_says_why_the_message_ended(fields, reason, stop, text):
    engine = ScriptedEngine()
    body = answer(engine, **fields)
    found = events(engine, **fields)
    assert (body["stop_reason"], body["stop_sequence"], body["content"][0]["text"]) == (reason, stop, text)
    assert found[-2]["delta"] == {"stop_reason": reason, "stop_sequence": stop}
    assert deltas(found) == text


@pytest.mark.parametrize("system", ["Be brief.", [{"type": "text", "text": "Be "}, {"type": "text", "text": "brief."}]])
def test_a_system_prompt_is_the_first_message(system):
    engine = ScriptedEngine()
    answer(engine, system=system, messages=[{"role": "user", "content": [{"type": "text", "text": "Hi"}]}])
    assert bytes(engine.requests[0].tokens) == b"system:Be brief.\nuser:Hi\n"


def test_decoding_is_greedy_where_no_temperature_is_sent():
    engine = ScriptedEngine()
    answer(engine)
    answer(engine, temperature=0.5, seed=3, ignore_eos=True, cache_prompt=False)
    assert [request.temperature for request in engine.requests] == [0, 0.5]
    assert (engine.requests[1].seed, engine.requests[1].ignore_eos) == (3, True)
    assert [request.use_prefix_cache for request in engine.requests] == [True, False]


def test_usage_counts_cached_tokens_apart_from_the_others():
    engine = ScriptedEngine(script=(b"x",), cached=5)
    usages = [answer(engine)["usage"]]
    found = events(engine)
    usages += [found[0]["message"]["usage"], found[-2]["usage"]]
    prompt = len("user:Say hi.\n")
    assert {(usage["input_tokens"], usage["cache_read_input_tokens"]) for usage in usages} == {(prompt - 5, 5)}
    assert {usage["cache_creation_input_tokens"] for usage in usages} == {0}


@pytest.mark.parametrize(
    "fields",
    [
        {"metadata": {"user_id": "u"}, "service_tier": "auto", "thinking": {"type": "disabled"}, "tools": []},
        {"top_p": 0.1, "top_k": 1, "tool_choice": {"type": "none"}},
    ],
)
def test_fields_that_change_nothing_are_tolerated(fields):
    assert answer(ScriptedEngine(), **fields)["content"][0]["text"] == "Hello there!"


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"max_tokens": None}, "max_tokens"),
        ({"max_tokens": "5"}, "max_tokens"),
        ({"max_tokens": 5000}, "5000"),
        ({"temperature": 1.5}, "temperature"),
        ({"cache_prompt": "no"}, "cache_prompt"),
        ({"tools": [{"name": "t"}]}, "tools"),
        ({"thinking": {"type": "enabled", "budget_tokens": 1024}}, "thinking"),
        ({"output_config": {"format": {"type": "json_schema"}}}, "output_config.format"),
        ({"temperature": 0.7, "top_k": 5}, "top_k"),
        ({"system": 5}, "system"),
        ({"stop_sequences": [""]}, "stop_sequences[0]"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "system", "content": "x"}]}, "messages[0].role"),
        ({"messages": [{"role": "user", "content": [{"type": "image"}]}]}, "messages[0].content[0].type"),
        (
            {"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y "}]},
            "messages[1].content",
        ),
    ],
)
def test_a_bad_field_is_refused_in_the_shape_of_the_dialect(fields, field):
    engine = ScriptedEngine()
    status, _, body = post(engine, MESSAGES, messages_body(**fields))
    assert status == 400
    assert body.keys() == {"type", "error"}
    assert body["type"] == "error"
    assert body["error"]["type"] == "invalid_request_error"
    assert field in body["error"]["message"]
    assert not engine.requests


def test_a_last_message_of_the_assistants_is_gone_on_from():
    engine = ScriptedEngine()
    turns = [{"role": "user", "content": "Count."}, {"role": "assistant", "content": "One,"}]
    assert answer(engine, messages=turns, system="Be brief.")["content"][0]["text"] == "Hello there!"
    assert bytes(engine.requests[0].tokens) == b"system:Be brief.\nuser:Count.\nbegun:One,"


def test_an_unknown_model_is_not_found():
    status, _, body = post(ScriptedEngine(), MESSAGES, messages_body(model="claude-0"))
    assert (status, body["error"]["type"]) == (404, "not_found_error")
