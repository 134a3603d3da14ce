"""SGLang's native form: one text, and log probabilities as lists."""

import math
from typing import Any

import pytest
from scripted_server import question

from temp0.core.plan import Message
from temp0.core.run import Completion, Failure, Question
from temp0.errors import UsageError
from temp0.probe.dialect.logprob import FLOOR
from temp0.probe.dialect.sglang import SGLANG
from temp0.probe.dialect.sglang_generate import SGLANG_GENERATE
from temp0.probe.event_stream import Event


def answer(text: str = "ab", **told: object) -> dict[str, Any]:
    return {"text": text, "meta_info": {"finish_reason": {"type": "stop", "matched": 2}, **told}}


def completion(payload: object) -> Completion:
    outcome = SGLANG_GENERATE.completion(payload)
    assert isinstance(outcome, Completion), outcome
    return outcome


def test_one_text_is_sent_with_every_sampling_field():
    assert SGLANG_GENERATE.body(question(max_tokens=7, logprobs=True), "m") == {
        "text": "Say hi.",
        "sampling_params": {
            "max_new_tokens": 7,
            "temperature": 0,
            "top_p": 1,
            "presence_penalty": 0,
            "frequency_penalty": 0,
            "top_k": -1,
            "min_p": 0,
            "repetition_penalty": 1,
        },
        "stream": False,
        "return_logprob": True,
        "top_logprobs_num": 5,
        "return_text_in_logprobs": True,
    }


def test_a_begun_answer_follows_the_text():
    turns = (Message(role="user", content="Count."), Message(role="assistant", content=" One,"))
    assert SGLANG_GENERATE.body(Question(messages=turns, max_tokens=4), "m")["text"] == "Count. One,"


def test_messages_that_one_text_cannot_say_are_refused():
    turns = (Message(role="system", content="Be brief."), Message(role="user", content="Hi"))
    with pytest.raises(UsageError, match="sglang at /generate sends one text"):
        SGLANG_GENERATE.body(Question(messages=turns, max_tokens=4), "m")


def test_the_form_is_told_by_the_url():
    assert SGLANG.at("http://host:1/generate") is SGLANG_GENERATE
    assert SGLANG.at("http://host:1/v1") is SGLANG
    assert SGLANG_GENERATE.models_url("http://host:1/generate") == "http://host:1/v1/models"


def test_tokens_are_read_from_lists_and_minus_infinity_is_the_floor():
    told = {
        "output_token_logprobs": [[-0.5, 7, "a"], [-math.inf, 8, "b"]],
        "output_top_logprobs": [[[-0.5, 7, "a"], [-1.5, 9, "c"]], None],
    }
    read = completion(answer(**told))
    assert read.tokens is not None
    assert [(token.bytes, token.id, token.logprob) for token in read.tokens] == [(b"a", 7, -0.5), (b"b", 8, FLOOR)]
    assert [[other.bytes for other in token.top] for token in read.tokens] == [[b"a", b"c"], []]


@pytest.mark.parametrize("listed", [[[-0.5, 7, None], [-0.5, 8, None]], [[-0.5, 7]], [7], "x", [[-0.5, 7, "z"]]])
def test_tokens_that_do_not_spell_the_text_are_none(listed: object):
    assert completion(answer(output_token_logprobs=listed)).tokens is None


@pytest.mark.parametrize("finish", [None, {}, {"type": None}])
def test_an_answer_that_does_not_say_why_it_ended_is_no_answer(finish: object):
    outcome = SGLANG_GENERATE.completion(answer(finish_reason=finish))
    assert isinstance(outcome, Failure)
    assert outcome.reason == "cut"


def streamed(*chunks: str) -> Completion | Failure:
    return SGLANG_GENERATE.streamed([Event(data=chunk.encode()) for chunk in chunks])


def test_texts_that_do_not_go_on_from_one_another_are_joined_also_without_ids():
    end = '{"text":"c","meta_info":{"finish_reason":{"type":"stop"}}}'
    read = streamed('{"text":"ab","meta_info":{}}', '{"text":"b","meta_info":{}}', end, "[DONE]")
    assert isinstance(read, Completion)
    assert read.text == "abbc"


def test_an_error_on_the_way_is_a_failure():
    read = streamed('{"text":"a","meta_info":{}}', '{"error":{"message":"out of memory"}}')
    assert read == Failure(reason="error-in-200", message="out of memory")
