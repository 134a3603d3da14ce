"""vLLM's dialect: nothing is left to the model's own defaults, and token ids find their tokens."""

from dataclasses import replace
from typing import Any

import pytest
from scripted_server import question

from temp0.core.plan import Message
from temp0.core.run import Alternative, Completion, Question, Token
from temp0.probe.dialect.vllm import ENGINE_NEUTRAL, VLLM, prompt_tokens


def entry(text: str, logprob: float = -0.5) -> dict[str, Any]:
    return {"token": text, "logprob": logprob, "bytes": list(text.encode()), "top_logprobs": []}


def answer(*texts: str, **choice: object) -> dict[str, Any]:
    message = {"role": "assistant", "content": "".join(texts)}
    logprobs = {"content": [entry(text) for text in texts]}
    return {"choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": logprobs, **choice}]}


def ids(payload: object) -> list[int | None]:
    outcome = VLLM.completion(payload)
    assert isinstance(outcome, Completion)
    assert outcome.tokens is not None
    return [token.id for token in outcome.tokens]


def test_every_field_that_the_model_could_decide_is_sent_at_the_value_that_does_nothing():
    sent = VLLM.body(question(), "m")
    neutral = {
        "temperature": 0,
        "top_p": 1,
        "top_k": -1,
        "min_p": 0,
        "repetition_penalty": 1,
        "presence_penalty": 0,
        "frequency_penalty": 0,
        "seed": 0,
    }
    assert {name: sent[name] for name in neutral} == neutral
    assert set(neutral) - {"temperature"} < set(VLLM.dispensable)
    assert not {"ignore_eos", "prompt_logprobs", "cache_salt", "continue_final_message"} & set(sent)


def test_a_question_that_is_not_greedy_says_nothing_of_sampling():
    sent = VLLM.body(replace(question(), greedy=False), "m")
    assert not {"temperature", "top_p", *ENGINE_NEUTRAL} & set(sent)


def test_token_ids_are_asked_for_with_logprobs_and_not_without():
    assert VLLM.body(question(logprobs=True), "m")["return_token_ids"] is True
    assert "return_token_ids" not in VLLM.body(question(), "m")


def test_a_begun_answer_is_gone_on_from():
    turns = (Message(role="user", content="Count."), Message(role="assistant", content="One,"))
    sent = VLLM.body(Question(messages=turns, max_tokens=4), "m")
    assert (sent["continue_final_message"], sent["add_generation_prompt"]) == (True, False)
    assert VLLM.continues


def test_token_ids_go_to_their_tokens():
    assert ids(answer("a", "b", token_ids=[5, 6])) == [5, 6]


@pytest.mark.parametrize("told", [[5], [5, 6, 7], None, "56", {"0": 5}])
def test_token_ids_that_do_not_match_the_tokens_name_none(told: object):
    assert ids(answer("a", "b", token_ids=told)) == [None, None]


def test_an_id_that_is_none_is_not_told():
    assert ids(answer("a", "b", token_ids=["x", 6])) == [None, 6]


def test_tokens_named_by_their_ids_have_them():
    payload = answer("a", "b")
    for place, logprob in enumerate(payload["choices"][0]["logprobs"]["content"]):
        logprob["token"] = f"token_id:{place + 7}"
    assert ids(payload) == [7, 8]


def position(**tokens: tuple[str, float]) -> dict[str, Any]:
    return {
        name[1:]: {"logprob": logprob, "rank": 1, "decoded_token": text} for name, (text, logprob) in tokens.items()
    }


def test_the_tokens_of_the_prompt_can_be_read():
    told = {
        "prompt_logprobs": [None, position(_9=(" the", -4.5), _3=(" a", -0.25)), position(_4=("é", -0.5))],
        "prompt_token_ids": [1, 9, 4],
    }
    assert prompt_tokens(told) == (
        Token(
            bytes=b" the",
            id=9,
            logprob=-4.5,
            top=(Alternative(bytes=b" the", logprob=-4.5), Alternative(bytes=b" a", logprob=-0.25)),
        ),
        Token(bytes="é".encode(), id=4, logprob=-0.5, top=(Alternative(bytes="é".encode(), logprob=-0.5),)),
    )


def test_without_ids_the_first_of_a_position_is_the_prompts_own():
    told = prompt_tokens({"prompt_logprobs": [None, position(_9=("x", -4.5), _3=("y", -0.25))]})
    assert told is not None
    assert [token.id for token in told] == [9]


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"prompt_logprobs": None},
        {"prompt_logprobs": [None, None]},
        {"prompt_logprobs": [None, {}]},
        {"prompt_logprobs": [None, {"x": {"logprob": 0}}]},
        {"prompt_logprobs": [None, position(_9=("x", 0.0))], "prompt_token_ids": [1, 8]},
        {"prompt_logprobs": [None, {"9": 3, "\u0661": 4}], "prompt_token_ids": [1, 8]},
    ],
)
def test_prompt_logprobs_that_cannot_be_read_are_none(told: dict[str, object]):
    assert prompt_tokens(told) is None
