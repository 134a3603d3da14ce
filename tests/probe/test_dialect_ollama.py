"""Ollama's own API: what is sent where, and how answers are read."""

from typing import Any

import pytest
from scripted_server import question

from temp0.core.plan import Message
from temp0.core.run import Completion, Failure, Question, ToolCall, Usage
from temp0.errors import UsageError
from temp0.probe.dialect import DIALECTS

OLLAMA = DIALECTS["ollama"]
GENERATE = OLLAMA.at("http://host:11434/api/generate")
END = {"model": "m", "created_at": "2026-01-05T10:20:30Z", "done": True, "done_reason": "stop"}
NEUTRAL = {
    "temperature": 0,
    "seed": 0,
    "top_k": 0,
    "top_p": 1,
    "min_p": 0,
    "typical_p": 1,
    "repeat_penalty": 1,
    "presence_penalty": 0,
    "frequency_penalty": 0,
    "num_predict": 4,
}


def turns(*roles: str) -> Question:
    return Question(messages=tuple(Message(role=role, content=f"{role}.") for role in roles), max_tokens=4)


def completion(payload: object) -> Completion:
    outcome = OLLAMA.completion(payload)
    assert isinstance(outcome, Completion), outcome
    return outcome


def failure(payload: object) -> Failure:
    outcome = OLLAMA.completion(payload)
    assert isinstance(outcome, Failure), outcome
    return outcome


def chat(message: object, **fields: Any) -> dict[str, Any]:
    return {**END, "message": message, **fields}


@pytest.mark.parametrize(
    ("given", "asked", "models"),
    [
        ("http://h:11434", "http://h:11434/api/chat", "http://h:11434/api/tags"),
        ("http://h:11434/", "http://h:11434/api/chat", "http://h:11434/api/tags"),
        ("http://h/api", "http://h/api/chat", "http://h/api/tags"),
        ("http://h/v1", "http://h/api/chat", "http://h/api/tags"),
        ("http://h/api/chat", "http://h/api/chat", "http://h/api/tags"),
        ("http://h/api/generate/", "http://h/api/generate", "http://h/api/tags"),
        ("http://h/under/here/api/generate", "http://h/under/here/api/generate", "http://h/under/here/api/tags"),
    ],
)
def test_the_url_follows_from_what_the_user_gave(given: str, asked: str, models: str):
    assert (OLLAMA.url(given), OLLAMA.models_url(given)) == (asked, models)
    assert OLLAMA.at(given).url(given) == asked


def test_the_url_tells_which_of_the_two_forms_is_asked():
    assert OLLAMA.at("http://h:11434") is OLLAMA.at("http://h:11434/api/chat") is OLLAMA
    assert OLLAMA.at("http://h:11434/api/generate/") is GENERATE is not OLLAMA
    assert GENERATE.name == OLLAMA.name


def test_every_option_that_a_model_file_may_set_is_said_and_streaming_is_refused_in_words():
    assert OLLAMA.body(turns("system", "user"), "m") == {
        "model": "m",
        "messages": [{"role": "system", "content": "system."}, {"role": "user", "content": "user."}],
        "stream": False,
        "options": NEUTRAL,
    }
    assert OLLAMA.body(question(stream=True), "m")["stream"] is True


def test_logprobs_are_asked_for_beside_the_options():
    asked = OLLAMA.body(question(logprobs=True), "m")
    assert asked == {**OLLAMA.body(question(), "m"), "logprobs": True, "top_logprobs": 5}


@pytest.mark.parametrize("form", [OLLAMA, GENERATE])
def test_a_question_that_is_not_greedy_has_no_temperature(form: Any):
    asked = Question(messages=turns("user").messages, max_tokens=4, greedy=False)
    assert form.body(asked, "m")["options"] == {name: value for name, value in NEUTRAL.items() if name != "temperature"}


def test_one_text_is_generated_from_and_a_system_message_has_its_own_field():
    asked = {"model": "m", "prompt": "user.", "stream": False, "options": NEUTRAL}
    assert GENERATE.body(turns("user"), "m") == asked
    assert GENERATE.body(turns("system", "user"), "m") == {**asked, "system": "system."}


@pytest.mark.parametrize("roles", [("user", "assistant"), ("user", "assistant", "user"), ("system",)])
def test_more_than_one_text_cannot_be_generated_from(roles: tuple[str, ...]):
    with pytest.raises(UsageError, match="sends one text, so a prompt must be one message of a user's"):
        GENERATE.body(turns(*roles), "m")


def test_a_key_goes_into_the_authorization():
    assert OLLAMA.headers("k-1") == {"Authorization": "Bearer k-1"}
    assert OLLAMA.headers(None) == {}
    assert OLLAMA.key_variable == "OLLAMA_API_KEY"


def test_both_forms_of_an_answer_are_one_record():
    counts = {"prompt_eval_count": 26, "eval_count": 3}
    found = completion(chat({"role": "assistant", "content": "Hi"}, **counts))
    assert found == Completion(
        text="Hi", finish="stop", model="m", created=1767608430, usage=Usage(prompt=26, completion=3)
    )
    assert completion({**END, "response": "Hi", "context": [1, 2], **counts}) == found


def test_thinking_and_tool_calls_stay_out_of_the_text():
    call = {"id": "call_9", "function": {"index": 0, "name": "f", "arguments": {"b": "é", "a": [1, 2.5]}}}
    message = {"content": "", "thinking": "hm", "tool_calls": [call, {"function": {"name": "g", "arguments": {}}}]}
    calls = (ToolCall(name="f", arguments='{"b":"é","a":[1,2.5]}'), ToolCall(name="g", arguments="{}"))
    for payload in (chat(message), {**END, "response": "", **{k: message[k] for k in ("thinking", "tool_calls")}}):
        found = completion(payload)
        assert (found.text, found.reasoning, found.tool_calls) == ("", "hm", calls)


def test_an_empty_text_is_a_completion_and_null_needs_a_reason():
    assert completion(chat({"content": "", "thinking": ""})).reasoning is None
    assert completion(chat({"content": None, "thinking": "hm"})).text == ""
    assert failure(chat({"content": None})).reason == "null-content"


def test_logprobs_are_read_where_their_bytes_spell_the_text():
    entries = [
        {"token": "H", "logprob": -0.5, "bytes": [72], "top_logprobs": [{"token": "H", "logprob": -0.5}]},
        {"token": "i", "logprob": -0.25},
    ]
    found = completion(chat({"content": "Hi"}, logprobs=entries))
    assert found.tokens is not None
    assert [(token.bytes, token.logprob) for token in found.tokens] == [(b"H", -0.5), (b"i", -0.25)]
    thinking = completion(chat({"content": "i", "thinking": "H"}, logprobs=entries))
    assert thinking.tokens is None


@pytest.mark.parametrize(
    ("told", "created"),
    [
        ("2023-08-04T08:52:19.385406455-07:00", 1691164339),
        ("2026-01-05T10:20:30", None),
        ("1969-01-01T00:00:00Z", None),
        ("yesterday", None),
        (1767608430, None),
        (None, None),
    ],
)
def test_the_time_is_read_where_it_names_a_zone(told: object, created: int | None):
    assert completion(chat({"content": "Hi"}, created_at=told)).created == created


@pytest.mark.parametrize("reason", [None, ""])
def test_a_connection_that_ended_early_tells_no_reason(reason: str | None):
    assert completion(chat({"content": "Hi"}, done_reason=reason)).finish is None


@pytest.mark.parametrize(
    ("payload", "reason", "quoted"),
    [
        ({"error": "model 'm' not found"}, "error-in-200", "model 'm' not found"),
        (chat({"content": "Hi"}, error="out of memory"), "error-in-200", "out of memory"),
        (chat({"content": "Hi"}, done=False), "cut", "not done"),
        ({"choices": [], "object": "chat.completion"}, "no-choices", "its fields are ['choices', 'object']"),
        (chat("Hi"), "malformed", "message is 'Hi', expected an object"),
        (chat({"content": 7}), "malformed", "message.content is 7, expected a string"),
        (chat({"content": "", "thinking": 7}), "malformed", "message.thinking is 7, expected a string"),
        (chat({"content": "Hi"}, done_reason=7), "malformed", "done_reason is 7, expected a string"),
        ({**END, "response": []}, "malformed", "message.content is [], expected a string"),
        ("hi", "malformed", "the answer is 'hi', expected an object"),
    ],
)
def test_what_is_no_answer_is_a_failure_that_says_why(payload: object, reason: str, quoted: str):
    found = failure(payload)
    assert found.reason == reason
    assert quoted in found.message
