"""OpenAI's chat completions, as spoken by OpenAI, llama.cpp, vLLM, SGLang, Ollama, OpenRouter and many more.

Source: https://platform.openai.com/docs/api-reference/chat. A text that is null is a completion with the text ""
only where the answer says why: reasoning, tool calls, a refusal or a content filter. A last message of the assistant's
is sent to be gone on from, as vLLM and SGLang are told to; llama.cpp does so unasked.
"""

from __future__ import annotations

from collections.abc import Mapping

from temp0.core.run import Completion, Failure, Question, Usage
from temp0.probe.dialect.chat_message import refusal, text_and_reasoning
from temp0.probe.dialect.dialect import Dialect, Headers, path_of, with_path
from temp0.probe.dialect.error import error_in
from temp0.probe.dialect.field import list_at, name_at, names, object_at, told_count, told_name, told_object
from temp0.probe.dialect.logprob import tokens
from temp0.probe.dialect.openai_chat_stream import PartialChat
from temp0.probe.dialect.reason import ERROR_IN_200, NO_CHOICES, NULL_CONTENT, excerpt
from temp0.probe.dialect.tool_call import tool_calls

TOP_LOGPROBS = 5
STREAM_OPTIONS = "stream_options"
"""Asks for the token counts of a streamed answer, which otherwise has none."""

NEUTRAL: Mapping[str, object] = {"top_p": 1, "presence_penalty": 0, "frequency_penalty": 0}
"""What an engine may take from the model's own defaults where nothing is said, at the values that do nothing."""

GOING_ON: Mapping[str, object] = {"continue_final_message": True, "add_generation_prompt": False}
"""Has a server go on from the last message, where the default is to begin another answer."""

FILTERED = "content_filter"
ENDED_IN_ERROR = frozenset({"error", "abort"})
"""An answer that ended so is no completion, whatever text came before."""

_QUESTIONS = ("/chat/completions", "/completions", "/responses")


def openai_path(url: str, questions: str) -> str:
    """The path below the root of an API of OpenAI's, whichever of its questions the URL ends with.

    >>> openai_path("http://host/v1/chat/completions", "/responses")
    '/v1/responses'
    """
    path = path_of(url)
    ending = next((each for each in _QUESTIONS if path.endswith(each)), "")
    return (path.removesuffix(ending) or "/v1") + questions


def _url(url: str) -> str:
    return with_path(url, openai_path(url, "/chat/completions"))


def _models_url(url: str) -> str:
    return with_path(url, openai_path(url, "/models"))


def _headers(key: str | None) -> Mapping[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}


def _body(question: Question, model: str) -> Mapping[str, object]:
    body: dict[str, object] = {
        "model": model,
        "messages": [{"role": turn.role, "content": turn.content} for turn in question.messages],
        "max_tokens": question.max_tokens,
        **({"temperature": 0, **NEUTRAL} if question.greedy else {}),
        "seed": 0,
        "stream": question.stream,
    }
    if question.logprobs:
        body |= {"logprobs": True, "top_logprobs": TOP_LOGPROBS}
    if question.messages and question.messages[-1].role == "assistant":
        body |= GOING_ON
    if question.stream:
        body |= {STREAM_OPTIONS: {"include_usage": True}}
    return body


def _read(payload: object, headers: Headers) -> Completion | Failure:
    answer = object_at(payload, "the answer")
    choices = answer.get("choices")
    if said := error_in(answer):
        return Failure(reason=ERROR_IN_200, message=said)
    told = [] if choices is None else [object_at(each, "choices[0]") for each in list_at(choices, "choices")]
    # One answer was asked for: any other is not ours.
    choice = next((one for one in told if not told_count(one.get("index"))), None)
    if choice is None:
        return Failure(reason=NO_CHOICES, message=f"an answer without choices; its fields are {names(answer)}")
    if said := error_in(choice):
        return Failure(reason=ERROR_IN_200, message=said)
    return _completion(answer, choice, headers)


def _completion(answer: Mapping[str, object], choice: Mapping[str, object], headers: Headers) -> Completion | Failure:
    message = object_at(choice.get("message"), "choices[0].message")
    finish = name_at(choice.get("finish_reason"), "choices[0].finish_reason")
    usage = _usage(told_object(answer.get("usage")))
    text, reasoning = text_and_reasoning(message)
    calls, refused = tool_calls(message), refusal(message)
    if finish in ENDED_IN_ERROR:
        return Failure(reason=ERROR_IN_200, message=f"the answer says that it ended in an error: {finish}")
    is_explained = reasoning or usage.reasoning or calls or refused or message.get("audio") or finish == FILTERED
    if text is None and not is_explained:
        return Failure(reason=NULL_CONTENT, message=f"the text is null, finish {excerpt(str(finish))}")
    return Completion(
        text=text or "",
        finish=finish,
        tokens=tokens(choice.get("logprobs"), text or "", reasoning=reasoning),
        reasoning=reasoning,
        usage=usage,
        model=told_name(answer.get("model")),
        fingerprint=told_name(answer.get("system_fingerprint")),
        id=told_name(answer.get("id")),
        created=told_count(answer.get("created")),
        headers=headers,
        tool_calls=calls,
        refusal=refused,
    )


def _usage(usage: Mapping[str, object]) -> Usage:
    return Usage(
        prompt=told_count(usage.get("prompt_tokens")),
        completion=told_count(usage.get("completion_tokens")),
        cached=told_count(told_object(usage.get("prompt_tokens_details")).get("cached_tokens")),
        reasoning=told_count(told_object(usage.get("completion_tokens_details")).get("reasoning_tokens")),
    )


OPENAI_CHAT = Dialect(
    name="openai-chat",
    key_variable="OPENAI_API_KEY",
    can_logprobs=True,
    url=_url,
    models_url=_models_url,
    headers=_headers,
    body=_body,
    read=_read,
    partial=PartialChat,
    dispensable=(STREAM_OPTIONS, "seed", *NEUTRAL, *GOING_ON),
    renamed=(("max_tokens", "max_completion_tokens"),),
    continues=True,
)
