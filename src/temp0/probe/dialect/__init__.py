"""The dialects temp0 speaks: a new one is one file and one line here."""

from temp0.probe.dialect.anthropic import ANTHROPIC
from temp0.probe.dialect.dialect import Dialect
from temp0.probe.dialect.openai_chat import OPENAI_CHAT

DIALECTS: dict[str, Dialect] = {
    OPENAI_CHAT.name: OPENAI_CHAT,
    ANTHROPIC.name: ANTHROPIC,
}

__all__ = ["DIALECTS", "Dialect"]
