from __future__ import annotations

import asyncio

import pytest
from engine_client import invariant_engine
from scripted_engine import END, FIRST, ScriptedEngine
from server_client import post, stream, talk

COMPLETIONS = "/v1/completions"
HELLO = ScriptedEngine().text


def body_of(**fields):
    return {"model": "scripted", "prompt": "Say", **fields}


def answer(engine, **fields):
    status, _, body = post(engine, COMPLETIONS, body_of(**fields))
    assert status == 200, body
    return body


def choice(engine, **fields):
    return answer(engine, **fields)["choices"][0]


def chunks(engine, **fields):
    events = stream(engine, COMPLETIONS, body_of(stream=True, **fields))
    assert events[-1] == (None, "[DONE]")
    assert {name for name, _ in events} == {None}
    return [data for _, data in events[:-1]]


def choices(parts):
    return [part["choices"][0] for part in parts if part["choices"]]


def columns(parts, name):
    """One list of the logprobs of all chunks, joined."""
    return [item for part in choices(parts) if part["logprobs"] for item in part["logprobs"][name]]


def test_an_answer_has_the_dialects_shape():
    assert answer(ScriptedEngine(cached=2)) == {
        "id": "cmpl-id1",
        "object": "text_completion",
        "created": 1_700_000_000,
        "model": "scripted",
        "system_fingerprint": "temp0-0123456789ab",
        "choices": [{"index": 0, "text": HELLO, "logprobs": None, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": 3,
            "completion_tokens": 5,
            "total_tokens": 8,
            "prompt_tokens_details": {"cached_tokens": 2},
        },
    }


@pytest.mark.parametrize("prompt", ["Say", ["Say"], list(b"Say"), [list(b"Say")]])
def test_one_prompt_in_each_of_its_forms_is_the_same_tokens_without_a_template(prompt):
    engine = ScriptedEngine()
    answer(engine, prompt=prompt)
    assert engine.requests[0].tokens == tuple(b"Say")
    assert engine.requests[0].max_tokens == 16


def test_the_default_limit_gives_way_to_the_context_and_a_limit_that_was_sent_does_not():
    engine = ScriptedEngine(context_tokens=10)
    answer(engine)
    assert engine.requests[0].max_tokens == 7
    status, _, body = post(engine, COMPLETIONS, body_of(max_tokens=8))
    assert (status, body["error"]["param"], body["error"]["code"]) == (400, "prompt", "context_length_exceeded")


def test_what_the_engine_can_honour_reaches_it():
    engine = ScriptedEngine()
    sent = {"temperature": 0.5, "seed": -7, "logprobs": 3, "ignore_eos": True, "cache_prompt": False, "max_tokens": 9}
    answer(engine, **sent)
    answer(engine)
    request, plain = engine.requests
    assert (request.temperature, request.seed, request.max_tokens, request.ignore_eos) == (0.5, -7, 9, True)
    assert (request.logprobs, request.top_logprobs, request.use_prefix_cache) == (True, 3, False)
    assert (plain.temperature, plain.logprobs, plain.prompt_logprobs, plain.use_prefix_cache) == (0, False, False, True)


def test_logprobs_are_lists_of_equal_length_and_the_token_itself_is_among_its_alternatives():
    logprobs = choice(ScriptedEngine(), logprobs=1)["logprobs"]
    assert logprobs == {
        "tokens": ["Hel", "lo", " there", "!", f"token_id:{END}"],
        "token_logprobs": [-0.25, -0.5, -0.75, -1.0, -1.25],
        "top_logprobs": [
            {"Hel": -1.0},
            {"Hel": -1.0, "lo": -0.5},
            {"Hel": -1.0, " there": -0.75},
            {"Hel": -1.0, "!": -1.0},
            {"Hel": -1.0, f"token_id:{END}": -1.25},
        ],
        "text_offset": [3, 6, 8, 14, 15],
    }


def test_no_alternatives_are_null_and_no_logprobs_too():
    assert choice(ScriptedEngine(), logprobs=0)["logprobs"]["top_logprobs"] is None
    assert choice(ScriptedEngine())["logprobs"] is None


def test_a_part_of_a_character_is_written_by_its_bytes_and_begins_where_the_character_does():
    engine = ScriptedEngine(script=(b"a\xe2", b"\x82", b"\xac", b"b"))
    logprobs = choice(engine, logprobs=0)["logprobs"]
    assert logprobs["tokens"][:4] == [r"bytes:\x61\xe2", r"bytes:\x82", r"bytes:\xac", "b"]
    assert logprobs["text_offset"] == [3, 4, 4, 5, 6]


def test_tokens_are_named_by_their_ids_on_request():
    logprobs = choice(ScriptedEngine(), logprobs=1, return_tokens_as_token_ids=True, max_tokens=1)["logprobs"]
    assert logprobs["tokens"] == [f"token_id:{FIRST}"]
    assert logprobs["top_logprobs"] == [{f"token_id:{FIRST}": -1.0}]


def test_the_echo_goes_before_the_answer_and_needs_no_scores():
    engine = ScriptedEngine(cached=2)
    body = answer(engine, echo=True)
    assert body["choices"][0]["text"] == f"Say{HELLO}"
    assert not engine.requests[0].prompt_logprobs
    assert body["usage"]["prompt_tokens_details"]["cached_tokens"] == 2


def test_an_echo_with_logprobs_scores_the_prompt_from_its_second_token_on():
    logprobs = choice(ScriptedEngine(), echo=True, logprobs=1, max_tokens=2)["logprobs"]
    assert logprobs == {
        "tokens": ["S", "a", "y", "Hel", "lo"],
        "token_logprobs": [None, -0.5, -1.0, -0.25, -0.5],
        "top_logprobs": [
            None,
            {" ": -0.125, "a": -0.5},
            {" ": -0.125, "y": -1.0},
            {"Hel": -1.0},
            {"Hel": -1.0, "lo": -0.5},
        ],
        "text_offset": [0, 1, 2, 3, 6],
    }


def test_offsets_count_characters_and_not_bytes():
    logprobs = choice(ScriptedEngine(), prompt="h\u00e9!", echo=True, logprobs=0, max_tokens=1)["logprobs"]
    assert logprobs["text_offset"] == [0, 1, 1, 2, 3]
    by_ids = choice(ScriptedEngine(), prompt=list("h\u00e9!".encode()), echo=True, logprobs=0, max_tokens=1)
    assert by_ids["text"] == "h\u00e9!Hel"
    assert by_ids["logprobs"] == logprobs


def test_without_a_limit_an_echo_scores_the_prompt_and_nothing_else():
    engine = ScriptedEngine(context_tokens=3)
    body = answer(engine, echo=True, logprobs=1, max_tokens=0, return_token_ids=True)
    one = body["choices"][0]
    assert (one["text"], one["finish_reason"], one["token_ids"]) == ("Say", "length", [])
    assert one["logprobs"]["token_logprobs"] == [None, -0.5, -1.0]
    assert (body["usage"]["completion_tokens"], body["usage"]["total_tokens"]) == (0, 3)
    assert engine.requests[0].max_tokens == 0
    assert choice(engine, echo=True, max_tokens=0)["logprobs"] is None


@pytest.mark.parametrize("fields", [{}, {"logprobs": 2}, {"echo": True}, {"echo": True, "logprobs": 2}])
@pytest.mark.parametrize("limit", [None, 3])
def test_a_stream_adds_up_to_the_whole_answer(fields, limit):
    engine = ScriptedEngine(script=(b"Hel", b"lo\xe2", b"\x82", b"\xac"))
    sent = {**fields, "max_tokens": limit, "return_token_ids": True}
    whole, parts = choice(engine, **sent), chunks(engine, **sent)
    assert "".join(part["text"] for part in choices(parts)) == whole["text"]
    assert [part["finish_reason"] for part in choices(parts)] == [None] * (len(parts) - 1) + [whole["finish_reason"]]
    assert [token for part in choices(parts) for token in part.get("token_ids", [])] == whole["token_ids"]
    assert choices(parts)[0]["prompt_token_ids"] == whole["prompt_token_ids"] == list(b"Say")
    if fields.get("logprobs"):
        for name in ("tokens", "token_logprobs", "top_logprobs", "text_offset"):
            assert columns(parts, name) == whole["logprobs"][name]
    else:
        assert not columns(parts, "tokens")


def test_a_streamed_echo_without_an_answer_is_the_prompt_and_its_end():
    parts = chunks(ScriptedEngine(), echo=True, logprobs=0, max_tokens=0)
    assert [(part["text"], part["finish_reason"]) for part in choices(parts)] == [("Say", None), ("", "length")]
    assert columns(parts, "token_logprobs") == [None, -0.5, -1.0]


def test_a_stream_tells_its_usage_on_request_only():
    parts = chunks(ScriptedEngine(), stream_options={"include_usage": True})
    assert [part["usage"] for part in parts[:-1]] == [None] * (len(parts) - 1)
    assert parts[-1]["choices"] == []
    assert parts[-1]["usage"]["total_tokens"] == 8
    assert all("usage" not in part for part in chunks(ScriptedEngine()))
    assert {part["object"] for part in parts} == {"text_completion"}


def test_ids_of_prompt_and_answer_are_given_on_request_only():
    one = choice(ScriptedEngine(), return_token_ids=True)
    assert one["prompt_token_ids"] == list(b"Say")
    assert one["token_ids"] == [FIRST, FIRST + 1, FIRST + 2, FIRST + 3, END]
    assert not {"prompt_token_ids", "token_ids"} & choice(ScriptedEngine()).keys()


def test_a_stop_string_ends_the_answer_and_leaves_the_echo_alone():
    one = choice(ScriptedEngine(), prompt="lo", echo=True, stop="lo", logprobs=0, return_token_ids=True)
    assert (one["text"], one["finish_reason"]) == ("loHel", "stop")
    assert one["logprobs"]["tokens"] == ["l", "o", "Hel"]
    assert one["token_ids"] == [FIRST]


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"n": 2}, "n"),
        ({"best_of": 2}, "best_of"),
        ({"suffix": "end"}, "suffix"),
        ({"logit_bias": {"5": 1}}, "logit_bias"),
        ({"presence_penalty": 1}, "presence_penalty"),
        ({"prompt_logprobs": 0}, "prompt_logprobs"),
        ({"n_probs": 5}, "n_probs"),
        ({"use_beam_search": True}, "use_beam_search"),
        ({"temperature": 0.7, "top_p": 0.9}, "top_p"),
        ({"logprobs": True}, "logprobs"),
        ({"logprobs": 21}, "logprobs"),
        ({"logprobs": -1}, "logprobs"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": -1, "echo": True}, "max_tokens"),
        ({"echo": "yes"}, "echo"),
        ({"return_token_ids": 1}, "return_token_ids"),
        ({"return_tokens_as_token_ids": 1}, "return_tokens_as_token_ids"),
        ({"stream_options": {"include_usage": True}}, "stream_options"),
        ({"prompt": None}, "prompt"),
        ({"prompt": ""}, "prompt"),
        ({"prompt": []}, "prompt"),
        ({"prompt": {"text": "Say"}}, "prompt"),
        ({"prompt": ["Say", "that"]}, "prompt"),
        ({"prompt": [[1], [2]]}, "prompt"),
        ({"prompt": ["\ud800"]}, "prompt"),
        ({"prompt": [1, "a"]}, "prompt[1]"),
        ({"prompt": [1, -1]}, "prompt[1]"),
        ({"prompt": [1, True]}, "prompt[1]"),
        ({"prompt": [1, 700]}, "prompt"),
        ({"model": None}, "model"),
    ],
)
def test_a_bad_field_is_refused_by_its_name(fields, field):
    engine = ScriptedEngine()
    status, _, body = post(engine, COMPLETIONS, body_of(**fields))
    assert status == 400
    assert body["error"]["type"] == "invalid_request_error"
    assert body["error"]["param"] == field
    assert field in body["error"]["message"]
    assert not engine.requests


@pytest.mark.parametrize(
    "fields",
    [
        {"n": 1, "best_of": 1, "suffix": ""},
        {"user": "u", "stop": None, "logprobs": None, "prompt_logprobs": None, "bad_words": []},
    ],
)
def test_fields_that_change_nothing_are_tolerated(fields):
    assert choice(ScriptedEngine(), **fields)["text"] == HELLO


def test_a_fault_in_mid_stream_is_the_last_event(caplog):
    events = stream(ScriptedEngine(fail_after=2), COMPLETIONS, body_of(stream=True))
    assert events[-1][1]["error"]["type"] == "server_error"
    assert "secret" not in str(events)


TEXT = "Say hi. " * 8
CROWD = [f"{'Never mind. ' * 5}{number}" for number in range(4)]


async def scored(client, prompt, **fields):
    asked = {"model": "tiny", "prompt": prompt, "echo": True, "logprobs": 3, "max_tokens": 6}
    async with client.post(COMPLETIONS, json={**asked, **fields}) as response:
        assert response.status == 200, await response.text()
        return (await response.json())["choices"][0]


def served(conversation, **limits):
    with invariant_engine(**{"kv_tokens": 2048, **limits}) as engine:
        engine.start()
        return talk(engine, conversation)


def test_an_echo_has_the_same_bits_alone_in_company_and_at_other_chunk_cuts():
    async def lone(client):
        return await scored(client, TEXT)

    async def crowd(client):
        return (await asyncio.gather(*(scored(client, prompt) for prompt in [*CROWD[:2], TEXT, *CROWD[2:]])))[2]

    expected = served(lone)
    assert served(crowd) == served(lone, chunk_tokens=7) == served(crowd, chunk_tokens=13) == expected
    assert len(expected["logprobs"]["tokens"]) == len(TEXT) + 6


def test_what_was_generated_has_the_same_bits_when_it_is_scored():
    async def twice(client):
        generated = await scored(client, TEXT, return_token_ids=True)
        ids = generated["prompt_token_ids"] + generated["token_ids"]
        return generated, await scored(client, ids, max_tokens=0)

    generated, again = served(twice)
    for name in ("tokens", "token_logprobs", "top_logprobs"):
        assert again["logprobs"][name] == generated["logprobs"][name]


def test_a_real_engine_refuses_an_id_outside_its_vocabulary():
    async def conversation(client):
        async with client.post(COMPLETIONS, json={"model": "tiny", "prompt": [5, 300]}) as response:
            return response.status, (await response.json())["error"]

    status, error = served(conversation)
    assert (status, error["param"]) == (400, "prompt")
