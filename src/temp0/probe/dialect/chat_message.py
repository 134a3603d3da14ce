"""What a chat message says besides its tool calls: its text, its reasoning, its refusal.

The three never mix. A content in parts, as Anthropic's, is read as the text and the thinking of its parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from temp0.probe.dialect.field import object_at, text_at
from temp0.probe.dialect.partial import joined

REASONING = ("reasoning_content", "reasoning")
"""The names under which servers tell reasoning; some use both for the same."""


def text_and_reasoning(message: Mapping[str, object]) -> tuple[str | None, str | None]:
    """The text, `None` where it is null, and the reasoning, `None` where there is none.

    Raises:
        FieldError: The content is neither a text nor parts that can be read.

    """
    content = message.get("content")
    text: str | None
    if isinstance(content, list):
        text, thought = of_parts(content)
    else:
        text, thought = None if content is None else text_at(content, "choices[0].message.content"), ""
    fields = (message.get(field) for field in REASONING)
    return text, thought or next((value for value in fields if value and isinstance(value, str)), None)


def of_parts(parts: Sequence[object]) -> tuple[str, str]:
    """What the text parts join to, and what the thinking of the parts does."""
    told = [object_at(part, "choices[0].message.content[]") for part in parts]
    texts = [text_at(part.get("text"), "content[].text") for part in told if part.get("type") == "text"]
    thoughts = (part.get("thinking") for part in told)
    return joined(texts), joined(thought for thought in thoughts if isinstance(thought, str))


def refusal(message: Mapping[str, object]) -> str | None:
    """A refusal in words of its own, or `None`."""
    told = message.get("refusal")
    return told if told and isinstance(told, str) else None
