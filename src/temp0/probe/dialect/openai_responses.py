"""OpenAI's responses, as spoken by OpenAI, llama.cpp, vLLM, transformers serve and others.

Source: https://platform.openai.com/docs/api-reference/responses. An answer is a list of items: the text is what the
output texts of its messages join to; reasoning, refusals and calls of functions are kept apart, and items of other
kinds add nothing. It says that it completed, or why it is incomplete; one that failed is no completion.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from temp0.core.run import Completion, Failure, Question, ToolCall, Usage
from temp0.probe.dialect.dialect import Headers, with_path
from temp0.probe.dialect.error import error_in
from temp0.probe.dialect.field import name_at, names, object_at, text_at, told_count, told_name, told_object
from temp0.probe.dialect.logprob import tokens
from temp0.probe.dialect.openai_chat import OPENAI_CHAT, TOP_LOGPROBS, openai_path
from temp0.probe.dialect.openai_responses_stream import CALLS, PartialResponse, items, kind, parts
from temp0.probe.dialect.reason import ERROR_IN_200, NO_CHOICES, NULL_CONTENT, excerpt
from temp0.probe.dialect.tool_call import arguments_text

_LOGPROBS = "message.output_text.logprobs"
_UNANSWERED = frozenset({"queued", "in_progress", "cancelled"})


def _url(url: str) -> str:
    return with_path(url, openai_path(url, "/responses"))


def _body(question: Question, model: str) -> Mapping[str, object]:
    turns = [{"role": turn.role, "content": turn.content} for turn in question.messages]
    is_one_text = [turn.role for turn in question.messages] == ["user"]
    return {
        "model": model,
        "input": question.messages[0].content if is_one_text else turns,
        "max_output_tokens": question.max_tokens,
        **({"temperature": 0, "top_p": 1} if question.greedy else {}),
        "store": False,
        "stream": question.stream,
        **({"include": [_LOGPROBS], "top_logprobs": TOP_LOGPROBS} if question.logprobs else {}),
    }


def _read(payload: object, headers: Headers) -> Completion | Failure:
    answer = object_at(payload, "the answer")
    status = name_at(answer.get("status"), "status")
    if (said := error_in(answer)) or status == "failed":
        return Failure(reason=ERROR_IN_200, message=said or "the answer says that it failed, and not why")
    if answer.get("output") is None or status in _UNANSWERED:
        told = f"the answer's status is {excerpt(status)}" if status else None
        told = told or f"an answer without output; its fields are {names(answer)}"
        return Failure(reason=NO_CHOICES, message=told)
    return _completion(answer, status, headers)


def _completion(answer: Mapping[str, object], status: str | None, headers: Headers) -> Completion | Failure:
    output, usage = items(answer), _usage(told_object(answer.get("usage")))
    texts = [part for part in parts(output) if kind(part) == "output_text"]
    text = "".join(text_at(part.get("text"), "output_text.text") for part in texts)
    reasoning, refusal, calls = _reasoning(output), _refusal(output), tuple(_calls(output))
    finish = told_name(told_object(answer.get("incomplete_details")).get("reason")) or status
    if not (texts or reasoning or usage.reasoning or refusal or calls or status == "incomplete"):
        return Failure(reason=NULL_CONTENT, message=f"the answer has no text, status {excerpt(str(status))}")
    listed = [part.get("logprobs") for part in texts]
    entries = [entry for part in listed if isinstance(part, list) for entry in part]
    return Completion(
        text=text,
        finish=finish,
        tokens=tokens({"content": entries}, text, reasoning=reasoning) if entries else None,
        reasoning=reasoning,
        usage=usage,
        model=told_name(answer.get("model")),
        fingerprint=told_name(answer.get("system_fingerprint")),
        id=told_name(answer.get("id")),
        created=told_count(answer.get("created_at")),
        headers=headers,
        tool_calls=calls,
        refusal=refusal,
    )


def _reasoning(output: Iterable[Mapping[str, object]]) -> str | None:
    """The reasoning itself where an item tells it, else the summary of it."""
    told = [item for item in output if kind(item) == "reasoning"]
    return "".join(_of(item, "content") or _of(item, "summary") for item in told) or None


def _of(item: Mapping[str, object], field: str) -> str:
    listed = item.get(field)
    texts = [told_object(part).get("text") for part in listed] if isinstance(listed, list) else []
    return "".join(text for text in texts if isinstance(text, str))


def _refusal(output: Iterable[Mapping[str, object]]) -> str | None:
    refused = (part.get("refusal") for part in parts(output) if kind(part) == "refusal")
    return "".join(words for words in refused if isinstance(words, str)) or None


def _calls(output: Iterable[Mapping[str, object]]) -> Iterable[ToolCall]:
    for item in output:
        if field := CALLS.get(kind(item)):
            name = text_at(item.get("name"), "the name of a tool call")
            yield ToolCall(name=name, arguments=arguments_text(item.get(field)))


def _usage(usage: Mapping[str, object]) -> Usage:
    return Usage(
        prompt=told_count(usage.get("input_tokens")),
        completion=told_count(usage.get("output_tokens")),
        cached=told_count(told_object(usage.get("input_tokens_details")).get("cached_tokens")),
        reasoning=told_count(told_object(usage.get("output_tokens_details")).get("reasoning_tokens")),
    )


OPENAI_RESPONSES = replace(
    OPENAI_CHAT,
    name="openai-responses",
    url=_url,
    body=_body,
    read=_read,
    partial=PartialResponse,
    dispensable=("store", "top_p", "include", "top_logprobs"),
    renamed=(),
    continues=False,
)
