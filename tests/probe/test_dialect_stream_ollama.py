"""A streamed answer of Ollama's own API is the record that the same answer gives unstreamed."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from temp0.core.run import Completion, Failure, Usage
from temp0.probe.body import streamed_outcome
from temp0.probe.dialect import DIALECTS

OLLAMA = DIALECTS["ollama"]
AT = {"model": "m", "created_at": "2026-01-05T10:20:30Z"}
END: dict[str, Any] = {**AT, "done": True, "done_reason": "stop", "prompt_eval_count": 26, "eval_count": 3}


def line(**fields: Any) -> bytes:
    return json.dumps({**AT, "done": False, **fields}).encode() + b"\n"


def chat(content: object, **fields: Any) -> bytes:
    return line(message={"role": "assistant", "content": content, **fields})


LAST = line(**END, message={"role": "assistant", "content": ""})


def outcome(*lines: bytes) -> Completion | Failure:
    return streamed_outcome(OLLAMA, b"".join(lines), ())


def completion(*lines: bytes) -> Completion:
    found = outcome(*lines)
    assert isinstance(found, Completion), found
    return found


def failure(*lines: bytes) -> Failure:
    found = outcome(*lines)
    assert isinstance(found, Failure), found
    return found


def whole(message: dict[str, Any], **fields: Any) -> Completion | Failure:
    return OLLAMA.completion({**END, "message": message, **fields})


def test_lines_are_one_text_and_the_last_one_describes_it():
    found = completion(chat("He"), chat("llo"), LAST)
    assert (found.text, found.finish, found.usage) == ("Hello", "stop", Usage(prompt=26, completion=3))
    assert found == whole({"content": "Hello"})


def test_a_generated_text_streams_in_a_field_of_its_own():
    lines = [line(response="", thinking="h"), line(response="", thinking="m"), line(response="Hi"), line(**END)]
    found = completion(*lines[:-1], line(**END, response="", context=[1]))
    assert found == OLLAMA.completion({**END, "response": "Hi", "thinking": "hm", "context": [1]})
    assert completion(*lines) == found
    assert found.reasoning == "hm"


def test_tool_calls_come_whole_one_line_each():
    calls = [{"function": {"name": name, "arguments": {"x": name}}} for name in ("f", "g")]
    found = completion(chat("", tool_calls=calls[:1]), chat("", tool_calls=calls[1:]), LAST)
    assert found == whole({"content": "", "tool_calls": calls})
    assert [call.name for call in found.tool_calls] == ["f", "g"]


def test_logprobs_of_all_lines_belong_to_the_answer():
    entries = [{"token": "H", "logprob": -0.5, "bytes": [72]}, {"token": "i", "logprob": -0.25, "bytes": [105]}]
    message = {"role": "assistant", "content": "Hi"}
    found = completion(line(message={}, logprobs=entries[:1]), line(message=message, logprobs=entries[1:]), LAST)
    assert found == whole(message, logprobs=entries)
    assert found.tokens is not None
    assert [token.logprob for token in found.tokens] == [-0.5, -0.25]


def test_the_last_event_is_known_by_what_it_says_of_itself_and_not_by_its_text():
    events = OLLAMA.framing.reader().feed(chat('"done":true') + LAST)
    assert [OLLAMA.framing.is_last(event) for event in events] == [False, True]


def test_a_character_that_was_cut_between_two_pieces_is_one_again():
    assert completion(chat("\ud83c"), chat("\udf78"), LAST) == whole({"content": "\U0001f378"})


def test_what_comes_after_the_end_is_passed_over():
    assert completion(chat("Hi"), LAST, chat(" there"), b"nonsense\n").text == "Hi"


def test_an_error_in_a_line_is_the_failure():
    error = b'{"error":"an error was encountered while running the model"}\n'
    assert failure(chat("Hi"), error) == Failure(
        reason="error-in-200", message="an error was encountered while running the model"
    )
    assert failure(error, LAST).reason == "error-in-200"


@pytest.mark.parametrize(
    ("lines", "quoted"),
    [
        ([b"{oops\n"], "an event is not JSON: {oops"),
        ([b"7\n"], "an event is 7, expected an object"),
        ([line(message=7)], "message is 7, expected an object"),
        ([chat(7)], "message.content is 7, expected a string"),
        ([chat("", thinking=7)], "message.thinking is 7, expected a string"),
        ([chat("", tool_calls=7)], "message.tool_calls is 7, expected an array"),
        ([line(response=7)], "message.content is 7, expected a string"),
        ([line(message={}, logprobs=7)], "logprobs is 7, expected an array"),
        ([b'{"message":{"content":"\xff"}}\n'], "an event is not JSON"),
    ],
)
def test_a_line_that_cannot_be_read_fails_the_answer(lines: list[bytes], quoted: str):
    found = failure(*lines, LAST)
    assert found.reason == "malformed"
    assert quoted in found.message


def test_an_answer_without_a_message_is_none():
    assert failure(line(**END)).reason == "no-choices"
    assert failure().reason == failure(chat("Hi")).reason == "cut"


TEXTS = st.text(alphabet=st.characters(exclude_categories=()), max_size=20)


@given(pieces=st.lists(TEXTS, max_size=5), thoughts=st.lists(TEXTS, max_size=3))
@settings(max_examples=100)
def test_streamed_or_not_the_same_answer_is_the_same_record(pieces: list[str], thoughts: list[str]):
    said, thought = (json.loads(json.dumps("".join(each))) for each in (pieces, thoughts))
    lines = [chat("", thinking=piece) for piece in thoughts] + [chat(piece) for piece in pieces]
    assert completion(*lines, LAST) == whole({"content": said, "thinking": thought})


def test_cut_short_at_any_byte_it_is_the_whole_text_or_a_failure():
    spoken = chat("SAID").replace(b"SAID", "né\u2028\U0001f60a".encode())
    body = spoken + LAST
    for length in range(len(body)):
        found = outcome(body[:length])
        assert isinstance(found, Completion) == (length == len(body) - 1)  # which lacks a line end and nothing else
        assert found.text == "né\u2028\U0001f60a" if isinstance(found, Completion) else found.reason == "cut"
