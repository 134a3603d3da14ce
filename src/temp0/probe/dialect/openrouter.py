"""OpenRouter: the openai-chat dialect over many providers, of which each answer names the one that wrote it.

Sources: https://openrouter.ai/docs/api-reference/parameters and .../features/provider-routing. A provider that does
not know a parameter passes over it unless `require_parameters` is set, and the temperature would be dropped without a
word. With it every field narrows the choice of providers, so few are sent: `top_p`, since Mistral's models refuse to be
greedy with any but 1, and nothing else that is not needed. Usage comes unasked. An error on the way is a chunk with
`error` and the finish reason "error".
"""

from __future__ import annotations

from collections.abc import Mapping

from temp0.core.run import Question
from temp0.probe.dialect.openai_chat import OPENAI_CHAT
from temp0.probe.dialect.variation import variation

_SENT = ("model", "messages", "max_tokens", "temperature", "top_p", "stream", "logprobs", "top_logprobs")
_ROUTING: Mapping[str, object] = {"provider": {"require_parameters": True}}


def _body(question: Question, model: str) -> Mapping[str, object]:
    body = OPENAI_CHAT.body(question, model)
    return {**{name: body[name] for name in _SENT if name in body}, **_ROUTING}


OPENROUTER = variation(
    "openrouter", key_variable="OPENROUTER_API_KEY", body=_body, told={"provider": "provider"}, dispensable=("top_p",)
)
