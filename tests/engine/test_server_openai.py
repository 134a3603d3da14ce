from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted_engine import END, FIRST, ScriptedEngine
from server_client import CHAT, chat_body, post, stream

MIXED = "a\u00e9\u20ac\U0001f600!"


def answer(engine, **fields):
    status, _, body = post(engine, CHAT, chat_body(**fields))
    assert status == 200, body
    return body


def chunks(engine, **fields):
    events = stream(engine, CHAT, chat_body(stream=True, **fields))
    assert events[-1] == (None, "[DONE]")
    assert all(name is None for name, _ in events)
    return [data for _, data in events[:-1]]


def deltas(chunk_list):
    return "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunk_list if chunk["choices"])


def entries(chunk_list):
    choices = [chunk["choices"][0] for chunk in chunk_list if chunk["choices"]]
    return [entry for choice in choices if choice["logprobs"] for entry in choice["logprobs"]["content"]]


def test_a_chat_answer_has_the_shape_of_the_dialect():
    assert answer(ScriptedEngine()) == {
        "id": "chatcmpl-id1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "scripted",
        "system_fingerprint": "temp0-0123456789ab",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Hello there!", "refusal": None},
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        "usage": {
            "prompt_tokens": len("user:Say hi.\n"),
            "completion_tokens": 5,
            "total_tokens": 18,
            "prompt_tokens_details": {"cached_tokens": 0},
        },
    }


def test_a_stream_opens_with_the_role_and_ends_with_the_finish_reason():
    first, *middle, last = chunks(ScriptedEngine())
    assert first["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert [chunk["choices"][0]["delta"] for chunk in middle] == [
        {"content": "Hel"},
        {"content": "lo"},
        {"content": " there"},
        {"content": "!"},
    ]
    assert (last["choices"][0]["delta"], last["choices"][0]["finish_reason"]) == ({}, "stop")
    for chunk in (first, *middle, last):
        assert chunk["object"] == "chat.completion.chunk"
        assert chunk["system_fingerprint"] == "temp0-0123456789ab"
        assert "usage" not in chunk


@settings(max_examples=12, deadline=None)
@given(st.lists(st.integers(1, len(MIXED.encode()) - 1), unique=True, max_size=6).map(sorted))
def test_a_streamed_text_equals_the_unstreamed_one_at_any_token_cut(places):
    data = MIXED.encode()
    script = tuple(data[a:b] for a, b in zip([0, *places], [*places, len(data)], strict=True))
    engine = ScriptedEngine(script=script)
    whole = answer(engine, logprobs=True)["choices"][0]
    parts = chunks(engine, logprobs=True)
    assert whole["message"]["content"] == MIXED
    assert deltas(parts) == MIXED
    assert entries(parts) == whole["logprobs"]["content"]


def test_usage_comes_last_in_a_stream_where_it_is_asked_for():
    *rest, last = chunks(ScriptedEngine(), stream_options={"include_usage": True})
    assert last["choices"] == []
    assert last["usage"] == answer(ScriptedEngine())["usage"]
    assert all(chunk["usage"] is None for chunk in rest)


@pytest.mark.parametrize(("fields", "cached"), [({}, 16), ({"cache_prompt": True}, 16), ({"cache_prompt": False}, 0)])
def test_usage_says_how_much_of_the_prompt_was_cached(fields, cached):
    engine = ScriptedEngine(script=(b"x",), cached=16)
    *_, last = chunks(engine, stream_options={"include_usage": True}, **fields)
    usages = [answer(engine, **fields)["usage"], last["usage"]]
    assert [usage["prompt_tokens_details"] for usage in usages] == [{"cached_tokens": cached}] * 2
    assert {usage["prompt_tokens"] for usage in usages} == {len("user:Say hi.\n")}


def test_logprobs_carry_token_bytes_and_alternatives():
    content = answer(ScriptedEngine(), logprobs=True, top_logprobs=2)["choices"][0]["logprobs"]["content"]
    alternatives = [
        {"id": FIRST, "token": "Hel", "bytes": [72, 101, 108], "logprob": -1.0},
        {"id": FIRST, "token": "Hel", "bytes": [72, 101, 108], "logprob": -2.0},
    ]
    assert content[1] == {
        "id": FIRST + 1,
        "token": "lo",
        "bytes": [108, 111],
        "logprob": -0.5,
        "top_logprobs": alternatives,
    }


def test_the_end_token_has_a_logprob_and_no_bytes():
    content = answer(ScriptedEngine(), logprobs=True)["choices"][0]["logprobs"]["content"]
    assert content[-1] == {"id": END, "token": "", "bytes": [], "logprob": -1.25, "top_logprobs": []}
    assert bytes(byte for entry in content for byte in entry["bytes"]) == b"Hello there!"


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_a_token_limit_ends_the_answer_by_length(name):
    body = answer(ScriptedEngine(), **{name: 2})
    assert body["choices"][0]["message"]["content"] == "Hello"
    assert body["choices"][0]["finish_reason"] == "length"
    assert body["usage"]["completion_tokens"] == 2


def test_the_newer_name_of_the_token_limit_wins():
    engine = ScriptedEngine()
    answer(engine, max_tokens=4, max_completion_tokens=1)
    assert engine.requests[0].max_tokens == 1


@pytest.mark.parametrize(("stop", "text"), [("lo", "Hel"), (["x", " the"], "Hello"), (["!"], "Hello there")])
def test_a_stop_string_ends_the_text_streamed_or_not(stop, text):
    engine = ScriptedEngine()
    body = answer(engine, stop=stop)
    parts = chunks(engine, stop=stop)
    assert body["choices"][0]["message"]["content"] == deltas(parts) == text
    assert body["choices"][0]["finish_reason"] == parts[-1]["choices"][0]["finish_reason"] == "stop"


def test_a_stop_string_gives_the_slot_back():
    engine = ScriptedEngine(script=(b"a", b"stop", b"b"), stall_after=2)
    assert answer(engine, stop="stop")["choices"][0]["message"]["content"] == "a"
    assert engine.cancelled == [0]


def test_decoding_is_greedy_where_no_temperature_is_sent():
    engine = ScriptedEngine()
    answer(engine)
    assert engine.requests[0].temperature == 0
    assert engine.requests[0].seed is None


def test_everything_the_engine_can_honour_reaches_it():
    engine = ScriptedEngine()
    honoured = {"temperature": 0.5, "seed": -7, "logprobs": True, "top_logprobs": 3, "ignore_eos": True}
    answer(engine, max_tokens=9, cache_prompt=False, **honoured)
    answer(engine)
    request, plain = engine.requests
    assert (request.temperature, request.seed, request.max_tokens) == (0.5, -7, 9)
    assert (request.logprobs, request.top_logprobs, request.ignore_eos) == (True, 3, True)
    assert (request.use_prefix_cache, plain.use_prefix_cache) == (False, True)


def test_a_client_without_a_limit_gets_the_default_as_far_as_the_context_goes():
    engine = ScriptedEngine(context_tokens=1500)
    answer(engine)
    answer(engine, messages=[{"role": "user", "content": "x" * 1000}])
    assert [request.max_tokens for request in engine.requests] == [1024, 1500 - len("user:\n") - 1000]


def test_text_parts_are_joined_with_nothing_between():
    engine = ScriptedEngine()
    parts = [{"type": "text", "text": "Say "}, {"type": "text", "text": "hi."}]
    answer(engine, messages=[{"role": "developer", "content": parts}, {"role": "assistant", "content": "No."}])
    assert bytes(engine.requests[0].tokens) == b"system:Say hi.\nassistant:No.\n"


@pytest.mark.parametrize(
    ("fields", "prompt"),
    [
        ({"continue_final_message": True, "add_generation_prompt": False}, b"user:Count.\nbegun:One, "),
        ({"continue_final_message": True}, b"user:Count.\nbegun:One, "),
        ({"add_generation_prompt": False}, b"user:Count.\nassistant:One, \n(shut)"),
        ({"add_generation_prompt": True}, b"user:Count.\nassistant:One, \n"),
        ({}, b"user:Count.\nassistant:One, \n"),
    ],
)
def test_a_last_message_of_the_assistants_is_gone_on_from_where_the_body_says_so(fields, prompt):
    engine = ScriptedEngine()
    turns = [{"role": "user", "content": "Count."}, {"role": "assistant", "content": "One, "}]
    answer(engine, messages=turns, **fields)
    assert bytes(engine.requests[0].tokens) == prompt


@pytest.mark.parametrize(
    "fields",
    [
        {"tools": [], "tool_choice": "none", "response_format": {"type": "text"}, "logit_bias": {}, "n": 1},
        {"user": "u", "store": False, "service_tier": "auto", "reasoning_effort": "low", "metadata": {"a": "b"}},
        {"frequency_penalty": 0, "presence_penalty": 0.0, "cache_prompt": False, "stop": None, "seed": None},
        {"top_p": 0.1, "top_k": 1},
        {"echo": False, "prompt_logprobs": None, "chat_template_kwargs": {}, "return_tokens_as_token_ids": False},
    ],
)
def test_fields_that_change_nothing_are_tolerated(fields):
    assert answer(ScriptedEngine(), **fields)["choices"][0]["message"]["content"] == "Hello there!"


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"tools": [{"type": "function"}]}, "tools"),
        ({"response_format": {"type": "json_object"}}, "response_format"),
        ({"logit_bias": {"5": 1}}, "logit_bias"),
        ({"n": 2}, "n"),
        ({"frequency_penalty": 0.5}, "frequency_penalty"),
        ({"echo": True}, "echo"),
        ({"prompt_logprobs": 1}, "prompt_logprobs"),
        ({"prompt_logprobs": 0}, "prompt_logprobs"),
        ({"chat_template_kwargs": {"enable_thinking": False}}, "chat_template_kwargs"),
        ({"return_tokens_as_token_ids": True}, "return_tokens_as_token_ids"),
        ({"temperature": 0.7, "top_p": 0.9}, "top_p"),
        ({"temperature": 3}, "temperature"),
        ({"temperature": "0"}, "temperature"),
        ({"temperature": True}, "temperature"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": 1.5}, "max_tokens"),
        ({"max_completion_tokens": -1}, "max_completion_tokens"),
        ({"seed": 2**63}, "seed"),
        ({"stream": "yes"}, "stream"),
        ({"stream_options": {"include_usage": True}}, "stream_options"),
        ({"stream": True, "stream_options": {"include_usage": 1}}, "stream_options.include_usage"),
        ({"logprobs": 3}, "logprobs"),
        ({"top_logprobs": 2}, "top_logprobs"),
        ({"logprobs": True, "top_logprobs": 21}, "top_logprobs"),
        ({"stop": ["a", ""]}, "stop[1]"),
        ({"stop": 5}, "stop"),
        ({"ignore_eos": "x"}, "ignore_eos"),
        ({"cache_prompt": 0}, "cache_prompt"),
        ({"messages": None}, "messages"),
        ({"messages": []}, "messages"),
        ({"messages": "Say hi."}, "messages"),
        ({"messages": ["Say hi."]}, "messages[0]"),
        ({"messages": [{"content": "x"}]}, "messages[0].role"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "messages[0].role"),
        ({"messages": [{"role": "user"}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": 5}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": "\ud800"}]}, "messages[0].content"),
        (
            {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]},
            "messages[0].content[0].type",
        ),
        ({"messages": [{"role": "user", "content": [{"type": "text"}]}]}, "messages[0].content[0].text"),
        ({"model": None}, "model"),
        ({"continue_final_message": True}, "continue_final_message"),
        ({"continue_final_message": True, "add_generation_prompt": True}, "continue_final_message"),
        ({"continue_final_message": 1}, "continue_final_message"),
        ({"add_generation_prompt": "no"}, "add_generation_prompt"),
        ({"model": 5}, "model"),
    ],
)
def test_a_bad_field_is_refused_by_its_name(fields, field):
    engine = ScriptedEngine()
    status, _, body = post(engine, CHAT, chat_body(**fields))
    assert status == 400
    assert body["error"]["type"] == "invalid_request_error"
    assert body["error"]["param"] == field
    assert field in body["error"]["message"]
    assert not engine.requests


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[1]",
        b"null",
        b"\xff\xfe\xff",
        b'{"a": NaN}',
        b"[" * 100_000,
        b'{"seed": ' + b"9" * 5000 + b"}",
        json.dumps(chat_body()).encode()[:-1],
    ],
)
def test_a_body_that_is_not_a_json_object_is_refused(data):
    status, _, body = post(ScriptedEngine(), CHAT, data)
    assert status == 400
    assert body["error"]["type"] == "invalid_request_error"
    assert body["error"]["message"].startswith("the body is")


@pytest.mark.parametrize("temperature", [b"1e999", b"-1", b"9" * 400])
def test_a_number_out_of_range_is_refused(temperature):
    data = json.dumps(chat_body(temperature="T")).encode().replace(b'"T"', temperature)
    status, _, body = post(ScriptedEngine(), CHAT, data)
    assert (status, body["error"]["param"]) == (400, "temperature")


@pytest.mark.parametrize(("length", "limit"), [(3000, None), (1990, 1990), (100, 10**30)])
def test_what_does_not_fit_the_context_is_refused(length, limit):
    body = chat_body(messages=[{"role": "user", "content": "x" * length}], max_tokens=limit)
    status, _, answered = post(ScriptedEngine(), CHAT, body)
    assert (status, answered["error"]["code"]) == (400, "context_length_exceeded")
    assert "2000" in answered["error"]["message"]


def test_an_unknown_model_is_not_found():
    status, _, body = post(ScriptedEngine(), CHAT, chat_body(model="gpt-0"))
    assert status == 404
    assert body["error"]["code"] == "model_not_found"
    assert "scripted" in body["error"]["message"]


def test_what_the_chat_template_refuses_is_a_bad_request():
    status, _, body = post(ScriptedEngine(), CHAT, chat_body(messages=[{"role": "user", "content": "refuse me"}]))
    assert (status, body["error"]["type"]) == (400, "invalid_request_error")


def test_a_long_prompt_is_tokenized_like_a_short_one():
    engine = ScriptedEngine(context_tokens=50_000)
    answer(engine, messages=[{"role": "user", "content": "x" * 30_000}])
    assert len(engine.requests[0].tokens) == 30_000 + len("user:\n")
