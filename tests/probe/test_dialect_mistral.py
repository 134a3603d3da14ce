"""Mistral's dialect: its own names, its parts, and what it must not be sent."""

from typing import Any

import pytest
from scripted_server import question

from temp0.core.plan import Message
from temp0.core.run import Completion, Question
from temp0.probe.dialect.mistral import MISTRAL


def completion(message: object, finish: str = "stop") -> Completion:
    outcome = MISTRAL.completion({"choices": [{"index": 0, "message": message, "finish_reason": finish}]})
    assert isinstance(outcome, Completion), outcome
    return outcome


def test_what_is_sent_has_mistrals_names_and_no_others():
    assert MISTRAL.body(question(max_tokens=7), "mistral-small-latest") == {
        "model": "mistral-small-latest",
        "messages": [{"role": "user", "content": "Say hi."}],
        "max_tokens": 7,
        "temperature": 0,
        "stream": False,
        "top_p": 1,
        "presence_penalty": 0,
        "frequency_penalty": 0,
        "random_seed": 0,
    }


def test_a_streamed_answer_is_asked_for_without_stream_options():
    sent = MISTRAL.body(question(stream=True), "m")
    assert sent["stream"] is True
    assert not {"stream_options", "seed", "safe_prompt"} & set(sent)


def test_a_begun_answer_is_a_prefix():
    turns = (Message(role="user", content="Count."), Message(role="assistant", content="One,"))
    sent: Any = MISTRAL.body(Question(messages=turns, max_tokens=4), "m")["messages"]
    assert sent == [
        {"role": "user", "content": "Count."},
        {"role": "assistant", "content": "One,", "prefix": True},
    ]


def test_thinking_in_parts_is_reasoning_and_its_signature_is_passed_over():
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "2+"}, {"type": "text", "text": "2"}]}
    parts = [{**thinking, "signature": "abc"}, {"type": "text", "text": "It is "}, {"type": "text", "text": "4."}]
    read = completion({"role": "assistant", "content": parts})
    assert (read.text, read.reasoning) == ("It is 4.", "2+2")
    assert read == completion({"role": "assistant", "content": [{**parts[0], "signature": "xyz"}, *parts[1:]]})


def test_a_thinking_part_without_text_is_no_reasoning():
    parts = [{"type": "thinking", "thinking": [{"type": "reference", "reference_ids": [1]}, 7]}]
    read = completion({"content": [*parts, {"type": "text", "text": "a"}]})
    assert (read.text, read.reasoning) == ("a", None)


@pytest.mark.parametrize("finish", ["stop", "length", "model_length", "tool_calls"])
def test_a_finish_reason_is_kept_as_told(finish: str):
    assert completion({"content": "a"}, finish).finish == finish
