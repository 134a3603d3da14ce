"""llama.cpp's native `/completion`: a text in, its continuation out.

Source: tools/server/README.md of ggml-org/llama.cpp. No chat template is put around the prompt: an instruction model
goes on writing the text rather than answering it, so its answers are not those of the chat dialects, unless the prompt
is given with its template in it. What the user starts the server with becomes the default of every sampling field, so
each that matters is said. Token ids come with the probabilities; `return_tokens` is not asked for, since a stream
leaves some of them out.
"""

from __future__ import annotations

from collections.abc import Mapping

from temp0.core.run import Completion, Failure, Question, Usage
from temp0.probe.dialect.dialect import Dialect, Headers, path_of, with_path
from temp0.probe.dialect.error import error_in
from temp0.probe.dialect.field import name_at, object_at, text_at, told_count, told_name, told_object
from temp0.probe.dialect.llamacpp_logprob import openai_logprobs
from temp0.probe.dialect.llamacpp_stream import CHUNKS, PROBABILITIES, PartialContinuation
from temp0.probe.dialect.logprob import tokens
from temp0.probe.dialect.lone_prompt import begun_prompt
from temp0.probe.dialect.openai_chat import TOP_LOGPROBS
from temp0.probe.dialect.reason import CUT, ERROR_IN_200

_NAME = "llamacpp"
_QUESTIONS = "/completion"
_NEUTRAL: Mapping[str, object] = {
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
_OLD_STOPS = {"stopped_limit": "limit", "stopped_eos": "eos", "stopped_word": "word"}


def _root(url: str) -> str:
    path = path_of(url)
    end = next((end for end in (_QUESTIONS, "/completions", "/v1") if path.endswith(end)), "")
    return path.removesuffix(end).removesuffix("/v1")


def _url(url: str) -> str:
    return with_path(url, _root(url) + _QUESTIONS)


def _models_url(url: str) -> str:
    return with_path(url, _root(url) + "/v1/models")


def _headers(key: str | None) -> Mapping[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}


def _body(question: Question, model: str) -> Mapping[str, object]:
    """A last message of the assistant's is the beginning of the continuation, and follows the prompt as it is.

    Raises:
        UsageError: There are more messages than one text can say.

    """
    body: dict[str, object] = {
        "model": model,
        "prompt": begun_prompt(question.messages, dialect=_NAME),
        "n_predict": question.max_tokens,
        "stream": question.stream,
    }
    greedy = {"temperature": 0} if question.greedy else {}
    logprobs = {"n_probs": TOP_LOGPROBS, "post_sampling_probs": False} if question.logprobs else {}
    return {**body, **greedy, **_NEUTRAL, **logprobs}


def _read(payload: object, headers: Headers) -> Completion | Failure:
    answer = object_at(payload, "the answer")
    if said := error_in(answer):
        return Failure(reason=ERROR_IN_200, message=said)
    if answer.get("stop") is False:
        return Failure(reason=CUT, message="the answer says that it goes on")
    text = text_at(answer.get("content"), "content")
    return Completion(
        text=text,
        finish=_finish(answer),
        tokens=tokens({"content": openai_logprobs(answer.get(PROBABILITIES))}, text),
        usage=_usage(answer),
        model=told_name(answer.get("model")),
        headers=headers,
    )


def _finish(answer: Mapping[str, object]) -> str | None:
    """Why it stopped; before December 2024 each reason was a field of its own."""
    told = name_at(answer.get("stop_type"), "stop_type")
    return told or next((name for field, name in _OLD_STOPS.items() if answer.get(field) is True), None)


def _usage(answer: Mapping[str, object]) -> Usage:
    """What was cached of the prompt stands among the timings: `tokens_cached` counts the continuation too."""
    return Usage(
        prompt=told_count(answer.get("tokens_evaluated")),
        completion=told_count(answer.get("tokens_predicted")),
        cached=told_count(told_object(answer.get("timings")).get("cache_n")),
    )


LLAMACPP = Dialect(
    name=_NAME,
    key_variable="LLAMA_API_KEY",
    can_logprobs=True,
    url=_url,
    models_url=_models_url,
    headers=_headers,
    body=_body,
    read=_read,
    partial=PartialContinuation,
    framing=CHUNKS,
    dispensable=(*_NEUTRAL, "post_sampling_probs"),
    continues=True,
)
