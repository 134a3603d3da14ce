"""OpenAI's chat dialect: what is sent, and how every kind of answer is read."""

import json
import math
from dataclasses import replace
from typing import Any

import pytest
from scripted_server import BODIES, question

from temp0.core.plan import Message
from temp0.core.run import Completion, Failure, Question, ToolCall, Usage
from temp0.probe.dialect import DIALECTS

CHAT = DIALECTS["openai-chat"]


def answer(message: object, **choice: object) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": message, "finish_reason": "stop", **choice}]}


def completion(payload: object) -> Completion:
    outcome = CHAT.completion(payload)
    assert isinstance(outcome, Completion), outcome
    return outcome


def failure(payload: object) -> Failure:
    outcome = CHAT.completion(payload)
    assert isinstance(outcome, Failure), outcome
    return outcome


def test_temperature_zero_is_sent_as_the_number_zero():
    sent = json.loads(json.dumps(CHAT.body(question(max_tokens=7), "smol")))
    assert sent == {
        "model": "smol",
        "messages": [{"role": "user", "content": "Say hi."}],
        "max_tokens": 7,
        "temperature": 0,
        "top_p": 1,
        "presence_penalty": 0,
        "frequency_penalty": 0,
        "seed": 0,
        "stream": False,
    }
    assert type(sent["temperature"]) is type(sent["seed"]) is int


def test_without_greed_nothing_is_said_about_sampling():
    sent = CHAT.body(replace(question(), greedy=False), "smol")
    assert sorted(sent) == ["max_tokens", "messages", "model", "seed", "stream"]


def test_what_a_server_may_honestly_not_know_can_be_done_without_and_the_temperature_cannot():
    assert {"top_p", "seed", "presence_penalty", "frequency_penalty"} <= set(CHAT.dispensable)
    assert not {"temperature", "max_tokens", "messages", "logprobs"} & set(CHAT.dispensable)
    assert CHAT.renamed == (("max_tokens", "max_completion_tokens"),)


def test_a_server_is_told_to_go_on_from_a_last_message_of_the_assistants_and_can_be_asked_without():
    turns = (Message(role="user", content="Count."), Message(role="assistant", content="One,"))
    sent = CHAT.body(Question(messages=turns, max_tokens=4), "m")
    assert (sent["continue_final_message"], sent["add_generation_prompt"]) == (True, False)
    assert {"continue_final_message", "add_generation_prompt"} <= set(CHAT.dispensable)
    assert CHAT.continues


def test_logprobs_are_asked_for_with_five_alternatives_only_when_wanted():
    sent = CHAT.body(question(logprobs=True), "smol")
    assert (sent["logprobs"], sent["top_logprobs"]) == (True, 5)
    assert "logprobs" not in CHAT.body(question(), "smol")


def test_a_system_message_stays_a_message():
    turns = (Message(role="system", content="Be brief."), Message(role="user", content="Hi"))
    sent = CHAT.body(Question(messages=turns, max_tokens=4), "m")
    assert sent["messages"][0] == {"role": "system", "content": "Be brief."}  # type: ignore[index]


@pytest.mark.parametrize(
    ("given", "asked", "models"),
    [
        ("http://host:1", "http://host:1/v1/chat/completions", "http://host:1/v1/models"),
        ("http://host:1/", "http://host:1/v1/chat/completions", "http://host:1/v1/models"),
        ("http://host/api/v1/", "http://host/api/v1/chat/completions", "http://host/api/v1/models"),
        ("http://host/v1/chat/completions", "http://host/v1/chat/completions", "http://host/v1/models"),
        ("http://host/v1/completions", "http://host/v1/chat/completions", "http://host/v1/models"),
        ("http://host/v1/responses", "http://host/v1/chat/completions", "http://host/v1/models"),
        (
            "http://host/v1?api-version=2",
            "http://host/v1/chat/completions?api-version=2",
            "http://host/v1/models?api-version=2",
        ),
    ],
)
def test_the_urls_follow_from_what_the_user_gave(given: str, asked: str, models: str):
    assert (CHAT.url(given), CHAT.models_url(given)) == (asked, models)


def test_a_recorded_answer_of_llama_cpp_is_read_whole():
    read = completion(
        json.loads((BODIES / "llama_chat_plain.http").read_bytes().split(b"\r\n\r\n")[-1].split(b"\n\n")[-1])
    )
    assert read.text == "Hello there! I"
    assert read.finish == "length"
    assert read.usage == Usage(prompt=33, completion=4, cached=0)
    assert (read.model, read.fingerprint) == ("models/smol-BF16.gguf", "b0-unknown")
    assert (read.id, read.created) == ("chatcmpl-4d1RG5LryPklqCBul7ggWX4NxLX6MwSG", 1795957208)
    assert read.tokens is None


def test_recorded_logprobs_of_llama_cpp_come_with_bytes_ids_and_alternatives():
    read = completion(json.loads((BODIES / "llama_chat_logprobs.json").read_bytes()))
    assert read.tokens is not None
    assert [token.bytes for token in read.tokens] == [b"Hello", b" there", b"!"]
    assert [token.id for token in read.tokens] == [19556, 665, 17]
    assert read.tokens[1].logprob == -0.8500590324401855
    assert [other.bytes for other in read.tokens[1].top] == [b" there", b"!"]


def test_an_empty_text_is_a_completion():
    assert completion(answer({"content": ""})).text == ""


def test_null_content_without_a_reason_is_a_failure():
    assert failure(answer({"content": None})).reason == "null-content"
    assert failure(answer({})).reason == "null-content"
    assert failure(answer({"content": None, "tool_calls": [], "reasoning_content": ""})).reason == "null-content"


@pytest.mark.parametrize(
    "message",
    [
        {"content": None, "reasoning_content": "hm"},
        {"content": None, "reasoning": "hm"},
        {"content": None, "tool_calls": [{"id": "1"}]},
        {"content": None, "audio": {"transcript": "hm"}},
        {"content": None, "function_call": {"name": "f"}},
        {"content": None, "refusal": "I can't."},
    ],
)
def test_null_content_with_a_reason_is_an_empty_completion(message: dict[str, object]):
    assert completion(answer(message)).text == ""


def test_a_content_filter_explains_null_content():
    assert completion(answer({"content": None}, finish_reason="content_filter")).finish == "content_filter"


def test_reasoning_tokens_that_ate_the_budget_explain_null_content():
    usage = {"completion_tokens": 4, "completion_tokens_details": {"reasoning_tokens": 4}}
    read = completion({**answer({"content": None}, finish_reason="length"), "usage": usage})
    assert (read.text, read.usage.reasoning) == ("", 4)


def test_reasoning_is_kept_apart_from_the_text():
    read = completion(answer({"content": "4", "reasoning_content": "2+2\n"}))
    assert (read.text, read.reasoning) == ("4", "2+2\n")


def test_tool_calls_are_no_part_of_the_text():
    calls = [{"id": "call_1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}]
    read = completion(answer({"content": "Let me see.", "tool_calls": calls}, finish_reason="tool_calls"))
    assert (read.text, read.tool_calls) == ("Let me see.", (ToolCall(name="f", arguments='{"a": 1}'),))


def test_a_refusal_in_words_is_no_part_of_the_text():
    logprobs = {"content": None, "refusal": [{"token": "No", "logprob": -0.1}, {"token": ".", "logprob": -0.1}]}
    read = completion(answer({"content": None, "refusal": "No."}, logprobs=logprobs))
    assert (read.text, read.refusal, read.tokens) == ("", "No.", None)


@pytest.mark.parametrize("odd", [None, "", False, 7, []])
def test_a_refusal_that_says_nothing_is_none(odd: object):
    assert completion(answer({"content": "hi", "refusal": odd})).refusal is None


def test_reasoning_and_text_in_one_list_of_tokens_are_told_apart():
    entries = [{"token": token, "logprob": -0.5} for token in ("2+2", "</think>", "4")]
    read = completion(answer({"content": "4", "reasoning_content": "2+2"}, logprobs={"content": entries}))
    assert read.tokens is not None
    assert [token.bytes for token in read.tokens] == [b"4"]


def test_content_in_parts_is_joined_and_its_thinking_kept_apart():
    parts = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    read = completion(answer({"content": parts}))
    assert (read.text, read.reasoning) == ("ab", "hm")


def test_a_lone_surrogate_is_kept():
    payload = json.loads(r'{"choices":[{"message":{"content":"a\udcb2"}}]}')
    assert completion(payload).text == "a\udcb2"


@pytest.mark.parametrize("choices", [None, []])
def test_an_answer_without_choices_is_a_failure(choices: object):
    assert failure({"choices": choices, "id": "x"}).reason == "no-choices"


@pytest.mark.parametrize(
    "payload",
    [
        {"error": {"message": "overloaded", "code": 529}},
        {"error": "overloaded"},
        {"choices": [], "error": {"message": "overloaded"}},
        {"choices": [{"error": {"message": "overloaded"}, "finish_reason": "error"}]},
    ],
)
def test_an_error_under_status_200_is_a_failure_that_says_it(payload: object):
    assert failure(payload) == Failure(reason="error-in-200", message="overloaded")


def test_of_several_choices_the_first_by_its_index_is_read_as_in_a_stream():
    ours, other = ({"index": at, "message": {"content": text}} for at, text in enumerate(["ours", "other"]))
    assert completion({"choices": [other, ours]}).text == "ours"
    assert failure({"choices": [other]}).reason == "no-choices"


def test_an_error_beside_an_answer_voids_it_as_it_does_in_a_stream():
    assert failure({**answer({"content": "hi"}), "error": {"message": "slow"}}).reason == "error-in-200"
    assert completion({**answer({"content": "hi"}), "error": None}).text == "hi"


@pytest.mark.parametrize("finish", ["error", "abort"])
def test_an_answer_that_says_it_ended_in_an_error_is_no_completion(finish: str):
    ended = {"choices": [{"message": {"content": "half a sen"}, "finish_reason": finish}]}
    assert failure(ended).message == f"the answer says that it ended in an error: {finish}"


@pytest.mark.parametrize(
    ("payload", "quoted"),
    [
        ([1], "the answer is [1], expected an object"),
        ({"choices": {"a": 1}}, "choices is {'a': 1}, expected an array"),
        ({"choices": ["x"]}, "choices[0] is 'x', expected an object"),
        (answer("hi"), "choices[0].message is 'hi', expected an object"),
        (answer({"content": 7}), "choices[0].message.content is 7, expected a string"),
        (answer({"content": "x", "tool_calls": 7}), "tool_calls is 7, expected an array"),
        (answer({"content": "x", "function_call": 7}), "function_call is 7, expected an object"),
        (answer({"content": "x"}, finish_reason=3), "choices[0].finish_reason is 3, expected a string"),
    ],
)
def test_a_field_of_a_wrong_type_is_quoted(payload: object, quoted: str):
    assert failure(payload) == Failure(reason="malformed", message=quoted)


def test_an_answer_nested_too_deeply_is_malformed():
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert failure({"choices": deep}).reason == "malformed"


@pytest.mark.parametrize("odd", ["2024", -1, 1.5e300, True, [], {}, math.nan, 2**70, None])
def test_odd_descriptions_do_not_void_the_text(odd: object):
    payload = answer({"content": "hi"}) | {"created": odd, "usage": odd, "id": odd and 7, "system_fingerprint": 3}
    read = completion(payload)
    assert (read.text, read.created, read.usage, read.id) == ("hi", None, Usage(), None)
