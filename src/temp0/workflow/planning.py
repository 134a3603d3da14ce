"""From what a user asks for to a plan: prompts from arguments, files or our own five, crossed with conditions.

Everything that can be wrong with a plan is said here, before anything is sent.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from temp0.core.plan import Condition, Message, Plan, Prompt
from temp0.errors import PlanError, PromptFileError
from temp0.workflow.preset import proposal
from temp0.workflow.varying import CacheChoice, FillerChoice, Said, Switch, check_count

DEFAULT_N = 30
DEFAULT_MAX_TOKENS = 160

_BUILT_IN = (
    ("A", 20, "List three prime numbers between 100 and 200."),
    ("B", 20, "What is 17*23+5*11? Show the steps and give the answer."),
    ("C", 20, "Give me one 12-word proverb about caching."),
    ("D", 30, "Write a haiku about a stale cache line."),
    ("E", 30, "Explain in one paragraph of about 60 words why temperature=0 is not always deterministic."),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """How often and how long to ask where a prompt does not say so itself; `None` leaves our defaults."""

    n: int | None = None
    max_tokens: int | None = None

    def __post_init__(self) -> None:
        """Refuse what no prompt could be asked with."""
        for name, value in (("n", self.n), ("max_tokens", self.max_tokens)):
            if value is not None:
                check_count(name, value)


def built_in_prompts(wish: Wish = Wish()) -> tuple[Prompt, ...]:
    """The five prompts of the public experiment that temp0 grew from."""
    return tuple(_prompt(name, text, wish, n=n) for name, n, text in _BUILT_IN)


def text_prompts(texts: Sequence[str], wish: Wish = Wish()) -> tuple[Prompt, ...]:
    """One prompt for each text, called p1, p2, ..."""
    return tuple(_prompt(f"p{number}", text, wish) for number, text in enumerate(texts, start=1))


def prompts_in(path: Path, wish: Wish = Wish()) -> tuple[Prompt, ...]:
    """The prompts of the file at a path; see `file_prompts`. Raises `PromptFileError` where it cannot be read."""
    try:
        with path.open(encoding="utf-8") as file:
            return file_prompts(file, str(path), wish)
    except OSError as error:
        raise PromptFileError(f"cannot read {path}: {error.strerror}") from error


def file_prompts(file: TextIO, name: str, wish: Wish = Wish()) -> tuple[Prompt, ...]:
    """The prompts of a file: one a line, or JSONL if its first line begins with a brace.

    A JSONL line is an object with `prompt` (a text) or `messages` (role and content each), and optionally `id`,
    `n` and `max_tokens`. Raises `PromptFileError` naming the line.
    """
    try:
        texts = (line.removeprefix("\ufeff") if number == 1 else line for number, line in enumerate(file, start=1))
        lines = [(number, text.strip("\r\n")) for number, text in enumerate(texts, start=1) if text.strip()]
    except UnicodeDecodeError as error:
        raise PromptFileError(f"{name} is not UTF-8 text: {error.reason} at byte {error.start}") from error
    if not lines:
        raise PromptFileError(f"{name} holds no prompt: expected one prompt a line, or JSONL")
    if not lines[0][1].lstrip().startswith("{"):
        return tuple(_prompt(f"p{place}", line, wish) for place, (_, line) in enumerate(lines, start=1))
    return tuple(
        _json_prompt(line, f"{name}, line {number}", f"p{place}", wish)
        for place, (number, line) in enumerate(lines, start=1)
    )


def conditions(
    *,
    company: int | Sequence[int] | None = None,
    filler: FillerChoice | None = None,
    cache: CacheChoice | None = None,
    logprobs: Switch | None = None,
    stream: Switch | None = None,
    alone: int | None = None,
) -> tuple[Condition, ...]:
    """All factors crossed, each at its default where nothing is said of it. `alone` counts attempts alone."""
    said = Said(company=company, filler=filler, cache=cache, logprobs=logprobs, stream=stream, alone=alone)
    return proposal(None, said).conditions


def plan(prompts: Sequence[Prompt], conditions: Sequence[Condition], *, seed: int = 0, exclusive: bool = False) -> Plan:
    """The plan that crosses prompts with conditions. Raises `PlanError` for what would be paid for in vain."""
    for prompt in prompts:
        if not any(message.content.strip() for message in prompt.messages):
            raise PlanError(f"prompt {prompt.id} is empty")
    return Plan(prompts=tuple(prompts), conditions=tuple(conditions), seed=seed, exclusive=exclusive)


def _prompt(name: str, text: str, wish: Wish, *, n: int = DEFAULT_N) -> Prompt:
    return _asked(name, (Message(role="user", content=text),), wish, n, DEFAULT_MAX_TOKENS)


def _asked(name: str, messages: tuple[Message, ...], wish: Wish, n: int, max_tokens: int) -> Prompt:
    return Prompt(
        id=name,
        messages=messages,
        n=n if wish.n is None else wish.n,
        max_tokens=max_tokens if wish.max_tokens is None else wish.max_tokens,
    )


def _json_prompt(line: str, where: str, name: str, wish: Wish) -> Prompt:
    """One JSONL line. What the line itself says of `n` and `max_tokens` goes before the wish."""
    try:
        fields = json.loads(line)
    except json.JSONDecodeError as error:
        raise PromptFileError(f"{where} is not JSON: {error.msg} at column {error.colno}") from error
    except (ValueError, RecursionError) as error:
        raise PromptFileError(f"{where} holds a number or a nesting that cannot be read: {error}") from error
    if not isinstance(fields, dict):
        raise PromptFileError(f"{where} is not a JSON object with `prompt` or `messages`")
    n = _count(fields, "n", where)
    max_tokens = _count(fields, "max_tokens", where)
    return _asked(
        _identity(fields, name, where),
        tuple(_messages(fields, where)),
        Wish(n=n or wish.n, max_tokens=max_tokens or wish.max_tokens),
        DEFAULT_N,
        DEFAULT_MAX_TOKENS,
    )


def _identity(fields: Mapping[str, object], name: str, where: str) -> str:
    value = fields.get("id", name)
    if not isinstance(value, str | int) or isinstance(value, bool) or value == "":
        raise PromptFileError(f"{where}: id is {value!r}, expected a text or a whole number")
    return str(value)


def _count(fields: Mapping[str, object], field: str, where: str) -> int | None:
    value = fields.get(field)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise PromptFileError(f"{where}: {field} is {value!r}, expected a whole number of at least 1")
    return value


def _messages(fields: Mapping[str, object], where: str) -> Iterator[Message]:
    if isinstance(text := fields.get("prompt"), str) and "messages" not in fields:
        yield Message(role="user", content=text)
        return
    turns = fields.get("messages")
    if not isinstance(turns, list) or not turns or "prompt" in fields:
        raise PromptFileError(f"{where}: expected either `prompt` (a text) or `messages` (a list that is not empty)")
    for turn in turns:
        if not isinstance(turn, dict) or not isinstance(turn.get("role"), str):
            raise PromptFileError(f"{where}: a message is {turn!r}, expected an object with `role` and `content`")
        if not isinstance(turn.get("content"), str):
            raise PromptFileError(f"{where}: a message's content is {turn.get('content')!r}, expected a text")
        yield Message(role=turn["role"], content=turn["content"])
