"""What a file of another tool holds: answers by prompt, and what it does not tell.

Nothing is guessed: a time, an order or a parameter that the file has not is unknown in all that follows.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from sys import float_info
from typing import Literal

import msgspec
from msgspec import Struct

from temp0.core.plan import Message
from temp0.core.run import Completion, Failure, ToolCall, Untold
from temp0.core.text import sha256

Numeric = bool | int | float


class Turn(Struct):
    """A turn of a conversation as the tools write it: one text, or parts of which some may be no text."""

    role: str
    content: str | list[str | dict[str, object]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer of a file.

    `prompt` is the name that the file has for what was asked, `None` where that is known by its words alone; `messages`
    are empty where only the name is known. `score` is what the answer was given there, and `parsed` what was read out
    of it for that. `uid` tells the answer from any other; an answer that stands in two files is known by it.
    `temperature` is what the file says was sent, `unset` where it says that none was.
    """

    prompt: str | None
    messages: tuple[Message, ...]
    outcome: Completion | Failure
    score: float | None = None
    parsed: str | None = None
    uid: str | None = None
    temperature: float | Literal["unset"] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """The answers of one file, by the tool that wrote it.

    `untold` is what it does not tell, and `notes` say what was left out. `scored_by` names the score. Answers of a file
    without `has_texts` are no words: they only stand for what was scored.
    """

    tool: str
    model: str
    answers: tuple[Answer, ...]
    untold: tuple[Untold, ...]
    notes: tuple[str, ...] = ()
    scored_by: str | None = None
    has_texts: bool = True


def user_turn(text: str) -> tuple[Message, ...]:
    """A prompt that is one text."""
    return (Message(role="user", content=text),)


def conversation(turns: Sequence[Turn]) -> tuple[Message, ...]:
    """A prompt of several turns."""
    return tuple(Message(role=turn.role, content=words(turn.content)) for turn in turns)


def written_conversation(text: str) -> tuple[Message, ...]:
    """A prompt that may be a conversation written as JSON; anything else is one text."""
    try:
        return conversation(msgspec.json.decode(text, type=list[Turn])) or user_turn(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return user_turn(text)


def words(content: str | Sequence[str | dict[str, object]] | None) -> str:
    """The text of a turn; a part that is no text stands as its kind and hash, so that other pictures are told apart."""
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(one if isinstance(one, str) else _part(one) for one in content)


def _part(part: dict[str, object]) -> str:
    text = part.get("text")
    if isinstance(text, str):
        return text
    return f"[{part.get('type')} {sha256(json.dumps(part, sort_keys=True))[:12]}]"


def number(value: object) -> float | None:
    """A score that is a finite number, or whether it is right."""
    return float(value) if isinstance(value, Numeric) and abs(value) <= float_info.max else None


def untold(answers: Sequence[Answer]) -> tuple[Untold, ...]:
    """What a file of these answers does not tell: whether any was replayed it tells where each has an id of its own."""
    completions = [one.outcome for one in answers if isinstance(one.outcome, Completion)]
    ids = [one.id for one in completions]
    has_ids = None not in ids and len(set(ids)) == len(ids)
    return ("company", "order", "parameters") if has_ids else ("company", "order", "parameters", "replays")


def commonest(models: Sequence[str | None]) -> str:
    """The model that most answers name, `unknown` where none does."""
    named = Counter(model for model in models if model)
    return named.most_common(1)[0][0] if named else "unknown"


def models_of(answers: Sequence[Answer]) -> tuple[str | None, ...]:
    """The model that each completion names."""
    return tuple(one.outcome.model for one in answers if isinstance(one.outcome, Completion))


def tools_called(calls: object) -> tuple[ToolCall, ...]:
    """The calls in a list as OpenAI has it."""
    named = [call.get("function") for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    return tuple(tool_call(one.get("name"), one.get("arguments")) for one in named if isinstance(one, dict))


def tool_call(name: object, arguments: object) -> ToolCall:
    """A call whose arguments may have been read as JSON already."""
    told = arguments if isinstance(arguments, str) else json.dumps(arguments, sort_keys=True)
    return ToolCall(name=str(name), arguments=told)


def merged(logs: Sequence[Log]) -> tuple[Answer, ...]:
    """The answers of several files, each once: one whose uid was seen before is the same answer."""
    seen: dict[str, Answer] = {}
    everything = chain.from_iterable(log.answers for log in logs)
    return tuple(one for one in everything if one.uid is None or seen.setdefault(one.uid, one) is one)
