"""A streamed answer of Anthropic's messages is the record that the same answer gives unstreamed."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted_server import BODIES, question

from temp0.core.run import Completion, Failure, ToolCall, Usage
from temp0.probe.dialect import DIALECTS
from temp0.probe.event_stream import EventReader

ANTHROPIC = DIALECTS["anthropic"]


def event(kind: str, **fields: object) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


def start(**fields: object) -> bytes:
    message = {"id": "m-1", "model": "claude", "content": [], "stop_reason": None, "usage": {"input_tokens": 5}}
    return event("message_start", message={**message, **fields})


def opened(block: object, index: int = 0) -> bytes:
    return event("content_block_start", index=index, content_block=block)


def added(delta: object, index: int = 0) -> bytes:
    return event("content_block_delta", index=index, delta=delta)


def text(piece: object, index: int = 0) -> bytes:
    return added({"type": "text_delta", "text": piece}, index)


TEXT_BLOCK = opened({"type": "text", "text": ""})
END = event("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 2})
STOP = event("message_stop")
BARE = event("message_start", message={"content": []})  # with no place for a reason


def outcome(*events: bytes) -> Completion | Failure:
    return ANTHROPIC.streamed(EventReader().feed(b"".join(events)))


def completion(*events: bytes) -> Completion:
    found = outcome(*events)
    assert isinstance(found, Completion), found
    return found


def failure(*events: bytes) -> Failure:
    found = outcome(*events)
    assert isinstance(found, Failure), found
    return found


def whole(content: list[dict[str, Any]], **usage: int) -> Completion | Failure:
    counts = {"input_tokens": 5, "output_tokens": 2, **usage}
    answer = {"id": "m-1", "model": "claude", "content": content, "stop_reason": "end_turn", "usage": counts}
    return ANTHROPIC.completion(answer)


def test_a_stream_is_asked_for_by_one_field():
    assert ANTHROPIC.body(question(stream=True), "m") == {**ANTHROPIC.body(question(), "m"), "stream": True}
    assert ANTHROPIC.dispensable == ()


def test_pieces_of_a_block_are_one_text():
    found = completion(start(), TEXT_BLOCK, event("ping"), text("He"), text("llo"), END, STOP)
    assert (found.text, found.finish, found.id, found.model) == ("Hello", "end_turn", "m-1", "claude")
    assert found == whole([{"type": "text", "text": "Hello"}])


def test_the_recorded_stream_of_llama_cpp_is_read_whole():
    found = ANTHROPIC.streamed(EventReader().feed((BODIES / "llama_messages_stream.sse").read_bytes()))
    assert isinstance(found, Completion)
    assert (found.text, found.finish, found.model) == ("Hello there!", "max_tokens", "models/smol-BF16.gguf")
    assert found.usage == Usage(prompt=33, completion=3, cached=32)


def test_a_recorded_stream_of_llama_cpp_without_its_opening_is_read_too():
    body = (BODIES / "llama_messages_stream_no_start.sse").read_bytes()
    assert b"message_start" not in body
    found = ANTHROPIC.streamed(EventReader().feed(body))
    assert isinstance(found, Completion)
    assert (found.text, found.finish, found.id) == ("\U0001f327: A friendly and helpful", "max_tokens", None)
    assert found.usage == Usage(completion=8)


def test_counts_at_the_end_replace_those_of_the_start_and_none_replaces_nothing():
    begun = start(usage={"input_tokens": 1, "cache_read_input_tokens": 32, "output_tokens": 1})
    ended = event("message_delta", delta={"stop_reason": "end_turn"}, usage={"input_tokens": None, "output_tokens": 9})
    assert completion(begun, ended, STOP).usage == Usage(prompt=33, completion=9, cached=32)


def test_thinking_signatures_and_tools_stay_out_of_the_text():
    events = [
        start(),
        opened({"type": "thinking", "thinking": "", "signature": ""}),
        added({"type": "thinking_delta", "thinking": "h"}),
        added({"type": "thinking_delta", "thinking": "m"}),
        added({"type": "signature_delta", "signature": "zzz"}),
        opened({"type": "text", "text": "a"}, 1),
        text("b", 1),
        opened({"type": "tool_use", "id": "t", "name": "f", "input": {}}, 2),
        added({"type": "input_json_delta", "partial_json": '{"x":'}, 2),
        opened({"type": "text", "text": ""}, 3),
        text("c", 3),
        added({"type": "a kind of tomorrow", "text": 3}, 3),
    ]
    found = completion(*events, END, STOP)
    assert (found.text, found.reasoning) == ("abc", "hm")


def tool(*pieces: object, opened_with: object = None, index: int = 0) -> list[bytes]:
    block = {"type": "tool_use", "id": "t", "name": "f", "input": opened_with or {}}
    return [
        opened(block, index),
        *(added({"type": "input_json_delta", "partial_json": each}, index) for each in pieces),
    ]


@pytest.mark.parametrize(
    ("pieces", "told"),
    [
        ([], {}),
        ([""], {}),
        (["", '{"x": ', '"\u00e9", "a": [1', ", 2]}"], {"x": "é", "a": [1, 2]}),
        (['{"x": "\ud83c', '\udf78"}'], {"x": "\U0001f378"}),
    ],
)
def test_an_input_that_came_in_pieces_is_the_input_of_the_whole_answer(pieces: list[str], told: dict[str, object]):
    found = completion(start(), *tool(*pieces), END, STOP)
    assert found == whole([{"type": "tool_use", "id": "u", "name": "f", "input": told}])
    assert len(found.tool_calls) == 1


def test_an_input_that_came_whole_is_kept_and_one_that_was_cut_is_the_text_it_is():
    (call,) = completion(start(), *tool(opened_with={"x": 1}), END, STOP).tool_calls
    assert call == ToolCall(name="f", arguments='{"x":1}')
    (call,) = completion(start(), *tool('{"x": [1, '), END, STOP).tool_calls
    assert call == ToolCall(name="f", arguments='{"x": [1, ')
    (call,) = completion(start(), *tool("[" * 100_000), END, STOP).tool_calls
    assert call.arguments == "[" * 100_000


def test_pieces_go_to_their_own_block_in_whatever_order_they_come():
    second = opened({"type": "text", "text": ""}, 1)
    assert completion(start(), TEXT_BLOCK, second, text("b", 1), text("a", 0), END).text == "ab"


def test_content_that_the_start_already_has_is_kept():
    assert completion(start(content=[{"type": "text", "text": "Hi"}]), text(" there"), END).text == "Hi there"


def test_an_empty_answer_is_an_empty_completion():
    refused = event("message_delta", delta={"stop_reason": "refusal"})
    assert completion(start(), refused, STOP).finish == "refusal"
    assert completion(start(), END, STOP) == whole([])


def test_a_stop_or_a_reason_is_an_end_and_without_either_the_stream_is_cut():
    assert completion(start(), TEXT_BLOCK, text("Hi"), END).text == "Hi"
    assert completion(BARE, TEXT_BLOCK, text("Hi"), STOP).finish is None
    assert completion(BARE, TEXT_BLOCK, text("Hi"), STOP, text(" there"), b"data: nonsense\n\n").text == "Hi"
    assert failure(start(), TEXT_BLOCK, text("Hi"), STOP).reason == "cut"  # a proxy closed what its server had cut
    assert failure(start(), TEXT_BLOCK, text("Hi")).reason == "cut"
    assert failure(start(), TEXT_BLOCK, text("Hi"), event("content_block_stop", index=0)).reason == "cut"
    assert failure(start(), TEXT_BLOCK, text("Hi"), STOP.removesuffix(b"\n")).reason == "cut"
    assert failure().reason == "cut"
    assert failure(start(), b"data: [DONE]\n\n").reason == "cut"


def test_an_error_in_the_stream_is_the_failure():
    error = event("error", error={"type": "overloaded_error", "message": "Overloaded"})
    assert failure(start(), TEXT_BLOCK, text("Hi"), error) == Failure(reason="error-in-200", message="Overloaded")
    assert failure(error, END, STOP).reason == "error-in-200"
    assert failure(b"event: error\ndata: oh no\n\n").message == "oh no"


def test_events_without_names_are_known_by_their_types_and_without_types_by_their_names():
    nameless = [each.partition(b"\n")[2] for each in (start(), TEXT_BLOCK, text("Hi"), END)]
    assert completion(*nameless).text == "Hi"
    assert completion(BARE, TEXT_BLOCK, text("Hi"), b"event: message_stop\ndata: {}\n\n").text == "Hi"


@pytest.mark.parametrize(
    ("events", "quoted"),
    [
        ([b"data: {oops\n\n"], "an event is not JSON: {oops"),
        ([b"data: 7\n\n"], "an event is 7, expected an object"),
        ([event("message_start", message=7)], "message is 7, expected an object"),
        ([start(content=7)], "message.content is 7, expected an array"),
        ([start(content=[7])], "message.content[] is 7, expected an object"),
        ([start(), opened(7)], "content_block is 7, expected an object"),
        ([start(), added(7)], "delta is 7, expected an object"),
        ([start(), text("x", 3)], "a text is added to content block 3, which was not opened"),
        ([start(), added({"type": "text_delta", "text": "x"}, index=[])], "content block None"),  # type: ignore[arg-type]
        ([start(), TEXT_BLOCK, text(7)], "delta.text is 7, expected a string"),
        ([start(), *tool(7)], "delta.partial_json is 7, expected a string"),
        ([BARE, opened({"type": "text", "text": 7}), text("x"), STOP], "content_block.text is 7, expected a string"),
        ([BARE, opened({"type": "text"}), STOP], "content[].text is None, expected a string"),
        ([STOP], "content is None, expected an array"),
        ([END, STOP], "content is None, expected an array"),
    ],
)
def test_a_piece_that_cannot_be_read_fails_the_answer(events: list[bytes], quoted: str):
    found = failure(*events)
    assert found.reason == "malformed"
    assert quoted in found.message


TEXTS = st.text(alphabet=st.characters(exclude_categories=()), max_size=20)


@given(pieces=st.lists(TEXTS, max_size=5), thoughts=st.lists(TEXTS, max_size=3))
@settings(max_examples=100)
def test_streamed_or_not_the_same_answer_is_the_same_record(pieces: list[str], thoughts: list[str]):
    said, thought = (json.loads(json.dumps("".join(each))) for each in (pieces, thoughts))
    events = [opened({"type": "thinking", "thinking": ""}), opened({"type": "text", "text": ""}, 1)]
    events += [added({"type": "thinking_delta", "thinking": piece}) for piece in thoughts]
    events += [text(piece, 1) for piece in pieces]
    content = [{"type": "thinking", "thinking": thought}, {"type": "text", "text": said}]
    assert completion(start(), *events, END, STOP) == whole(content)


def test_cut_short_at_any_byte_it_is_the_whole_text_or_a_failure():
    spoken = text("SAID").replace(b"SAID", "né\U0001f60a".encode())
    body = b"".join([start(), TEXT_BLOCK, spoken, END, STOP])
    ends = body.index(STOP)
    for length in range(len(body)):
        found = outcome(body[:length])
        assert isinstance(found, Completion) == (length >= ends)
        assert found.text == "né\U0001f60a" if isinstance(found, Completion) else found.reason == "cut"


def test_a_fingerprint_comes_with_the_opening():
    whole = completion(start(system_fingerprint="temp0-0123456789ab"), TEXT_BLOCK, text("Hi"), END, STOP)
    assert whole.fingerprint == "temp0-0123456789ab"
