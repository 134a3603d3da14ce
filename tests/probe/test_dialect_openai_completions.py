"""OpenAI's legacy completions: what is sent, and how an answer is read, whole or streamed."""

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted_server import BODIES, question

from temp0.core.plan import Message
from temp0.core.run import Completion, Failure, Question, Usage
from temp0.errors import UsageError
from temp0.probe.dialect import DIALECTS
from temp0.probe.event_stream import EventReader

LEGACY = DIALECTS["openai-completions"]
HEAD = {"id": "cmpl-1", "created": 17, "model": "smol", "system_fingerprint": "f"}
DONE = b"data: [DONE]\n\n"


def whole(text: object, logprobs: object = None, **choice: object) -> dict[str, Any]:
    return {**HEAD, "choices": [{"text": text, "index": 0, "logprobs": logprobs, "finish_reason": "stop", **choice}]}


def piece(text: object, logprobs: object = None, finish: object = None, **choice: object) -> bytes:
    return data({**HEAD, "choices": [{"text": text, "logprobs": logprobs, "finish_reason": finish, **choice}]})


def data(value: object) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def lists(*pairs: tuple[str, float]) -> dict[str, Any]:
    top = [{name: value, "else": -9.0} for name, value in pairs]
    return {"tokens": [name for name, _ in pairs], "token_logprobs": [v for _, v in pairs], "top_logprobs": top}


def read(payload: object) -> Completion:
    outcome = LEGACY.completion(payload)
    assert isinstance(outcome, Completion), outcome
    return outcome


def streamed(*events: bytes) -> Completion | Failure:
    return LEGACY.streamed(EventReader().feed(b"".join(events)))


def spelled(completion: Completion) -> list[bytes]:
    assert completion.tokens is not None
    return [token.bytes for token in completion.tokens]


def recorded(name: str) -> Any:
    return json.loads((BODIES / name).read_bytes().replace(b"\r\n", b"\n").partition(b"\n\n")[2])


def test_a_prompt_is_a_text_and_logprobs_are_a_number() -> None:
    sent = LEGACY.body(question(max_tokens=7, logprobs=True), "smol")
    assert sent == {
        "model": "smol",
        "prompt": "Say hi.",
        "max_tokens": 7,
        "temperature": 0,
        "top_p": 1,
        "presence_penalty": 0,
        "frequency_penalty": 0,
        "seed": 0,
        "stream": False,
        "logprobs": 5,
    }
    assert "logprobs" not in LEGACY.body(question(), "smol")
    assert LEGACY.body(question(stream=True), "smol")["stream_options"] == {"include_usage": True}


def test_the_beginning_of_an_answer_is_gone_on_from() -> None:
    begun = (Message(role="user", content="1, 2,"), Message(role="assistant", content=" 3,"))
    assert LEGACY.continues
    assert "continue_final_message" not in LEGACY.body(Question(messages=begun, max_tokens=4), "m")
    assert LEGACY.body(Question(messages=begun, max_tokens=4), "m")["prompt"] == "1, 2, 3,"


@pytest.mark.parametrize("roles", [(), ("system", "user"), ("user", "assistant", "user"), ("assistant",), ("system",)])
def test_a_conversation_is_refused_before_it_is_sent(roles: tuple[str, ...]) -> None:
    turns = tuple(Message(role=role, content="x") for role in roles)
    with pytest.raises(UsageError, match="openai-completions sends one text"):
        LEGACY.body(Question(messages=turns, max_tokens=4), "m")


def test_the_urls_follow_from_what_the_user_gave() -> None:
    for url in ("http://host:1", "http://host:1/v1", "http://host:1/v1/completions", "http://host:1/v1/responses"):
        assert LEGACY.url(url) == "http://host:1/v1/completions"
        assert LEGACY.models_url(url) == "http://host:1/v1/models"


def test_recorded_answers_of_llama_cpp_are_read_whole() -> None:
    told = read(json.loads((BODIES / "llama_completions_logprobs.json").read_bytes()))
    assert (told.text, told.finish, told.usage) == (" Paris.\n", "length", Usage(prompt=5, completion=3, cached=4))
    assert spelled(told) == [b" Paris", b".", b"\n"]
    assert read(json.loads((BODIES / "llama_completions_plain.json").read_bytes())).tokens is None


def test_a_recorded_answer_of_transformers_is_read_whole() -> None:
    told = read(recorded("tserve_completions.http"))
    assert (told.text, told.finish, told.usage) == (" Paris.\n", "length", Usage(prompt=5, completion=3))


def test_an_answer_in_the_shape_of_chat_is_read_as_one() -> None:
    message = {"message": {"content": "Hi", "reasoning": "hm"}, "finish_reason": "stop"}
    told = read({**HEAD, "choices": [message]})
    assert (told.text, told.reasoning) == ("Hi", "hm")
    delta = data({**HEAD, "choices": [{"delta": {"content": "Hi", "reasoning": "hm"}, "finish_reason": "stop"}]})
    assert streamed(delta, DONE) == told


def test_a_text_that_is_null_says_nothing_unless_it_was_filtered() -> None:
    outcome = LEGACY.completion(whole(None))
    assert isinstance(outcome, Failure)
    assert outcome == Failure(reason="null-content", message="the text is null, finish stop")
    assert read(whole(None, finish_reason="content_filter")).text == ""
    assert read(whole("")).text == ""


def test_a_text_of_a_wrong_type_is_quoted() -> None:
    wanted = Failure(reason="malformed", message="choices[].text is 7, expected a string")
    assert LEGACY.completion(whole(7)) == wanted
    assert streamed(piece("Hi"), piece(7), DONE) == wanted


@pytest.mark.parametrize("payload", [None, [1], {}, {"choices": None}, {"choices": []}, {"choices": 7}])
def test_what_is_no_answer_is_a_failure(payload: object) -> None:
    assert isinstance(LEGACY.completion(payload), Failure)


def test_a_chunk_may_hold_several_tokens_and_counts_come_last() -> None:
    events = [piece(" Paris.", lists((" Paris", -0.1), (".", -0.2))), piece("\n", lists(("\n", -0.3)))]
    usage = {"prompt_tokens": 5, "completion_tokens": 3}
    found = streamed(*events, piece("", None, "stop"), data({"choices": [], "usage": usage}), DONE)
    logprobs = lists((" Paris", -0.1), (".", -0.2), ("\n", -0.3))
    assert found == read({**whole(" Paris.\n", logprobs), "usage": usage})
    assert isinstance(found, Completion)
    assert spelled(found) == [b" Paris", b".", b"\n"]


def test_logprobs_that_are_missing_somewhere_cost_the_tokens_and_not_the_text() -> None:
    found = streamed(piece("Hi", lists(("Hi", -0.1))), piece(" there"), piece("", None, "stop"), DONE)
    assert isinstance(found, Completion)
    assert (found.text, found.tokens) == ("Hi there", None)


def test_alternatives_that_a_chunk_lacks_do_not_move_those_of_the_next() -> None:
    bare = {**lists(("a", -0.1)), "top_logprobs": None}
    found = streamed(piece("a", bare), piece("b", lists(("b", -0.2))), piece("", None, "stop"), DONE)
    assert isinstance(found, Completion)
    assert found.tokens is not None
    assert [[other.bytes for other in token.top] for token in found.tokens] == [[], [b"b", b"else"]]


def test_an_end_is_needed_and_an_error_is_told() -> None:
    assert streamed(piece("Hi")) == Failure(reason="cut", message="the stream ended before the answer did")
    assert streamed(piece("Hi"), data({"error": {"message": "no"}})) == Failure(reason="error-in-200", message="no")


TEXT = st.text(alphabet=st.characters(exclude_categories=()), max_size=20)


@given(said=TEXT, cuts=st.lists(st.integers(0, 20), max_size=4), finish=st.sampled_from(["stop", "length"]))
@settings(max_examples=200)
def test_streamed_or_not_the_same_answer_is_the_same_record(said: str, cuts: list[int], finish: str) -> None:
    said = json.loads(json.dumps(said))  # JSON joins surrogates side by side
    borders = [0, *sorted(min(cut, len(said)) for cut in cuts), len(said)]
    pieces = [said[start:end] for start, end in pairwise(borders) if start < end]
    logprobs = lists(*((each, -0.5) for each in pieces)) if pieces else None
    events = [piece(each, lists((each, -0.5))) for each in pieces]
    assert streamed(*events, piece("", None, finish), DONE) == read(whole(said, logprobs, finish_reason=finish))


def test_without_greed_nothing_is_said_about_sampling() -> None:
    assert sorted(LEGACY.body(replace(question(), greedy=False), "m")) == [
        "max_tokens",
        "model",
        "prompt",
        "seed",
        "stream",
    ]
