"""SGLang's dialect: what it adds to OpenAI's, and what it names otherwise."""

from typing import Any

from scripted_server import question

from temp0.core.run import Completion, Failure, Usage
from temp0.probe.dialect.sglang import SGLANG
from temp0.probe.dialect.vllm import VLLM


def answer(**choice: object) -> dict[str, Any]:
    entries = [{"token": text, "logprob": -0.5, "bytes": list(text.encode())} for text in ("a", "b")]
    told = {"message": {"content": "ab"}, "finish_reason": "stop", "logprobs": {"content": entries}, **choice}
    return {"choices": [{"index": 0, **told}], "usage": {"prompt_tokens": 9, "reasoning_tokens": 4}}


def completion(payload: object) -> Completion:
    outcome = SGLANG.completion(payload)
    assert isinstance(outcome, Completion)
    return outcome


def ids(payload: object) -> list[int | None]:
    return [token.id for token in completion(payload).tokens or ()]


def test_the_same_is_sent_as_to_vllm():
    for asked in (question(), question(logprobs=True, stream=True)):
        assert SGLANG.body(asked, "m") == VLLM.body(asked, "m")
    assert SGLANG.dispensable == VLLM.dispensable


def test_reasoning_tokens_are_counted_at_the_top_of_the_usage():
    assert completion(answer()).usage == Usage(prompt=9, reasoning=4)


def test_the_details_go_before_the_count_at_the_top():
    payload = answer()
    payload["usage"]["completion_tokens_details"] = {"reasoning_tokens": 7}
    assert completion(payload).usage.reasoning == 7


def test_token_ids_are_those_of_the_choice_or_of_its_meta_info():
    assert ids(answer(token_ids=[5, 6])) == [5, 6]
    assert ids(answer(meta_info={"output_token_logprobs": [[-0.5, 7, "a"], [-0.5, 8, None]]})) == [7, 8]
    assert ids(answer(meta_info={"output_token_logprobs": [[-0.5, 7, "a"], 8]})) == [7, None]
    assert ids(answer(meta_info={"output_token_logprobs": [[-0.5, 7]]})) == [None, None]
    assert ids(answer()) == [None, None]


def test_the_release_of_the_weights_stands_among_the_headers():
    payload = answer() | {"metadata": {"weight_version": "step-200"}}
    read = SGLANG.completion(payload, (("via", "a"), ("x-replica", "b")))
    assert isinstance(read, Completion)
    assert read.headers == (("via", "a"), ("weight-version", "step-200"), ("x-replica", "b"))
    assert completion(answer()).headers == ()


def test_an_aborted_answer_is_a_failure():
    outcome = SGLANG.completion(answer(finish_reason="abort"))
    assert outcome == Failure(reason="error-in-200", message="the answer says that it ended in an error: abort")
