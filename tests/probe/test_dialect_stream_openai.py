"""A streamed answer of OpenAI's chat dialect is the record that the same answer gives unstreamed."""

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted_server import BODIES, question

from temp0.core.run import Completion, Failure, ToolCall, Usage
from temp0.probe.dialect import DIALECTS
from temp0.probe.event_stream import EventReader

CHAT = DIALECTS["openai-chat"]
DONE = b"data: [DONE]\n\n"


def data(value: object) -> bytes:
    return b"data: " + (value if isinstance(value, bytes) else json.dumps(value).encode()) + b"\n\n"


def chunk(delta: object = None, *, finish: object = None, logprobs: object = None, **more: object) -> bytes:
    choice = {"index": 0, "delta": {} if delta is None else delta, "logprobs": logprobs, "finish_reason": finish}
    return data({"id": "c-1", "created": 17, "model": "smol", "system_fingerprint": "f", "choices": [choice], **more})


def text(content: object, **more: object) -> bytes:
    return chunk({"content": content}, **more)


STOP = chunk(finish="stop")
BARE = data({"choices": [{"delta": {"content": "Hi"}}]})  # of a server that never says why an answer ended
USAGE = data({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}})


def outcome(*events: bytes) -> Completion | Failure:
    return CHAT.streamed(EventReader().feed(b"".join(events)))


def completion(*events: bytes) -> Completion:
    found = outcome(*events)
    assert isinstance(found, Completion), found
    return found


def failure(*events: bytes) -> Failure:
    found = outcome(*events)
    assert isinstance(found, Failure), found
    return found


def whole(message: dict[str, Any], **choice: object) -> Completion | Failure:
    answer = {"index": 0, "message": message, "finish_reason": "stop", **choice}
    return CHAT.completion(
        {"id": "c-1", "created": 17, "model": "smol", "system_fingerprint": "f", "choices": [answer]}
    )


def test_counts_are_asked_for_with_a_stream_and_only_then():
    sent = CHAT.body(question(stream=True), "m")
    assert (sent["stream"], sent["stream_options"]) == (True, {"include_usage": True})
    assert "stream_options" not in CHAT.body(question(), "m")
    assert "stream_options" in CHAT.dispensable


def test_a_stream_with_a_role_first_and_counts_last_is_one_answer():
    role = chunk({"role": "assistant", "content": None})
    found = completion(role, text("He"), text("llo"), STOP, USAGE, DONE)
    assert (found.text, found.finish, found.usage) == ("Hello", "stop", Usage(prompt=7, completion=2))
    assert replace(found, usage=Usage()) == whole({"content": "Hello"})


def test_a_first_chunk_of_filter_results_tells_nothing_yet():
    first = data({"id": "", "created": 0, "model": "", "choices": [], "prompt_filter_results": [{"index": 0}]})
    later = data({"choices": [{"index": 0, "finish_reason": None, "content_filter_offsets": {"start": 1}}]})
    assert completion(first, text("Hello"), later, STOP, DONE) == whole({"content": "Hello"})


def test_the_recorded_stream_of_llama_cpp_is_its_recorded_answer():
    streamed = CHAT.streamed(EventReader().feed((BODIES / "llama_chat_stream_logprobs_usage.sse").read_bytes()))
    unstreamed = CHAT.completion(json.loads((BODIES / "llama_chat_logprobs.json").read_bytes()))
    assert isinstance(streamed, Completion)
    assert isinstance(unstreamed, Completion)
    assert streamed.tokens is not None
    assert streamed.usage.cached == 32
    assert streamed == replace(unstreamed, id=streamed.id, created=streamed.created)


def test_the_recorded_stream_of_transformers_has_no_done_and_is_whole():
    body = (BODIES / "tserve_chat_stream.http").read_bytes().partition(b"\r\n\r\n")[2]
    found = CHAT.streamed(EventReader().feed(body))
    assert isinstance(found, Completion)
    assert (found.text, found.finish, found.fingerprint) == ("I'm here", "length", "")
    assert (found.usage.completion, found.created) == (3, 1795957312)


def test_a_finish_reason_is_an_end_and_so_is_done():
    assert completion(text("Hi"), STOP).text == "Hi"
    done = completion(BARE, DONE)
    assert (done.text, done.finish) == ("Hi", None)
    assert completion(text("Hi"), STOP, DONE, DONE).text == "Hi"
    assert completion(BARE, data(b"  [DONE] ")).text == "Hi"


def test_done_is_no_end_where_a_reason_was_to_come():
    """A proxy that closes every stream properly, also one that its own server has cut."""
    assert failure(text("He"), DONE).reason == "cut"
    assert failure(text("He"), text("llo"), BARE, DONE).reason == "cut"
    assert completion(text("Hi"), STOP, DONE).text == "Hi"


def test_nothing_after_done_is_read():
    assert completion(BARE, DONE, text(" there"), data(b"nonsense")).text == "Hi"


def test_an_end_that_is_sent_twice_is_one_end():
    last = text("!", finish="stop")
    assert completion(text("Hi"), STOP, STOP, DONE).text == "Hi"
    assert completion(text("Hi"), last, last, DONE, DONE).text == "Hi!"
    assert completion(text("Hi"), STOP, text(""), USAGE, DONE).usage.prompt == 7


def test_of_two_reasons_the_last_stands():
    assert completion(text("Hi"), STOP, chunk(finish="length"), DONE).finish == "length"


def test_text_after_the_end_is_malformed_unless_each_chunk_says_why_it_ends():
    assert failure(text("Hi"), STOP, text(" there"), DONE).message == "text came after the answer had ended: stop"
    assert failure(text("Hi"), STOP, chunk({"reasoning": "hm"}), DONE).reason == "malformed"
    every = [text(piece, finish="stop") for piece in ("Hi", " there", " you")]
    assert completion(*every, DONE).text == "Hi there you"


def test_a_whole_message_in_the_place_of_deltas_is_the_answer():
    message = {"role": "assistant", "content": "Hi", "reasoning": "hm"}
    alone = data({"choices": [{"message": message, "finish_reason": "stop"}]})
    found = completion(alone, DONE)
    assert (found.text, found.reasoning, found.finish) == ("Hi", "hm", "stop")
    assert completion(alone, alone.replace(b"[{", b"[{ "), DONE) == found


def test_a_whole_message_after_deltas_has_to_say_what_they_said():
    def ending(content: str) -> bytes:
        return data({"choices": [{"message": {"content": content}, "finish_reason": "stop"}]})

    assert completion(text("Hi"), text(" there"), ending("Hi there"), DONE).text == "Hi there"
    assert failure(text("Hi"), ending("Hi there"), DONE).reason == "malformed"
    assert failure(ending("Hi"), ending("Ho"), DONE).message == "a streamed answer has two messages that differ"


def test_a_message_beside_each_delta_is_what_was_said_so_far():
    pieces = [("H", "H"), ("i", "Hi")]
    chunks = [data({"choices": [{"delta": {"content": new}, "message": {"content": far}}]}) for new, far in pieces]
    assert completion(*chunks, STOP).text == "Hi"


def test_logprobs_that_a_last_message_tells_again_are_not_told_twice():
    logprobs = {"content": [entry("Hi", -0.1)]}
    again = data({"choices": [{"message": {"content": "Hi"}, "logprobs": logprobs, "finish_reason": "stop"}]})
    found = completion(text("Hi", logprobs=logprobs), again, DONE)
    assert found.tokens is not None
    assert len(found.tokens) == 1


def test_without_either_the_stream_is_cut():
    assert failure(text("Hi")) == Failure(reason="cut", message="the stream ended before the answer did")
    assert failure().reason == "cut"
    assert failure(text("Hi", finish="")).reason == "cut"


def test_an_end_without_its_blank_line_is_none():
    assert failure(text("Hi"), DONE.removesuffix(b"\n")).reason == "cut"
    assert failure(text("Hi"), STOP.removesuffix(b"\n")).reason == "cut"
    assert completion(text("Hi"), STOP, DONE.removesuffix(b"\n")).text == "Hi"


def test_a_finish_reason_that_is_empty_yields_to_one_that_says_something():
    assert completion(text("Hi", finish=""), STOP, chunk(finish="")).finish == "stop"
    assert completion(text("Hi", finish=""), DONE).finish == ""


@pytest.mark.parametrize(
    "event",
    [
        data({"error": {"message": "overloaded", "code": 529}}),
        data({"error": "overloaded"}),
        data({"object": "error", "message": "overloaded", "code": 500}),
        b"event: error\ndata: overloaded\n\n",
        b'event: error\ndata: {"message": "overloaded"}\n\n',
        data({"choices": [{"error": {"message": "overloaded"}, "delta": {}, "finish_reason": "error"}]}),
        chunk(finish="error", error={"message": "overloaded"}),
    ],
)
def test_an_error_in_the_stream_is_the_failure(event: bytes):
    wanted = Failure(reason="error-in-200", message="overloaded")
    assert failure(text("Hi"), event) == wanted
    assert failure(event, STOP, DONE) == wanted


@pytest.mark.parametrize("words", [b"\xc2\xa0", b'{"message": " "}'])
def test_an_error_that_says_nothing_is_a_failure_that_says_so(words: bytes):
    assert failure(text("Hi"), b"event: error\ndata: " + words + b"\n\n").message == "nothing"


def test_the_first_of_two_errors_is_told():
    assert failure(data({"error": "one"}), data({"error": "two"})).message == "one"


@pytest.mark.parametrize(
    ("event", "quoted"),
    [
        (data(b"{oops"), "an event is not JSON: {oops"),
        (data(b'{"a": "\xff"}'), "an event is not JSON"),
        (data([1]), "an event is [1], expected an object"),
        (data({"choices": 7}), "choices is 7, expected an array"),
        (data({"choices": [7]}), "choices[] is 7, expected an object"),
        (data({"choices": [{"delta": "x"}]}), "choices[].delta is 'x', expected an object"),
        (data({"choices": [{"delta": {"content": 7}}]}), "choices[].delta.content is 7, expected a string"),
        (data({"choices": [{"delta": {}, "finish_reason": 7}]}), "choices[].finish_reason is 7, expected a string"),
        (data({"choices": [{"message": "x"}]}), "choices[].message is 'x', expected an object"),
        (data({"choices": [{"message": {"content": "x"}}]}), "does not say what its deltas said"),
        (chunk({"tool_calls": 7}), "choices[].delta.tool_calls is 7, expected an array"),
        (chunk({"tool_calls": [7]}), "choices[].delta.tool_calls[] is 7, expected an object"),
        (chunk({"tool_calls": [{"function": {"name": 7}}]}), "the name of a tool call is 7, expected a string"),
        (chunk({"function_call": {"arguments": 7}}), "the arguments of a tool call is 7, expected a string"),
        (data({"choices": [{"text": "x"}]}), "has no delta"),
        (text([{"type": "text", "text": 7}]), "content[].text is 7, expected a string"),
    ],
)
def test_a_piece_that_cannot_be_read_fails_the_answer_and_leaves_no_hole_in_it(event: bytes, quoted: str):
    found = failure(text("Hi"), event, text(" there"), STOP, DONE)
    assert found.reason == "malformed"
    assert quoted in found.message


def test_an_event_nested_too_deeply_is_malformed():
    assert failure(data(b"[" * 100_000)).reason == "malformed"
    assert failure(text("x", more=1).replace(b"1", b"[" * 900 + b"]" * 900), STOP).reason in {"malformed", "cut"}


def test_events_that_only_keep_awake_are_passed_over():
    assert completion(b": processing\n\n", data(b""), data({}), text("Hi"), data(b" "), STOP).text == "Hi"


def test_a_stream_without_a_choice_has_no_answer():
    assert failure(DONE).reason == "no-choices"
    assert failure(USAGE, DONE).reason == "no-choices"


def test_a_choice_that_was_not_asked_for_is_not_mixed_in():
    other = data({"choices": [{"index": 1, "delta": {"content": "NO"}, "finish_reason": "stop"}]})
    assert completion(text("He"), other, text("llo"), other, STOP).text == "Hello"
    assert failure(text("He"), other).reason == "cut"


def test_nothing_said_is_an_empty_text():
    role = chunk({"role": "assistant", "content": None})
    assert completion(role, chunk(finish="length")).text == ""
    assert completion(role, text(""), STOP) == whole({"content": ""})


def test_reasoning_is_kept_apart_and_one_of_two_names_is_enough():
    both = [chunk({"reasoning_content": piece, "reasoning": piece}) for piece in ("2+", "2")]
    found = completion(*both, text("4"), STOP)
    assert (found.text, found.reasoning) == ("4", "2+2")
    assert found == whole({"content": "4", "reasoning_content": "2+2", "reasoning": "2+2"})
    assert completion(chunk({"reasoning": "hm"}), STOP) == whole({"content": None, "reasoning": "hm"})


def test_tool_calls_in_deltas_are_those_of_the_whole_answer():
    def call(**function: str) -> dict[str, Any]:
        return {"index": 0, "id": "call_1", "type": "function", "function": function}

    deltas = [
        chunk({"role": "assistant", "content": None, "tool_calls": [call(name="f", arguments="")]}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": '{"a": '}}]}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": "1}"}}]}),
    ]
    found = completion(text("See:"), *deltas, STOP)
    assert found == whole({"content": "See:", "tool_calls": [call(name="f", arguments='{"a": 1}')]})
    assert found.tool_calls == (ToolCall(name="f", arguments='{"a": 1}'),)


def test_a_function_call_in_deltas_is_that_of_the_whole_answer():
    deltas = [chunk({"function_call": {"name": "f", "arguments": "{"}}), chunk({"function_call": {"arguments": "}"}})]
    assert completion(*deltas, STOP) == whole({"content": "", "function_call": {"name": "f", "arguments": "{}"}})


def test_a_refusal_in_deltas_is_that_of_the_whole_answer():
    deltas = [chunk({"refusal": piece, "content": None}) for piece in ("I ", "can't.")]
    ignored = chunk({"refusal": None}, logprobs={"content": None, "refusal": [entry("I ", -0.1)]})
    found = completion(*deltas, ignored, STOP)
    assert (found.text, found.refusal, found.tokens) == ("", "I can't.", None)
    assert found == whole({"content": None, "refusal": "I can't."})


def test_content_in_parts_is_read_as_it_is_unstreamed():
    parts = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"}]
    found = completion(text(parts), text("b"), text([{"type": "text", "text": "c"}]), STOP)
    assert (found.text, found.reasoning) == ("abc", "hm")


def test_a_surrogate_pair_in_two_chunks_is_one_character():
    halves = [rb'{"choices":[{"delta":{"content":"\ud83c"}}]}', rb'{"choices":[{"delta":{"content":"\udf78!"}}]}']
    assert completion(*map(data, halves), STOP).text == "\U0001f378!"
    assert completion(data(halves[1]), data(halves[0]), STOP).text == "\udf78!\ud83c"


def entry(token: str, logprob: float, *others: tuple[str, float]) -> dict[str, Any]:
    top = [{"token": name, "bytes": [*name.encode()], "logprob": value} for name, value in others]
    return {"token": token, "bytes": [*token.encode()], "logprob": logprob, "top_logprobs": top}


def test_a_chunk_may_hold_several_tokens():
    entries = [entry("cat", -0.1, ("cat", -0.1), ("dog", -2.0)), entry(" sat", -0.2, ("cat", -0.1), ("dog", -2.0))]
    found = completion(text("cat sat", logprobs={"content": entries}), STOP)
    assert found.tokens is not None
    assert [token.bytes for token in found.tokens] == [b"cat", b" sat"]
    assert [other.bytes for other in found.tokens[1].top] == [b"cat", b"dog"]


def test_an_end_token_that_comes_with_the_finish_has_its_place():
    end = {**entry("", -0.3), "token": "<|im_end|>"}
    found = completion(
        text("Hi", logprobs={"content": [entry("Hi", -0.1)]}), chunk(finish="stop", logprobs={"content": [end]})
    )
    assert found.tokens is not None
    assert [token.bytes for token in found.tokens] == [b"Hi", b""]


def test_logprobs_that_are_missing_somewhere_cost_the_tokens_and_not_the_text():
    found = completion(text("Hi", logprobs={"content": [entry("Hi", -0.1)]}), text(" there"), STOP)
    assert (found.text, found.tokens) == ("Hi there", None)
    assert completion(text("Hi", logprobs={"content": None}), STOP).tokens is None
    assert completion(text("Hi", logprobs=7), STOP).tokens is None


TEXT = st.text(alphabet=st.characters(exclude_categories=()), max_size=30)


@given(
    said=TEXT, thought=TEXT, cuts=st.lists(st.integers(0, 30), max_size=5), finish=st.sampled_from(["stop", "length"])
)
@settings(max_examples=200)
def test_streamed_or_not_the_same_answer_is_the_same_record(said: str, thought: str, cuts: list[int], finish: str):
    said, thought = (json.loads(json.dumps(each)) for each in (said, thought))  # JSON joins surrogates side by side
    borders = [0, *sorted(min(cut, len(said)) for cut in cuts), len(said)]
    pieces = [said[start:end] for start, end in pairwise(borders)]
    entries = [entry_of(piece) for piece in pieces if piece]
    chunks = [text(piece, logprobs={"content": [entry_of(piece)]} if piece else None) for piece in pieces]
    streamed = completion(chunk({"reasoning": thought}), *chunks, chunk(finish=finish), USAGE, DONE)
    message = {"content": said, "reasoning": thought}
    unstreamed = whole(message, finish_reason=finish, logprobs={"content": entries} if entries else None)
    assert isinstance(unstreamed, Completion)
    assert replace(streamed, usage=Usage()) == unstreamed


def entry_of(piece: str) -> dict[str, Any]:
    spelled = [*piece.encode("utf-8", "surrogatepass")]
    return {"token": piece, "bytes": spelled, "logprob": -1.5, "top_logprobs": []}


@given(piece=st.lists(st.integers(0, 5_000), max_size=6))
@settings(max_examples=100)
def test_where_the_bytes_are_cut_changes_no_record(piece: list[int]):
    body = (BODIES / "llama_chat_stream_logprobs_usage.sse").read_bytes()
    body = body.replace(b'"content":"Hello"', '"content":"你好\U0001f60a\u2028"'.encode())
    reader = EventReader()
    borders = sorted({0, len(body), *(place % len(body) for place in piece)})
    events = [event for start, end in pairwise(borders) for event in reader.feed(body[start:end])]
    assert CHAT.streamed(events) == CHAT.streamed(EventReader().feed(body))


def test_cut_short_at_any_byte_it_is_the_whole_text_or_a_failure():
    spoken = [text("SAID").replace(b"SAID", piece.encode()) for piece in ("né", "\U0001f60a")]
    body = b"".join([chunk({"role": "assistant"}), *spoken, STOP, DONE])
    ends = body.index(STOP) + len(STOP)
    for length in range(len(body)):
        found = outcome(body[:length])
        assert isinstance(found, Completion) == (length >= ends)
        assert found.text == "né\U0001f60a" if isinstance(found, Completion) else found.reason == "cut"
