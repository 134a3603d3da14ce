"""What happened: the record of a plan carried out.

A run is fact. It holds what was sent, what came back and when, and no opinion about any of it; the order in which
its attempts are stored carries no meaning, since each attempt records its own place.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal

from temp0.core.plan import Block, Cache, Message, Plan, sizes

Role = Literal["judged", "filler"]
Untold = Literal["company", "order", "parameters", "replays"]
"""What the files of another tool may not tell: what else was in flight, in which order and when, with which parameters
it was really asked, and whether answers were computed or replayed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One request as it is meant: greedy, with nothing left to a server's default that we can say.

    Not `greedy` only where the user goes on at an endpoint that refuses a temperature.
    """

    messages: tuple[Message, ...]
    max_tokens: int
    logprobs: bool = False
    stream: bool = False
    cache: Cache = "as-found"
    greedy: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """A token that could have been chosen at a position, with its logprob (natural logarithm)."""

    bytes: bytes
    logprob: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """One token of a completion as the server told it: its bytes, and its logprob where it was asked for."""

    bytes: bytes
    id: int | None = None
    logprob: float | None = None
    top: tuple[Alternative, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens as the server counted them; `None` where it did not say."""

    prompt: int | None = None
    completion: int | None = None
    cached: int | None = None
    reasoning: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A tool that the model wants called. `arguments` is the text as told; the id, new in each answer, is not kept."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """The answer of an attempt. `text` is kept code point by code point, never normalised.

    Reasoning, tool calls and a refusal in words of its own are no part of the text.
    """

    text: str
    finish: str | None = None
    tokens: tuple[Token, ...] | None = None
    reasoning: str | None = None
    usage: Usage = Usage()
    model: str | None = None
    fingerprint: str | None = None
    id: str | None = None
    created: int | None = None
    headers: tuple[tuple[str, str], ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    refusal: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An attempt without a whole answer: a short reason to count by, and what was seen, keys redacted."""

    reason: str
    message: str
    status: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One request actually sent, and what came of it.

    Times are seconds since the run was created. `order` is its place among all attempts of the run, `predecessor`
    the order of the attempt sent before it, `in_flight` the number of our requests in flight as it left, itself
    included. `sent` is the exact body, which never holds a key; `received` is the SHA-256 (hexadecimal) of the raw body
    that came back, where it was kept.
    """

    order: int
    prompt: str
    condition: str
    block: int
    role: Role
    started_s: float
    first_byte_s: float | None
    ended_s: float
    in_flight: int
    predecessor: int | None
    outcome: Completion | Failure
    sent: bytes | None = None
    received: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The server's own count of running requests at one moment of a block."""

    at_s: float
    block: int
    running: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Which endpoint was asked: where, in which dialect, for which model. Holds no key.

    `extra` is the JSON object that the user had merged into each body, `""` where none was; `headers` names, in lower
    case and separated by spaces, the headers of the user's own, whose values are not kept.
    """

    url: str
    api: str
    model: str
    extra: str = ""
    headers: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The record of a plan carried out; `created` is an ISO 8601 time in UTC.

    `cold_by` says by what means of the server the prefix cache was made cold, where the plan asked for that. `untold`
    is what a run that was imported does not tell; times and places in its attempts mean nothing.
    """

    id: str
    created: str
    address: Address
    plan: Plan
    cold_by: str | None = None
    untold: tuple[Untold, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    samples: tuple[Sample, ...] = ()

    def remaining(self) -> tuple[Block, ...]:
        """The blocks still to be asked: those never begun, and new ones for what others lack.

        A judged attempt that failed is asked again, in a new block of the same condition; what was recorded stays.
        """
        begun = {attempt.block for attempt in self.attempts}
        planned = self.plan.blocks()
        untouched = [block for block in planned if block.index not in begun]
        have = Counter(
            (attempt.prompt, attempt.condition)
            for attempt in self.attempts
            if attempt.role == "judged" and isinstance(attempt.outcome, Completion)
        )
        for block in untouched:
            have[block.prompt.id, block.condition.name] += block.size
        lacking = [
            (prompt, condition, size)
            for prompt in self.plan.prompts
            for condition in self.plan.conditions
            for size in sizes(self.plan.judged(prompt, condition) - have[prompt.id, condition.name], condition.company)
        ]
        first = max([len(planned) - 1, *begun]) + 1
        again = [
            Block(index=index, prompt=prompt, condition=condition, size=size)
            for index, (prompt, condition, size) in enumerate(lacking, start=first)
        ]
        return (*untouched, *again)
