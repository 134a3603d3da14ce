"""A streamed answer of the openai-chat dialect, read from pieces that came at known times."""

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from temp0.core.run import Failure
from temp0.probe.stream import Piece
from temp0.probe.streamed_chat import StreamedAnswer, streamed_answer


def event(content: str | None = None, *, finish: str | None = None, **more: object) -> bytes:
    delta = {} if content is None else {"content": content}
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return data({"choices": [choice], **more})


def data(value: object) -> bytes:
    return b"data: " + (value if isinstance(value, bytes) else json.dumps(value).encode()) + b"\n\n"


def usage(completion: int, prompt: int = 7) -> bytes:
    details = {"cached_tokens": 3}
    counts = {"prompt_tokens": prompt, "completion_tokens": completion, "prompt_tokens_details": details}
    return data({"choices": [], "usage": counts})


def read(*timed: tuple[float, bytes]) -> StreamedAnswer | Failure:
    return streamed_answer([Piece(at_s=at_s, data=bytes_) for at_s, bytes_ in timed])


def answer(*timed: tuple[float, bytes]) -> StreamedAnswer:
    found = read(*timed)
    assert isinstance(found, StreamedAnswer), found
    return found


def failure(*timed: tuple[float, bytes]) -> Failure:
    found = read(*timed)
    assert isinstance(found, Failure), found
    return found


def test_the_first_token_is_the_first_text_and_the_last_comes_with_the_finish() -> None:
    found = answer(
        (0.1, event("")),
        (0.5, event("Hi")),
        (0.7, event(" there")),
        (1.5, event(finish="length")),
        (1.6, usage(9)),
        (1.7, data(b"[DONE]")),
    )
    assert (found.text, found.first_s, found.last_s, found.events) == ("Hi there", 0.5, 1.5, 2)
    assert (found.usage.completion, found.usage.prompt, found.usage.cached) == (9, 7, 3)


def test_an_event_that_is_nested_too_deeply_to_read_is_a_failure() -> None:
    for depth in (700, 900, 950, 980, 5_000):
        deep = (
            b'{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":' + b"[" * depth + b"]" * depth + b"}}]}}]}"
        )
        found = read((0.1, data(deep)), (0.2, event(finish="stop")))
        assert isinstance(found, Failure | StreamedAnswer)
    assert isinstance(found, Failure)


def test_reasoning_is_a_token_but_no_text() -> None:
    thought = data({"choices": [{"delta": {"reasoning_content": "hm"}, "finish_reason": None}]})
    found = answer((0.2, thought), (0.4, event("yes")), (0.5, event(finish="stop")))
    assert (found.text, found.first_s, found.events) == ("yes", 0.2, 2)


def test_an_answer_without_text_begins_where_it_ends() -> None:
    found = answer((0.3, event(finish="length")), (0.4, usage(1)))
    assert (found.text, found.first_s, found.last_s) == ("", 0.3, 0.3)


def test_a_usage_that_is_not_told_stays_unknown() -> None:
    found = answer((0.1, event("a", usage=None)), (0.2, event(finish="stop")))
    assert found.usage.completion is None


@given(cuts=st.lists(st.integers(0, 400), max_size=8))
@settings(max_examples=40)
def test_where_the_bytes_are_cut_changes_no_text(cuts: list[int]) -> None:
    body = (
        event("é") + event("\U0001f600 ok").replace(b"\n", b"\r\n") + event(finish="stop") + usage(2) + data(b"[DONE]")
    )
    borders = sorted({0, len(body), *(cut % len(body) for cut in cuts)})
    pieces = [(float(start), body[start:end]) for start, end in pairwise(borders)]
    found = answer(*pieces)
    assert found.text == "é\U0001f600 ok"
    assert found.usage.completion == 2


def test_an_event_counts_from_the_piece_that_completed_it() -> None:
    whole = event("Hi")
    found = answer((0.1, whole[:9]), (0.6, whole[9:]), (0.9, event(finish="stop")))
    assert found.first_s == 0.6


def test_an_answer_that_ends_with_done_alone_is_timed_by_it() -> None:
    bare = data({"choices": [{"delta": {"content": "Hi"}}]})
    found = answer((0.1, bare), (0.4, data(b"[DONE]")), (0.9, usage(2)))
    assert (found.text, found.first_s, found.last_s) == ("Hi", 0.1, 0.4)


def test_the_event_that_says_why_it_ended_is_the_last_token_and_nothing_after_it_is() -> None:
    found = answer((0.1, event("Hi")), (0.4, event(finish="stop")), (0.9, event("", finish="stop")))
    assert found.last_s == 0.4


def test_an_event_is_complete_with_its_blank_line() -> None:
    found = answer((0.1, event("Hi")[:-1]), (0.6, b"\n"), (0.9, event(finish="stop").replace(b"\n", b"\r")))
    assert (found.first_s, found.last_s) == (0.6, 0.9)


def test_comments_and_other_fields_of_a_stream_are_passed_over() -> None:
    found = answer((0.1, b": keep-alive\n\nevent: x\nid: 3\n"), (0.2, event("a") + event(finish="stop")))
    assert found.text == "a"


def test_a_stream_that_ends_early_is_cut() -> None:
    assert failure((0.1, event("Hi"))).reason == "cut"


def test_an_error_in_a_stream_is_the_failure() -> None:
    found = failure((0.1, event("Hi")), (0.2, data({"error": {"message": "out of memory"}})))
    assert (found.reason, found.message) == ("error-in-200", "out of memory")


@pytest.mark.parametrize("body", [b"", b"<html>no</html>", b'{"choices": [{"message": {"content": "whole"}}]}'])
def test_an_answer_that_was_not_streamed_is_malformed_and_quoted(body: bytes) -> None:
    found = failure((0.1, body))
    assert found.reason == "malformed"
    assert body.decode()[:20] in found.message


def test_an_event_that_is_no_json_is_quoted() -> None:
    assert "is not JSON: {oops" in failure((0.1, b"data: {oops\n\n")).message


@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["choices", "delta", "content", "usage", "error", "finish_reason"]), inner
            )
        ),
        max_leaves=12,
    )
)
@settings(max_examples=100)
def test_any_json_is_an_answer_or_a_failure(value: object) -> None:
    assert isinstance(read((0.1, data(value))), StreamedAnswer | Failure)
