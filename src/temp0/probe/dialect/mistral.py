"""Mistral's chat completions: the openai-chat dialect with a seed of another name and with thinking in parts.

Source: https://docs.mistral.ai/api/endpoint/chat and the official SDK's types. Greedy sampling is refused with any
`top_p` but 1. Usage comes with the last chunk of a stream unasked. A thinking part holds parts of its own and a
signature, which is passed over. A last message of the assistant's is gone on from where it says that it is a prefix.
"""

from __future__ import annotations

from collections.abc import Mapping

from temp0.core.run import Question
from temp0.probe.dialect.field import told_object
from temp0.probe.dialect.openai_chat import NEUTRAL, OPENAI_CHAT
from temp0.probe.dialect.partial import joined
from temp0.probe.dialect.variation import Answer, variation

_SENT = ("model", "messages", "max_tokens", "temperature", *NEUTRAL, "stream", "logprobs", "top_logprobs")
_SEED = "random_seed"


def _body(question: Question, model: str) -> Mapping[str, object]:
    body = OPENAI_CHAT.body(question, model)
    sent = {name: body[name] for name in _SENT if name in body} | {_SEED: 0}
    if question.messages[-1].role == "assistant":
        messages = [{"role": turn.role, "content": turn.content} for turn in question.messages]
        sent["messages"] = [*messages[:-1], {**messages[-1], "prefix": True}]
    return sent


def _choice(choice: Answer) -> Answer:
    """The choice with its message, or its delta, in OpenAI's shape."""
    told = {name: choice.get(name) for name in ("message", "delta")}
    return {**choice, **{name: _message(message) for name, message in told.items() if isinstance(message, dict)}}


def _message(message: Answer) -> Answer:
    content = message.get("content")
    return {**message, "content": [_part(part) for part in content]} if isinstance(content, list) else message


def _part(part: object) -> object:
    """The part of a content, its thinking as one text where it comes in parts itself."""
    thinking = told_object(part).get("thinking")
    if not isinstance(thinking, list):
        return part
    texts = [told_object(inner).get("text") for inner in thinking]
    return {"type": "thinking", "thinking": joined(text for text in texts if isinstance(text, str))}


MISTRAL = variation(
    "mistral",
    key_variable="MISTRAL_API_KEY",
    body=_body,
    choice=_choice,
    dispensable=(*NEUTRAL, _SEED),
    continues=True,
)
