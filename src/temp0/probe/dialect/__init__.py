"""The dialects temp0 speaks: a new one is one file and one line here."""

from temp0.probe.dialect.anthropic import ANTHROPIC
from temp0.probe.dialect.azure import AZURE
from temp0.probe.dialect.dialect import Dialect
from temp0.probe.dialect.llamacpp import LLAMACPP
from temp0.probe.dialect.mistral import MISTRAL
from temp0.probe.dialect.ollama import OLLAMA
from temp0.probe.dialect.openai_chat import OPENAI_CHAT
from temp0.probe.dialect.openai_completions import OPENAI_COMPLETIONS
from temp0.probe.dialect.openai_responses import OPENAI_RESPONSES
from temp0.probe.dialect.openrouter import OPENROUTER
from temp0.probe.dialect.sglang import SGLANG
from temp0.probe.dialect.vllm import VLLM

DIALECTS: dict[str, Dialect] = {
    OPENAI_CHAT.name: OPENAI_CHAT,
    OPENAI_COMPLETIONS.name: OPENAI_COMPLETIONS,
    OPENAI_RESPONSES.name: OPENAI_RESPONSES,
    ANTHROPIC.name: ANTHROPIC,
    MISTRAL.name: MISTRAL,
    OLLAMA.name: OLLAMA,
    LLAMACPP.name: LLAMACPP,
    VLLM.name: VLLM,
    SGLANG.name: SGLANG,
    AZURE.name: AZURE,
    OPENROUTER.name: OPENROUTER,
}

__all__ = ["DIALECTS", "Dialect"]
