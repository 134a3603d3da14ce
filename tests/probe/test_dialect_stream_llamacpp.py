"""A streamed continuation of llama.cpp's native API is the record that the same answer gives unstreamed."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted_server import BODIES

from temp0.core.run import Completion, Failure
from temp0.probe.body import streamed_outcome
from temp0.probe.dialect import DIALECTS

LLAMACPP = DIALECTS["llamacpp"]
END: dict[str, Any] = {
    "content": "",
    "stop": True,
    "model": "m.gguf",
    "stop_type": "eos",
    "tokens_evaluated": 5,
    "tokens_predicted": 2,
    "timings": {"cache_n": 4},
}


def chunk(**fields: Any) -> bytes:
    return f"data: {json.dumps(fields)}\n\n".encode()


def piece(content: object, **fields: Any) -> bytes:
    return chunk(index=0, content=content, stop=False, tokens_predicted=1, **fields)


LAST = chunk(**END)


def outcome(*chunks: bytes) -> Completion | Failure:
    return streamed_outcome(LLAMACPP, b"".join(chunks), ())


def completion(*chunks: bytes) -> Completion:
    found = outcome(*chunks)
    assert isinstance(found, Completion), found
    return found


def failure(*chunks: bytes) -> Failure:
    found = outcome(*chunks)
    assert isinstance(found, Failure), found
    return found


def whole(content: str, **fields: Any) -> Completion | Failure:
    return LLAMACPP.completion({**END, "content": content, **fields})


def test_the_recorded_stream_is_the_recorded_answer():
    answer = LLAMACPP.completion(json.loads((BODIES / "llama_native_emoji.json").read_bytes()))
    assert outcome((BODIES / "llama_native_stream_emoji.sse").read_bytes()) == answer
    assert isinstance(answer, Completion)


def test_pieces_are_one_text_and_the_last_chunk_describes_it():
    assert completion(piece("He"), piece("llo"), LAST) == whole("Hello")
    assert completion(piece("He"), chunk(**{**END, "content": "llo"})) == whole("Hello")
    assert completion(LAST) == whole("")


def test_probabilities_of_all_chunks_belong_to_the_answer():
    entries = [{"token": "H", "id": 1, "logprob": -0.5}, {"token": "i", "id": 2, "logprob": -0.25}]
    chunks = [piece(entry["token"], completion_probabilities=[entry]) for entry in entries]
    found = completion(*chunks, LAST)
    assert found == whole("Hi", completion_probabilities=entries)
    assert found.tokens is not None


def test_the_last_event_is_known_by_what_it_says_of_itself_and_not_by_its_text():
    events = LLAMACPP.framing.reader().feed(piece('"stop":true') + LAST)
    assert [LLAMACPP.framing.is_last(event) for event in events] == [False, True]


def test_a_character_that_was_cut_between_two_pieces_is_one_again():
    assert completion(piece("\ud83c"), piece("\udf78"), LAST) == whole("\U0001f378")


def test_what_comes_after_the_end_is_passed_over_and_comments_are_no_chunk():
    assert completion(piece("Hi"), b":\n\n", LAST, piece(" there"), b"data: nonsense\n\n").text == "Hi"
    assert completion(piece("Hi"), LAST, b"data: [DONE]\n\n").text == "Hi"


def test_without_a_last_chunk_the_stream_is_cut():
    assert failure(piece("Hi")).reason == "cut"
    assert failure(piece("Hi"), b"data: [DONE]\n\n").reason == "cut"
    assert failure(piece("Hi"), LAST.removesuffix(b"\n")).reason == "cut"
    assert failure().reason == "cut"


def test_an_error_in_the_stream_is_the_failure():
    error = chunk(error={"code": 500, "message": "decoding failed", "type": "server_error"})
    assert failure(piece("Hi"), error) == Failure(reason="error-in-200", message="decoding failed")
    assert failure(b"event: error\ndata: oh no\n\n", LAST).message == "oh no"


@pytest.mark.parametrize(
    ("chunks", "quoted"),
    [
        ([b"data: {oops\n\n"], "an event is not JSON: {oops"),
        ([b"data: 7\n\n"], "an event is 7, expected an object"),
        ([piece(7)], "content is 7, expected a string"),
        ([piece("x", completion_probabilities=7)], "completion_probabilities is 7, expected an array"),
        ([chunk(stop=True)], "content is None, expected a string"),
    ],
)
def test_a_chunk_that_cannot_be_read_fails_the_answer(chunks: list[bytes], quoted: str):
    found = failure(*chunks, LAST)
    assert found.reason == "malformed"
    assert quoted in found.message


TEXTS = st.text(alphabet=st.characters(exclude_categories=()), max_size=20)


@given(pieces=st.lists(TEXTS, max_size=5))
@settings(max_examples=100)
def test_streamed_or_not_the_same_answer_is_the_same_record(pieces: list[str]):
    said = json.loads(json.dumps("".join(pieces)))
    assert completion(*(piece(each) for each in pieces), LAST) == whole(said)


def test_cut_short_at_any_byte_it_is_the_whole_text_or_a_failure():
    body = piece("SAID").replace(b"SAID", "né\U0001f60a".encode()) + LAST
    for length in range(len(body)):
        assert failure(body[:length]).reason == "cut"
    assert completion(body).text == "né\U0001f60a"
