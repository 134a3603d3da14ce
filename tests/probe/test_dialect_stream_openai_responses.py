"""A streamed answer of OpenAI's responses is the record that the same answer gives unstreamed, or a failure."""

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted_server import BODIES

from temp0.core.run import Completion, Failure, Usage
from temp0.probe.body import streamed_outcome
from temp0.probe.dialect import DIALECTS
from temp0.probe.event_stream import EventReader

RESPONSES = DIALECTS["openai-responses"]
HEAD = {"id": "r-1", "created_at": 17, "model": "smol"}
CREATED = {"type": "response.created", "response": {**HEAD, "status": "in_progress", "output": []}}


def data(event: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(event).encode() + b"\n\n"


def delta(words: object, kind: str = "output_text", **more: object) -> dict[str, Any]:
    return {"type": f"response.{kind}.delta", "item_id": "m", "output_index": 0, "delta": words, **more}


def message(*texts: str, **more: object) -> dict[str, Any]:
    return {"type": "message", "content": [{"type": "output_text", "text": words, **more} for words in texts]}


def end(*output: object, status: str = "completed", **more: object) -> dict[str, Any]:
    return {"type": f"response.{status}", "response": {**HEAD, "status": status, "output": [*output], **more}}


def item(value: dict[str, Any]) -> dict[str, Any]:
    return {"type": "response.output_item.done", "item": value}


def outcome(*events: dict[str, Any]) -> Completion | Failure:
    return RESPONSES.streamed(EventReader().feed(b"".join(map(data, events))))


def completion(*events: dict[str, Any]) -> Completion:
    found = outcome(*events)
    assert isinstance(found, Completion), found
    return found


def failure(*events: dict[str, Any]) -> Failure:
    found = outcome(*events)
    assert isinstance(found, Failure), found
    return found


def test_the_recorded_stream_of_llama_cpp_is_one_answer() -> None:
    found = RESPONSES.streamed(EventReader().feed((BODIES / "llama_responses_stream.sse").read_bytes()))
    assert isinstance(found, Completion)
    assert (found.text, found.finish, found.created) == ("Hello there!", "completed", 1795957209)
    assert found.usage == Usage(prompt=33, completion=3, cached=32)


def test_the_stream_that_transformers_sends_unasked_is_one_answer() -> None:
    _, _, body = (BODIES / "tserve_responses.http").read_bytes().replace(b"\r\n", b"\n").partition(b"\n\n")
    assert RESPONSES.framing.begins(body, "text/event-stream; charset=utf-8")
    found = streamed_outcome(RESPONSES, body, ())
    assert isinstance(found, Completion)
    assert (found.text, found.finish, found.created) == ("I'm here", "completed", 1795957322)


def test_the_final_answer_is_the_answer_and_unknown_events_are_passed_over() -> None:
    final = end(message("Hi there"), usage={"input_tokens": 7, "output_tokens": 2})
    odd = {"type": "response.something.new", "delta": "NO", "text": "NO"}
    found = completion(CREATED, odd, delta("Hi"), {"type": "keepalive"}, delta(" there"), {}, final)
    assert found == RESPONSES.completion(final["response"])
    assert (found.text, found.usage) == ("Hi there", Usage(prompt=7, completion=2))


def test_a_final_answer_without_deltas_is_enough() -> None:
    assert completion(end(message("Hi"))).text == "Hi"


@pytest.mark.parametrize("deltas", [["Hi"], ["Hi", " there", " there"], [" there", "Hi"], ["Hi", " there "]])
def test_a_delta_that_was_lost_repeated_or_moved_is_no_other_text(deltas: list[str]) -> None:
    found = failure(*map(delta, deltas), end(message("Hi there")))
    assert found.reason == "malformed"
    assert found.message == "the deltas of a streamed answer spell another text than its end does"


def test_a_final_answer_without_output_is_what_was_said_before() -> None:
    bare = end()
    assert completion(delta("Hi"), delta(" there"), bare) == completion(end(message("Hi there")))
    assert completion(delta("Hi"), item(message("Hi")), bare) == completion(end(message("Hi")))
    assert failure(delta("Hi"), delta("Hi"), item(message("Hi")), bare).reason == "malformed"
    assert completion(delta(""), bare).text == ""
    assert failure(bare).reason == "null-content"


def test_reasoning_and_a_refusal_in_deltas_are_kept_apart() -> None:
    found = completion(
        delta("Hm.", "reasoning_summary_text"), delta("I ", "refusal"), delta("can't.", "refusal"), end()
    )
    assert (found.text, found.reasoning, found.refusal) == ("", "Hm.", "I can't.")
    assert completion(delta("2+2", "reasoning_text"), delta("4"), end()).reasoning == "2+2"
    refused = {"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}
    assert failure(delta("I can't.", "refusal"), end(refused)).reason == "malformed"


def test_a_call_comes_with_its_item_and_its_deltas_have_to_spell_its_arguments() -> None:
    call = {"type": "function_call", "name": "f", "arguments": '{"a":1}'}
    pieces = [delta(piece, "function_call_arguments") for piece in ('{"a"', ":1}")]
    found = completion(*pieces, item(call), end())
    assert [(one.name, one.arguments) for one in found.tool_calls] == [("f", '{"a":1}')]
    assert found == completion(*pieces, end(call))
    assert failure(pieces[0], end(call)).reason == "malformed"
    assert failure(*pieces, end()).message == "a streamed answer calls for a tool and does not name it"


def entry(name: str) -> dict[str, Any]:
    return {"token": name, "bytes": [*name.encode()], "logprob": -0.5, "top_logprobs": []}


def test_logprobs_of_the_deltas_stand_where_the_final_answer_has_none() -> None:
    deltas = [delta("Hi", logprobs=[entry("Hi")]), delta(" there you", logprobs=[entry(" there"), entry(" you")])]
    listed = [entry("Hi"), entry(" there"), entry(" you")]
    wanted = completion(end(message("Hi there you", logprobs=listed)))
    assert wanted.tokens is not None
    assert completion(*deltas, end(message("Hi there you", logprobs=[]))) == wanted
    assert completion(*deltas, end(message("Hi there you", logprobs=listed))) == wanted
    assert completion(*deltas, end()) == wanted
    others = [{**each, "logprob": -0.7} for each in listed]
    assert completion(delta("Hi there you", logprobs=others), end(message("Hi there you", logprobs=listed))) == wanted
    assert completion(*deltas, end(message("Hi there", " you"))).tokens == wanted.tokens


def test_an_incomplete_answer_is_whole_and_says_why() -> None:
    cut = end(message("Hi"), status="incomplete", incomplete_details={"reason": "max_output_tokens"})
    assert (completion(delta("Hi"), cut).text, completion(cut).finish) == ("Hi", "max_output_tokens")


@pytest.mark.parametrize(
    "event",
    [
        {"type": "error", "code": "x", "message": "overloaded"},
        {"error": {"message": "overloaded"}},
        end(status="failed", error={"message": "overloaded"}),
        end(message("H"), status="failed", error={"message": "overloaded"}),
    ],
)
def test_an_error_in_the_stream_is_the_failure(event: dict[str, Any]) -> None:
    wanted = Failure(reason="error-in-200", message="overloaded")
    assert failure(CREATED, delta("Hi"), event) == wanted
    named = b"event: error\ndata: overloaded\n\n"
    assert RESPONSES.streamed(EventReader().feed(data(delta("Hi")) + named + data(end(message("Hi"))))) == wanted


def test_without_its_own_end_the_stream_is_cut() -> None:
    assert failure(CREATED, delta("Hi"), item(message("Hi"))).reason == "cut"
    assert RESPONSES.streamed(EventReader().feed(data(delta("Hi")) + b"data: [DONE]\n\n")) == failure(delta("Hi"))


def test_nothing_after_the_end_is_read() -> None:
    assert completion(delta("Hi"), end(message("Hi")), delta("NO"), end(message("NO"))).text == "Hi"


def test_the_name_of_an_event_stands_in_for_its_type() -> None:
    events = [(name, {**event}) for event in (delta("Hi"), end(message("Hi"))) if (name := event.pop("type"))]
    body = b"".join(b"event: " + name.encode() + b"\n" + data(event) for name, event in events)
    assert RESPONSES.streamed(EventReader().feed(body)) == completion(end(message("Hi")))


@pytest.mark.parametrize(
    ("event", "quoted"),
    [
        (delta(7), "the delta of response.output_text.delta is 7, expected a string"),
        (delta("x", logprobs=7), "logprobs is 7, expected an array"),
        ({"type": "response.output_item.done", "item": 7}, "item is 7, expected an object"),
        ({"type": "response.completed", "response": 7}, "response is 7, expected an object"),
        ({"type": "response.completed", "response": {"output": [7]}}, "output[] is 7, expected an object"),
    ],
)
def test_a_piece_that_cannot_be_read_fails_the_answer(event: dict[str, Any], quoted: str) -> None:
    found = failure(delta("Hi"), event, end(message("Hi")))
    assert (found.reason, quoted in found.message) == ("malformed", True)


@pytest.mark.parametrize("kind", [None, 7, [], {}, ["response.completed"]])
def test_a_type_that_is_no_name_is_of_no_event(kind: object) -> None:
    assert completion({"type": kind, "delta": "NO"}, delta("Hi"), end(message("Hi"))).text == "Hi"


TEXT = st.text(alphabet=st.characters(exclude_categories=()), max_size=20)


@given(said=TEXT, thought=TEXT, cuts=st.lists(st.integers(0, 20), max_size=4), has_output=st.booleans())
@settings(max_examples=200)
def test_streamed_or_not_the_same_answer_is_the_same_record(
    said: str, thought: str, cuts: list[int], has_output: bool
) -> None:
    said, thought = (json.loads(json.dumps(each)) for each in (said, thought))  # JSON joins surrogates side by side
    borders = [0, *sorted(min(cut, len(said)) for cut in cuts), len(said)]
    pieces = [said[start:end] for start, end in pairwise(borders)]
    output = [{"type": "reasoning", "content": [{"type": "reasoning_text", "text": thought}]}, message(said)]
    events = [delta(thought, "reasoning_text"), *(delta(piece) for piece in pieces)]
    unstreamed = RESPONSES.completion(end(*output)["response"])
    assert outcome(CREATED, *events, end(*(output if has_output else ()))) == unstreamed


@given(places=st.lists(st.integers(0, 5_000), max_size=6))
@settings(max_examples=100)
def test_where_the_bytes_are_cut_changes_no_record(places: list[int]) -> None:
    body = (BODIES / "llama_responses_stream.sse").read_bytes()
    body = body.replace(b"Hello", "你好\U0001f60a\u2028".encode())
    reader = EventReader()
    borders = sorted({0, len(body), *(place % len(body) for place in places)})
    events = [event for start, end in pairwise(borders) for event in reader.feed(body[start:end])]
    found = RESPONSES.streamed(events)
    assert found == RESPONSES.streamed(EventReader().feed(body))
    assert isinstance(found, Completion)
    assert replace(found, usage=Usage()).text == "你好\U0001f60a\u2028 there!"
