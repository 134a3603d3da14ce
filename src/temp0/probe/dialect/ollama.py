"""Ollama's own API: `/api/chat` for messages, and `/api/generate` for one text, told apart by the URL.

Source: https://docs.ollama.com/api and the server's api/types.go. A model file brings sampling options of its own, so
each that matters is said; Ollama passes over options it does not know. Streaming is the default. What `think` is left
at is the model's default; `--extra-json` says otherwise. `/api/generate` puts the model's template around the text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from temp0.core.run import Completion, Failure, Question, Usage
from temp0.probe.dialect.dialect import Dialect, Headers, path_of, with_path
from temp0.probe.dialect.error import error_in
from temp0.probe.dialect.field import name_at, names, object_at, text_at, told_count, told_name
from temp0.probe.dialect.logprob import tokens
from temp0.probe.dialect.lone_prompt import lone_prompt
from temp0.probe.dialect.ollama_stream import LINES, PartialOllama, message_in
from temp0.probe.dialect.openai_chat import TOP_LOGPROBS
from temp0.probe.dialect.reason import CUT, ERROR_IN_200, NO_CHOICES, NULL_CONTENT, excerpt
from temp0.probe.dialect.tool_call import tool_calls

_NAME = "ollama"
_CHAT, _GENERATE = "/api/chat", "/api/generate"
_NEUTRAL: Mapping[str, object] = {
    "seed": 0,
    "top_k": 0,
    "top_p": 1,
    "min_p": 0,
    "typical_p": 1,
    "repeat_penalty": 1,
    "presence_penalty": 0,
    "frequency_penalty": 0,
}


def _root(url: str) -> str:
    path = path_of(url)
    end = next((end for end in (_CHAT, _GENERATE, "/api", "/v1") if path.endswith(end)), "")
    return path.removesuffix(end)


def _url(url: str) -> str:
    return with_path(url, _root(url) + (_GENERATE if path_of(url).endswith(_GENERATE) else _CHAT))


def _models_url(url: str) -> str:
    return with_path(url, _root(url) + "/api/tags")


def _headers(key: str | None) -> Mapping[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}


def _chat_body(question: Question, model: str) -> Mapping[str, object]:
    messages = [{"role": turn.role, "content": turn.content} for turn in question.messages]
    return {"model": model, "messages": messages} | _settings(question)


def _generate_body(question: Question, model: str) -> Mapping[str, object]:
    """The system messages have a field of their own; beside them there is one text.

    Raises:
        UsageError: There are more messages than this form can say.

    """
    system = "\n\n".join(turn.content for turn in question.messages if turn.role == "system")
    others = [turn for turn in question.messages if turn.role != "system"]
    prompt = lone_prompt(others, dialect=f"{_NAME} at {_GENERATE}")
    return {"model": model, "prompt": prompt} | ({"system": system} if system else {}) | _settings(question)


def _settings(question: Question) -> dict[str, object]:
    greedy = {"temperature": 0} if question.greedy else {}
    settings: dict[str, object] = {
        "stream": question.stream,
        "options": {**greedy, **_NEUTRAL, "num_predict": question.max_tokens},
    }
    return settings | ({"logprobs": True, "top_logprobs": TOP_LOGPROBS} if question.logprobs else {})


def _read(payload: object, headers: Headers) -> Completion | Failure:
    answer = object_at(payload, "the answer")
    if said := error_in(answer):
        return Failure(reason=ERROR_IN_200, message=said)
    if answer.get("done") is False:
        return Failure(reason=CUT, message="the answer says that it is not done")
    message = message_in(answer)
    if message is None:
        return Failure(reason=NO_CHOICES, message=f"an answer without a message; its fields are {names(answer)}")
    return _completion(answer, message, headers)


def _completion(answer: Mapping[str, object], message: Mapping[str, object], headers: Headers) -> Completion | Failure:
    content, thinking = message.get("content"), message.get("thinking")
    text = None if content is None else text_at(content, "message.content")
    reasoning = None if thinking is None else text_at(thinking, "message.thinking")
    calls = tool_calls(message)
    finish = name_at(answer.get("done_reason"), "done_reason") or None
    if text is None and not (reasoning or calls):
        return Failure(reason=NULL_CONTENT, message=f"message.content is null, done_reason {excerpt(str(finish))}")
    return Completion(
        text=text or "",
        finish=finish,
        tokens=tokens({"content": answer.get("logprobs")}, text or ""),
        reasoning=reasoning or None,
        tool_calls=calls,
        usage=Usage(
            prompt=told_count(answer.get("prompt_eval_count")), completion=told_count(answer.get("eval_count"))
        ),
        model=told_name(answer.get("model")),
        created=_created(answer.get("created_at")),
        headers=headers,
    )


def _created(value: object) -> int | None:
    """A time in RFC 3339 as whole seconds; `None` for what is none, or names no zone."""
    try:
        told = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return told_count(told.timestamp()) if told and told.tzinfo else None


_AT_GENERATE = Dialect(
    name=_NAME,
    key_variable="OLLAMA_API_KEY",
    can_logprobs=True,
    url=_url,
    models_url=_models_url,
    headers=_headers,
    body=_generate_body,
    read=_read,
    partial=PartialOllama,
    framing=LINES,
)
OLLAMA = replace(_AT_GENERATE, body=_chat_body, forms=((_GENERATE, _AT_GENERATE),))
