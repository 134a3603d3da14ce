"""What a file of another tool holds: answers by prompt, and what it does not tell.

Nothing is guessed: a time, an order or a parameter that the file has not is unknown in all that follows.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from temp0.core.plan import Message
from temp0.core.run import Completion, Failure, Untold


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer of a file: to which prompt, and the score that it was given there, if any."""

    prompt: str
    messages: tuple[Message, ...]
    outcome: Completion | Failure
    score: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """The answers of one file, by the tool that wrote it. `notes` say what was left out."""

    tool: str
    model: str
    answers: tuple[Answer, ...]
    untold: tuple[Untold, ...]
    notes: tuple[str, ...] = field(default_factory=tuple)


def user_turn(text: str) -> tuple[Message, ...]:
    """A prompt that is one text."""
    return (Message(role="user", content=text),)


def untold(answers: tuple[Answer, ...]) -> tuple[Untold, ...]:
    """What a file of these answers does not tell: whether any was replayed it tells where each has an id of its own."""
    completions = [one.outcome for one in answers if isinstance(one.outcome, Completion)]
    ids = [one.id for one in completions]
    has_ids = None not in ids and len(set(ids)) == len(ids)
    return ("company", "order", "parameters") if has_ids else ("company", "order", "parameters", "replays")
