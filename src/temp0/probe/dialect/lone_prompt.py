"""The one text that a question is, for dialects that take a text in place of messages.

Nothing is put together by a template of ours: what a model was trained to read between two turns only its server knows,
and a guess would measure another prompt than the one that was meant.
"""

from __future__ import annotations

from collections.abc import Sequence

from temp0.core.plan import Message
from temp0.errors import UsageError


def lone_prompt(messages: Sequence[Message], *, dialect: str) -> str:
    """The content of the one message, which has to be a user's.

    Raises:
        UsageError: There are other messages, or none.

    """
    if [turn.role for turn in messages] == ["user"]:
        return messages[0].content
    roles = ", ".join(turn.role for turn in messages) or "none"
    raise UsageError(
        f"the dialect {dialect} sends one text, so a prompt must be one message of a user's; here the messages are: "
        f"{roles}. Ask in a dialect that has messages, or give the whole text as the prompt"
    )


def begun_prompt(messages: Sequence[Message], *, dialect: str) -> str:
    """The lone prompt, and after it as it is what a last message of the assistant's has begun to answer.

    Raises:
        UsageError: There are other messages than these.

    """
    begun = [turn.content for turn in messages[-1:] if turn.role == "assistant"]
    return lone_prompt(messages[: len(messages) - len(begun)], dialect=dialect) + "".join(begun)
