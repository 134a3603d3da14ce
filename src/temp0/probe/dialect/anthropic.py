"""Anthropic's messages.

Source: https://platform.claude.com/docs/en/api/messages. The content is a list of blocks: the text is what the text
blocks join to, thinking and tool calls are kept apart, and blocks of other kinds add nothing. There are no logprobs.
The explanation that comes with a refusal is the API's own and may change, so it is no part of the record. A last
message of the assistant's is gone on from; it must not end in white space, and newer models refuse it altogether. A
fingerprint is no part of the API, and other servers of this dialect may tell one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from temp0.core.run import Completion, Failure, Question, ToolCall, Usage
from temp0.probe.dialect.anthropic_stream import PartialMessage
from temp0.probe.dialect.dialect import Dialect, Headers, path_of, with_path
from temp0.probe.dialect.error import error_in
from temp0.probe.dialect.field import list_at, name_at, object_at, text_at, told_count, told_name, told_object
from temp0.probe.dialect.reason import ERROR_IN_200
from temp0.probe.dialect.tool_call import arguments_text

VERSION = "2023-06-01"
"""The version of the API that has a temperature: 2026-10-21 refuses it, even at its default (api/versioning there).

Some models refuse it in either version. Nothing else is said for greedy decoding: `top_p` is refused beside a
temperature, and `top_k` has no value that does nothing.
"""

_QUESTIONS = "/messages"
_TOOL_USES = ("tool_use", "server_tool_use", "mcp_tool_use")


def _root(url: str) -> str:
    path = path_of(url).removesuffix(_QUESTIONS)
    return path if path.endswith("/v1") else f"{path}/v1"


def _url(url: str) -> str:
    return with_path(url, _root(url) + _QUESTIONS)


def _models_url(url: str) -> str:
    return with_path(url, _root(url) + "/models")


def _headers(key: str | None) -> Mapping[str, str]:
    return {"anthropic-version": VERSION} | ({"x-api-key": key} if key else {})


def _body(question: Question, model: str) -> Mapping[str, object]:
    system = "\n\n".join(turn.content for turn in question.messages if turn.role == "system")
    body: dict[str, object] = {
        "model": model,
        "messages": [
            {"role": turn.role, "content": turn.content} for turn in question.messages if turn.role != "system"
        ],
        "max_tokens": question.max_tokens,
        "stream": question.stream,
    }
    return body | ({"temperature": 0} if question.greedy else {}) | ({"system": system} if system else {})


def _read(payload: object, headers: Headers) -> Completion | Failure:
    answer = object_at(payload, "the answer")
    if answer.get("content") is None and (said := error_in(answer)):
        return Failure(reason=ERROR_IN_200, message=said)
    blocks = [object_at(block, "content[]") for block in list_at(answer.get("content"), "content")]
    return Completion(
        text="".join(_texts(blocks, "text")),
        finish=name_at(answer.get("stop_reason"), "stop_reason"),
        reasoning="".join(_texts(blocks, "thinking")) or None,
        tool_calls=tuple(_call(block) for block in blocks if block.get("type") in _TOOL_USES),
        usage=_usage(told_object(answer.get("usage"))),
        model=told_name(answer.get("model")),
        fingerprint=told_name(answer.get("system_fingerprint")),
        id=told_name(answer.get("id")),
        headers=headers,
    )


def _texts(blocks: Iterable[Mapping[str, object]], kind: str) -> Iterable[str]:
    return (text_at(block.get(kind), f"content[].{kind}") for block in blocks if block.get("type") == kind)


def _call(block: Mapping[str, object]) -> ToolCall:
    return ToolCall(name=told_name(block.get("name")) or "", arguments=arguments_text(block.get("input")))


def _usage(usage: Mapping[str, object]) -> Usage:
    """Input tokens leave out those read from or written to the prompt cache; the prompt has them all."""
    told = [
        told_count(usage.get(field))
        for field in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    ]
    known = [count for count in told if count is not None]
    return Usage(
        prompt=sum(known) if known else None,
        completion=told_count(usage.get("output_tokens")),
        cached=told[1],
        reasoning=told_count(told_object(usage.get("output_tokens_details")).get("thinking_tokens")),
    )


ANTHROPIC = Dialect(
    name="anthropic",
    key_variable="ANTHROPIC_API_KEY",
    can_logprobs=False,
    url=_url,
    models_url=_models_url,
    headers=_headers,
    body=_body,
    read=_read,
    partial=PartialMessage,
    continues=True,
)
