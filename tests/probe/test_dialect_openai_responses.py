"""OpenAI's responses: what is sent, and how every kind of answer is read."""

import json
from dataclasses import replace
from typing import Any

import pytest
from scripted_server import BODIES, question

from temp0.core.plan import Message
from temp0.core.run import Completion, Failure, Question, ToolCall, Usage
from temp0.probe.dialect import DIALECTS

RESPONSES = DIALECTS["openai-responses"]


def text(words: object, **more: object) -> dict[str, Any]:
    return {"type": "output_text", "text": words, **more}


def message(*parts: object) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": [*parts]}


def answer(*output: object, **more: object) -> dict[str, Any]:
    return {"id": "r-1", "status": "completed", "output": [*output], **more}


def read(payload: object) -> Completion:
    outcome = RESPONSES.completion(payload)
    assert isinstance(outcome, Completion), outcome
    return outcome


def failure(payload: object) -> Failure:
    outcome = RESPONSES.completion(payload)
    assert isinstance(outcome, Failure), outcome
    return outcome


def test_a_question_is_sent_with_zeros_and_is_not_stored() -> None:
    assert RESPONSES.body(question(max_tokens=17, logprobs=True), "m") == {
        "model": "m",
        "input": "Say hi.",
        "max_output_tokens": 17,
        "temperature": 0,
        "top_p": 1,
        "store": False,
        "stream": False,
        "include": ["message.output_text.logprobs"],
        "top_logprobs": 5,
    }
    assert not {"include", "top_logprobs"} & set(RESPONSES.body(question(), "m"))
    assert not {"temperature", "top_p"} & set(RESPONSES.body(replace(question(), greedy=False), "m"))


def test_a_conversation_is_sent_as_its_messages() -> None:
    turns = (Message(role="system", content="Be brief."), Message(role="user", content="Hi"))
    sent = RESPONSES.body(Question(messages=turns, max_tokens=4), "m")["input"]
    assert sent == [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]


def test_the_urls_follow_from_what_the_user_gave() -> None:
    for given in (
        "http://host:1",
        "http://host:1/v1",
        "http://host:1/v1/responses",
        "http://host:1/v1/chat/completions",
    ):
        assert RESPONSES.url(given) == "http://host:1/v1/responses"
        assert RESPONSES.models_url(given) == "http://host:1/v1/models"


def test_a_recorded_answer_of_llama_cpp_is_read_whole() -> None:
    found = read(json.loads((BODIES / "llama_responses.json").read_bytes()))
    assert (found.text, found.finish, found.tokens) == ("Hello there! I", "completed", None)
    assert found.usage == Usage(prompt=33, completion=4, cached=32)
    assert (found.id, found.created) == ("resp_6WAvvuQQKvj9HIaQLoKOPVsm6j4QVEov", 1795957209)


def test_the_text_is_what_the_output_texts_join_to() -> None:
    found = read(
        answer(message(text("a"), {"type": "other", "text": "NO"}, text("b")), {"type": "x"}, message(text("c")))
    )
    assert found.text == "abc"
    assert read(answer({"role": "assistant", "content": "Hi"})).text == "Hi"


def test_reasoning_refusals_and_calls_are_no_part_of_the_text() -> None:
    found = read(
        answer(
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}], "encrypted_content": "gAA"},
            {"type": "web_search_call", "id": "ws_1"},
            message({"type": "refusal", "refusal": "I can't."}),
            {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": '{"a": 1}'},
            {"type": "custom_tool_call", "call_id": "call_2", "name": "sql", "input": "select 1"},
        )
    )
    assert (found.text, found.reasoning, found.refusal) == ("", "Hm.", "I can't.")
    assert found.tool_calls == (ToolCall(name="f", arguments='{"a": 1}'), ToolCall(name="sql", arguments="select 1"))


def test_reasoning_itself_comes_before_the_summary_of_it() -> None:
    thought = {"content": [{"type": "reasoning_text", "text": "2+2"}], "summary": [{"text": "A sum."}]}
    assert read(answer({"type": "reasoning", **thought}, message(text("4")))).reasoning == "2+2"


def entry(name: str, logprob: float) -> dict[str, Any]:
    top = [{"token": name, "bytes": [*name.encode()], "logprob": logprob}]
    return {**top[0], "top_logprobs": top}


def test_logprobs_of_all_parts_are_the_tokens_of_the_text() -> None:
    found = read(
        answer(message(text("Hi", logprobs=[entry("Hi", -0.1)])), message(text(" you", logprobs=[entry(" you", -0.2)])))
    )
    assert found.tokens is not None
    assert [(token.bytes, token.logprob) for token in found.tokens] == [(b"Hi", -0.1), (b" you", -0.2)]
    assert [other.bytes for other in found.tokens[1].top] == [b" you"]
    assert read(answer(message(text("Hi", logprobs=[])))).tokens is None
    assert read(answer(message(text("Hi", logprobs=7)))).tokens is None


@pytest.mark.parametrize("reason", ["max_output_tokens", "content_filter"])
def test_an_incomplete_answer_says_why_and_may_be_empty(reason: str) -> None:
    cut = {"status": "incomplete", "incomplete_details": {"reason": reason}}
    assert (read(answer(**cut)).text, read(answer(**cut)).finish) == ("", reason)
    assert read(answer(message(text("He")), **cut)).finish == reason
    assert read(answer(message(text("He")), status="incomplete", incomplete_details=None)).finish == "incomplete"


def test_an_answer_that_failed_is_no_completion_whatever_it_said() -> None:
    said = message(text("Hi"))
    assert failure(answer(said, status="failed", error={"message": "no"})) == Failure(
        reason="error-in-200", message="no"
    )
    assert failure(answer(said, status="failed", error=None)).reason == "error-in-200"
    assert failure({"error": {"message": "no"}}) == Failure(reason="error-in-200", message="no")


@pytest.mark.parametrize("status", ["queued", "in_progress", "cancelled"])
def test_an_answer_that_is_not_there_yet_or_no_more_is_none(status: str) -> None:
    assert failure(answer(message(text("Hi")), status=status)).message == f"the answer's status is {status}"
    assert failure({"id": "x"}) == Failure(
        reason="no-choices", message="an answer without output; its fields are ['id']"
    )


def test_a_completed_answer_that_says_nothing_is_a_failure_unless_it_thought() -> None:
    assert failure(answer()) == Failure(reason="null-content", message="the answer has no text, status completed")
    usage = {"output_tokens": 4, "output_tokens_details": {"reasoning_tokens": 4}}
    assert read(answer(usage=usage)).usage == Usage(completion=4, reasoning=4)
    assert read(answer(message(text("")))).text == ""


@pytest.mark.parametrize(
    ("payload", "quoted"),
    [
        ([1], "the answer is [1], expected an object"),
        (answer(7), "output[] is 7, expected an object"),
        ({"output": 7}, "output is 7, expected an array"),
        (answer(status=7), "status is 7, expected a string"),
        (answer({"type": "message", "content": 7}), "content is 7, expected an array"),
        (answer(message(7)), "content[] is 7, expected an object"),
        (answer(message(text(7))), "output_text.text is 7, expected a string"),
        (answer({"type": "function_call", "name": None}), "the name of a tool call is None, expected a string"),
        (answer({"type": "function_call", "name": "f", "arguments": 7}), "the arguments of a tool call is 7"),
    ],
)
def test_a_field_of_a_wrong_type_is_quoted(payload: object, quoted: str) -> None:
    found = failure(payload)
    assert found.reason == "malformed"
    assert quoted in found.message


@pytest.mark.parametrize("odd", ["2024", -1, True, [], {}, None])
def test_odd_descriptions_do_not_void_the_text(odd: object) -> None:
    found = read(answer(message(text("hi")), created_at=odd, usage=odd, incomplete_details=odd) | {"id": odd and 7})
    assert (found.text, found.created, found.usage, found.id) == ("hi", None, Usage(), None)
