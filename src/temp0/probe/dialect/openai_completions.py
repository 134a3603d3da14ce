"""OpenAI's legacy completions, which go on from a text: as spoken by OpenAI, llama.cpp, vLLM, SGLang and others.

Source: https://platform.openai.com/docs/api-reference/completions. An answer, or a chunk of one, is put into the shape
of a chat answer, and the one reader reads it; one that has that shape already, as some servers answer, is read as
it is.

There are no roles here: the prompt is the text of one user message, and that of an assistant's message after it is
the beginning of the answer, to be gone on from. Any other conversation is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from temp0.core.run import Completion, Failure, Question
from temp0.probe.dialect.dialect import Headers, with_path
from temp0.probe.dialect.field import text_at, told_object
from temp0.probe.dialect.legacy_logprob import chat_shaped
from temp0.probe.dialect.lone_prompt import begun_prompt
from temp0.probe.dialect.openai_chat import GOING_ON, OPENAI_CHAT, TOP_LOGPROBS, openai_path
from temp0.probe.dialect.openai_chat_stream import PartialChat
from temp0.probe.dialect.plain_chunk import plain_legacy
from temp0.probe.dialect.variation import with_choices

_NAME = "openai-completions"
_OF_CHAT = ("messages", "top_logprobs", *GOING_ON)


def _url(url: str) -> str:
    return with_path(url, openai_path(url, "/completions"))


def _body(question: Question, model: str) -> Mapping[str, object]:
    chat = {name: value for name, value in OPENAI_CHAT.body(question, model).items() if name not in _OF_CHAT}
    logprobs = {"logprobs": TOP_LOGPROBS} if question.logprobs else {}
    return {**chat, "prompt": begun_prompt(question.messages, dialect=_NAME), **logprobs}


def _read(payload: object, headers: Headers) -> Completion | Failure:
    return OPENAI_CHAT.read(with_choices(payload, _whole) if isinstance(payload, dict) else payload, headers)


def _whole(choice: Mapping[str, object]) -> Mapping[str, object]:
    return _shaped(choice, "message")


def _piece(choice: Mapping[str, object]) -> Mapping[str, object]:
    return _shaped(choice, "delta")


def _shaped(choice: Mapping[str, object], name: str) -> Mapping[str, object]:
    """The choice with its text as that of a message or a delta."""
    if "text" not in choice:
        return choice
    text = choice["text"]
    content = None if text is None else text_at(text, "choices[].text")
    told = {**told_object(choice.get(name)), "content": content}
    return {**choice, name: told, "logprobs": chat_shaped(choice.get("logprobs"), choice.get("token_ids"))}


OPENAI_COMPLETIONS = replace(
    OPENAI_CHAT,
    name=_NAME,
    url=_url,
    body=_body,
    read=_read,
    partial=partial(PartialChat, _piece, plain_legacy),
    dispensable=tuple(name for name in OPENAI_CHAT.dispensable if name not in _OF_CHAT),
    renamed=(),
)
