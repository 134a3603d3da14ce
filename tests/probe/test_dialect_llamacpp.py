"""llama.cpp's native API: what is sent, and how continuations are read."""

import json
import math
from typing import Any

import pytest
from scripted_server import BODIES, question

from temp0.core.fork import LENGTH_FINISHES
from temp0.core.margin import own_margin
from temp0.core.plan import Message
from temp0.core.run import Completion, Failure, Question, Usage
from temp0.errors import UsageError
from temp0.probe.dialect import DIALECTS

LLAMACPP = DIALECTS["llamacpp"]
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
    "dry_multiplier": 0,
    "xtc_probability": 0,
    "mirostat": 0,
}


def turns(*roles: str, greedy: bool = True) -> Question:
    messages = tuple(Message(role=role, content=f"{role}.") for role in roles)
    return Question(messages=messages, max_tokens=4, greedy=greedy)


def completion(payload: object) -> Completion:
    outcome = LLAMACPP.completion(payload)
    assert isinstance(outcome, Completion), outcome
    return outcome


def failure(payload: object) -> Failure:
    outcome = LLAMACPP.completion(payload)
    assert isinstance(outcome, Failure), outcome
    return outcome


def recorded(name: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads((BODIES / name).read_bytes())
    return answer


@pytest.mark.parametrize(
    ("given", "root"),
    [
        ("http://h:8080", "http://h:8080"),
        ("http://h:8080/completion", "http://h:8080"),
        ("http://h:8080/completions/", "http://h:8080"),
        ("http://h:8080/v1", "http://h:8080"),
        ("http://h:8080/v1/completions", "http://h:8080"),
        ("http://h/prefix/completion", "http://h/prefix"),
    ],
)
def test_the_url_follows_from_what_the_user_gave(given: str, root: str):
    assert (LLAMACPP.url(given), LLAMACPP.models_url(given)) == (f"{root}/completion", f"{root}/v1/models")


def test_every_setting_that_the_server_may_have_been_started_with_is_said():
    assert LLAMACPP.body(turns("user"), "m") == {
        "model": "m",
        "prompt": "user.",
        "n_predict": 4,
        "stream": False,
        **NEUTRAL,
    }
    assert LLAMACPP.body(question(stream=True), "m")["stream"] is True
    assert set(LLAMACPP.dispensable) == {*NEUTRAL, "post_sampling_probs"} - {"temperature"}


def test_logprobs_are_asked_for_as_they_are_before_sampling():
    asked = LLAMACPP.body(question(logprobs=True), "m")
    assert asked == {**LLAMACPP.body(question(), "m"), "n_probs": 5, "post_sampling_probs": False}


def test_a_question_that_is_not_greedy_has_no_temperature():
    asked = LLAMACPP.body(turns("user", greedy=False), "m")
    assert asked == {name: value for name, value in LLAMACPP.body(turns("user"), "m").items() if name != "temperature"}


def test_the_beginning_of_an_answer_follows_the_prompt_as_it_is():
    assert LLAMACPP.body(turns("user", "assistant"), "m")["prompt"] == "user.assistant."
    assert LLAMACPP.continues


@pytest.mark.parametrize("roles", [("system", "user"), ("user", "assistant", "user"), ("assistant",), ("system",)])
def test_messages_that_only_a_template_could_join_are_refused(roles: tuple[str, ...]):
    with pytest.raises(UsageError, match="the dialect llamacpp sends one text"):
        LLAMACPP.body(turns(*roles), "m")


def test_a_key_goes_into_the_authorization():
    assert LLAMACPP.headers("k-1") == {"Authorization": "Bearer k-1"}
    assert LLAMACPP.headers(None) == {}


def test_a_recorded_answer_is_read_with_its_tokens():
    found = completion(recorded("llama_native_nprobs.json"))
    assert (found.text, found.finish, found.model) == (" Paris.", "limit", "models/smol-BF16.gguf")
    assert found.usage == Usage(prompt=5, completion=2, cached=4)
    assert found.tokens is not None
    assert [(token.bytes, token.id) for token in found.tokens] == [(b" Paris", 7042), (b".", 30)]
    assert own_margin(found.tokens[0]) == pytest.approx(2.4729, abs=1e-4)


def test_tokens_that_make_up_a_character_are_one_whose_margin_nobody_knows():
    found = completion(recorded("llama_native_emoji.json"))
    assert found.tokens is not None
    assert [token.bytes.decode() for token in found.tokens] == ["\ufe0f", "\U0001f331", "\n"]
    assert own_margin(found.tokens[1]) == "a branch's token is not among its own alternatives"


def test_after_sampling_the_probability_is_one_and_the_margin_lost():
    found = completion(recorded("llama_native_nprobs_postsampling.json"))
    assert found.tokens is not None
    assert [(token.id, token.logprob, len(token.top)) for token in found.tokens] == [(7042, 0.0, 1), (30, 0.0, 1)]
    assert isinstance(own_margin(found.tokens[0]), str)


def test_probabilities_of_old_servers_become_logprobs():
    entries = [
        {"content": "H", "probs": [{"tok_str": "H", "prob": 0.5}, {"tok_str": "J", "prob": 0.25}]},
        {"content": "i", "probs": [{"tok_str": "o", "prob": 0.0}]},
        {"content": "!", "probs": [{"tok_str": "!", "prob": 1.5}, {"tok_str": "?", "prob": -0.5}]},
    ]
    tokens = completion({"content": "Hi!", "stop": True, "completion_probabilities": entries}).tokens
    assert tokens is not None
    assert [token.logprob for token in tokens] == [math.log(0.5), None, math.log(1.5)]
    assert own_margin(tokens[0]) == pytest.approx(math.log(2))
    assert [(other.bytes, other.logprob) for other in tokens[1].top] == [(b"o", -9999.0)]
    assert own_margin(tokens[2]) == "a logprob above 0, or one that is no number"


def test_a_byte_of_an_old_server_is_the_byte_it_names():
    text = "\U0001f331"
    entries = [{"content": f"byte: \\x{byte:02x}", "probs": []} for byte in text.encode()]
    tokens = completion({"content": text, "stop": True, "completion_probabilities": entries}).tokens
    assert tokens is not None
    assert b"".join(token.bytes for token in tokens) == text.encode()


@pytest.mark.parametrize(
    "entries",
    [None, 7, "probs", [None], [7], [{"probs": 7}], [{"probs": [7]}], [{"content": 7, "probs": [{"prob": "x"}]}], [[]]],
)
def test_probabilities_that_cannot_be_read_leave_the_text(entries: object):
    found = completion({"content": "Hi", "stop": True, "completion_probabilities": entries})
    assert (found.text, found.tokens) == ("Hi", None)


def test_the_count_of_cached_tokens_is_that_of_the_prompt():
    """`tokens_cached` is no such count: 10 in the recorded answer to a prompt of 6."""
    assert completion(recorded("llama_native_emoji.json")).usage == Usage(prompt=6, completion=5, cached=0)
    assert completion({"content": "Hi", "stop": True, "tokens_cached": 6}).usage == Usage()


@pytest.mark.parametrize(
    ("fields", "finish"),
    [
        ({"stop_type": "eos"}, "eos"),
        ({"stop_type": "word", "stopping_word": "x"}, "word"),
        ({"stopped_limit": True, "stopped_eos": False, "stopped_word": False}, "limit"),
        ({"stopped_limit": False, "stopped_eos": True}, "eos"),
        ({"stopped_word": True}, "word"),
        ({}, None),
    ],
)
def test_why_it_stopped_is_read_in_both_forms(fields: dict[str, object], finish: str | None):
    assert completion({"content": "Hi", "stop": True, **fields}).finish == finish


def test_a_limit_is_known_as_one():
    assert completion(recorded("llama_native_nprobs.json")).finish in LENGTH_FINISHES


def test_an_empty_continuation_is_a_completion():
    assert completion({"content": "", "stop": True, "stop_type": "eos"}).text == ""


@pytest.mark.parametrize(
    ("payload", "reason", "quoted"),
    [
        (
            {"error": {"code": 400, "message": "exceeds the available context size", "type": "exceed"}},
            "error-in-200",
            "exceeds the available context size",
        ),
        ({"content": "Hi", "stop": False}, "cut", "goes on"),
        ({"stop": True}, "malformed", "content is None, expected a string"),
        ({"content": ["Hi"], "stop": True}, "malformed", "content is ['Hi'], expected a string"),
        ({"content": "Hi", "stop_type": 7}, "malformed", "stop_type is 7, expected a string"),
        ([{"content": "Hi"}], "malformed", "expected an object"),
    ],
)
def test_what_is_no_answer_is_a_failure_that_says_why(payload: object, reason: str, quoted: str):
    found = failure(payload)
    assert found.reason == reason
    assert quoted in found.message
