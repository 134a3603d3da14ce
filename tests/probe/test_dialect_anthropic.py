"""Anthropic's messages: what is sent, and how lists of blocks are read."""

import json

import pytest
from scripted_server import BODIES, question

from temp0.core.plan import Message
from temp0.core.run import Completion, Failure, Question, ToolCall, Usage
from temp0.probe.dialect import DIALECTS
from temp0.probe.dialect.error import refused_fields, said

ANTHROPIC = DIALECTS["anthropic"]


def read(content: object, **fields: object) -> Completion:
    outcome = ANTHROPIC.completion({"type": "message", "content": content, "stop_reason": "end_turn", **fields})
    assert isinstance(outcome, Completion), outcome
    return outcome


def failure(payload: object) -> Failure:
    outcome = ANTHROPIC.completion(payload)
    assert isinstance(outcome, Failure), outcome
    return outcome


def test_temperature_zero_is_sent_and_the_system_message_stands_apart():
    turns = (Message(role="system", content="Be brief."), Message(role="user", content="Hi"))
    assert ANTHROPIC.body(Question(messages=turns, max_tokens=4), "claude") == {
        "model": "claude",
        "messages": [{"role": "user", "content": "Hi"}],
        "max_tokens": 4,
        "temperature": 0,
        "stream": False,
        "system": "Be brief.",
    }
    assert "system" not in ANTHROPIC.body(question(), "claude")


def test_a_question_that_is_not_greedy_has_no_temperature():
    asked = Question(messages=question().messages, max_tokens=4, greedy=False)
    plain = ANTHROPIC.body(question(), "claude")
    assert ANTHROPIC.body(asked, "claude") == {name: plain[name] for name in plain if name != "temperature"}


@pytest.mark.parametrize(
    "message", ["`temperature` is deprecated for this model.", "temperature: Extra inputs are not permitted"]
)
def test_a_refused_temperature_is_named_in_what_the_server_is_said_to_say(message: str):
    """The words of two refusals, by newer models and by the API's version 2026-10-21."""
    body = {"type": "error", "error": {"type": "invalid_request_error", "message": message}, "request_id": "req_1"}
    assert said(json.dumps(body).encode()) == message
    assert refused_fields(400, json.dumps(body).encode(), ("max_tokens", "temperature")) == ("temperature",)


def test_a_fingerprint_that_another_server_tells_is_kept():
    assert read([], system_fingerprint="temp0-0123456789ab").fingerprint == "temp0-0123456789ab"
    assert read([]).fingerprint is None


def test_the_key_and_the_version_that_has_a_temperature_go_into_their_own_headers():
    assert ANTHROPIC.headers("sk-1") == {"anthropic-version": "2023-06-01", "x-api-key": "sk-1"}
    assert ANTHROPIC.headers(None) == {"anthropic-version": "2023-06-01"}


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ("https://api.anthropic.com", "https://api.anthropic.com/v1/messages"),
        ("https://host/v1", "https://host/v1/messages"),
        ("https://host/v1/messages/", "https://host/v1/messages"),
        ("https://host/anthropic", "https://host/anthropic/v1/messages"),
    ],
)
def test_the_url_follows_from_what_the_user_gave(given: str, asked: str):
    assert ANTHROPIC.url(given) == asked
    assert ANTHROPIC.models_url(given) == asked.removesuffix("messages") + "models"


def test_a_recorded_answer_counts_cached_tokens_into_the_prompt():
    outcome = ANTHROPIC.completion(json.loads((BODIES / "llama_messages.json").read_bytes()))
    assert isinstance(outcome, Completion)
    assert (outcome.text, outcome.finish) == ("Hello there! I", "max_tokens")
    assert outcome.usage == Usage(prompt=33, completion=4, cached=32)


@pytest.mark.parametrize(
    ("content", "text", "reasoning"),
    [
        ([], "", None),
        ([{"type": "thinking", "thinking": "", "signature": "s"}, {"type": "text", "text": "Hi"}], "Hi", None),
        ([{"type": "thinking", "thinking": "hm"}], "", "hm"),
        ([{"type": "text", "text": "a"}, {"type": "tool_use", "input": {}}, {"type": "text", "text": "b"}], "ab", None),
        ([{"type": "redacted_thinking", "data": "x"}, {"type": "text", "text": "Hi"}], "Hi", None),
        ([{"type": "a kind of tomorrow", "text": 3}, {"no": "type"}], "", None),
    ],
)
def test_the_text_is_what_the_text_blocks_join_to(content: object, text: str, reasoning: str | None):
    completion = read(content)
    assert (completion.text, completion.reasoning) == (text, reasoning)


@pytest.mark.parametrize("kind", ["tool_use", "server_tool_use", "mcp_tool_use"])
def test_a_tool_use_is_a_tool_call_with_its_input_as_compact_json(kind: str):
    block = {"type": kind, "id": "toolu_9", "name": "f", "input": {"b": "é", "a": [1, {"c": None}]}}
    completion = read([{"type": "text", "text": "a"}, block, {"type": "text", "text": "b"}], stop_reason="tool_use")
    assert (completion.text, completion.finish) == ("ab", "tool_use")
    assert completion.tool_calls == (ToolCall(name="f", arguments='{"b":"é","a":[1,{"c":null}]}'),)


def test_what_changes_in_every_answer_is_no_part_of_the_record():
    def blocks(new: str) -> list[dict[str, object]]:
        return [
            {"type": "thinking", "thinking": "hm", "signature": new},
            {"type": "redacted_thinking", "data": new},
            {"type": "tool_use", "id": new, "name": "f", "input": {}},
        ]

    details = [{"type": "refusal", "category": "bio", "explanation": words} for words in ("One.", "Another.")]
    assert read(blocks("a"), stop_details=details[0]) == read(blocks("b"), stop_details=details[1])


def test_a_refusal_with_no_block_is_an_empty_completion_that_says_so():
    completion = read([], stop_reason="refusal")
    assert (completion.text, completion.finish, completion.refusal) == ("", "refusal", None)


def test_all_tokens_of_the_prompt_are_counted_and_those_that_were_thought():
    usage = {"input_tokens": 4, "cache_read_input_tokens": 8, "cache_creation_input_tokens": 16, "output_tokens": 9}
    found = read([], usage={**usage, "output_tokens_details": {"thinking_tokens": 5}})
    assert found.usage == Usage(prompt=28, completion=9, cached=8, reasoning=5)
    assert read([], usage={"input_tokens": None}).usage == Usage()


def test_an_error_under_status_200_is_a_failure_that_says_it():
    payload = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    assert failure(payload) == Failure(reason="error-in-200", message="Overloaded")


@pytest.mark.parametrize(
    ("payload", "quoted"),
    [
        ({}, "content is None, expected an array"),
        ({"content": "hi"}, "content is 'hi', expected an array"),
        ({"content": ["hi"]}, "content[] is 'hi', expected an object"),
        ({"content": [{"type": "text"}]}, "content[].text is None, expected a string"),
        ({"content": [], "stop_reason": 1}, "stop_reason is 1, expected a string"),
        ("hi", "the answer is 'hi', expected an object"),
    ],
)
def test_a_field_of_a_wrong_type_is_quoted(payload: object, quoted: str):
    assert failure(payload) == Failure(reason="malformed", message=quoted)
