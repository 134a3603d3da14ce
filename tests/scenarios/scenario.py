"""The words in which a scenario is written: what the server was asked, what it tells, and the play between them.

A play sees what a real server sees (the body, its own load, its own memory) and never which condition temp0 is in.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

FILLER_MAX_TOKENS = 16
"""temp0 cuts the twins that only keep company at this many tokens, so a play can leave them out of its count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request as the server sees it when it answers.

    `order` counts all requests of the scenario from 0, `before` those with the same last message. `in_flight` is how
    many were in flight as it came, itself included; `together` the most that were being worked on at once while it
    was. `previous` is the last message of the request that came before it, `cached` whether its prompt was in the
    prefix cache, and `since_s` the seconds since the scenario was opened.
    """

    body: Mapping[str, Any]
    headers: Mapping[str, str]
    prompt: str
    order: int
    before: int
    in_flight: int
    together: int
    previous: str | None
    cached: bool
    since_s: float

    @property
    def max_tokens(self) -> int:
        """The most tokens asked for."""
        return int(self.body.get("max_tokens", 16))

    @property
    def has_company(self) -> bool:
        """Whether another request was being worked on at the same time."""
        return self.together > 1

    @property
    def is_short(self) -> bool:
        """Whether it asks for no more than a filler does."""
        return self.max_tokens <= FILLER_MAX_TOKENS

    @property
    def wants_logprobs(self) -> bool:
        """Whether logprobs were asked for."""
        return bool(self.body.get("logprobs"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """A token as the server tells it: its text, its logprob, and the alternatives in the server's own order.

    `logprob` and those of the alternatives are written as they are, be they positive, NaN or null. `top` holds the
    token itself only where it is listed. `string` replaces the token's string where the server writes another one.
    """

    text: str
    logprob: Any = -0.05
    top: Sequence[tuple[str, Any]] = ()
    string: str | None = None


def spoken(text: str, margins: Mapping[int, tuple[float, Mapping[str, float]]] | None = None) -> tuple[Spoken, ...]:
    """Spell a text word by word; `margins` gives, by token, its logprob and those of others instead of a sure one."""
    words = [(" " if place else "") + word for place, word in enumerate(text.split(" "))] if text else []
    tokens = []
    for place, word in enumerate(words):
        logprob, others = (margins or {}).get(place, (-0.05, {" never": -4.0}))
        top = sorted([(word, logprob), *others.items()], key=lambda each: -each[1])
        tokens.append(Spoken(text=word, logprob=logprob, top=top))
    return tuple(tokens)


NOT_TOLD = object()
"""A field that the answer leaves out, which is not the same as null."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """An answer. What is `None` is made up by the server: a fresh id, the time of creation, tokens by words.

    `fingerprint` is written as it is, null included, unless it is `NOT_TOLD`. `events` replaces the events of a
    streamed answer, `body` the whole body of an unstreamed one. `cut` cuts the streamed bytes into the pieces that
    are sent one by one; a stream that `breaks` ends there without its end.
    """

    text: str | None = ""
    tokens: Sequence[Spoken] | None = None
    finish: str | None = "stop"
    id: str | None = None
    created: int | None = None
    model: str = "m"
    fingerprint: Any = NOT_TOLD
    headers: Mapping[str, str] = field(default_factory=dict)
    reasoning: str | None = None
    cached_tokens: int | None = None
    content: Sequence[Mapping[str, Any]] | None = None
    events: Sequence[Mapping[str, Any]] | None = None
    body: bytes | None = None
    cut: Callable[[bytes], Sequence[bytes]] | None = None
    breaks: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """No answer: a status with what the server says, or (`hangs`) silence, or (`status` 0) a connection cut."""

    status: int = 500
    message: str = "it broke"
    hangs: bool = False


class Scenario:
    """A play: the class says what kind of server this is, `answer` what it tells.

    `at_once` requests are worked on at a time, the rest wait. `means` names the engine whose ways of making the
    prefix cache cold are understood (`vllm`, `sglang`, `llamacpp`), `metrics` the engine whose gauge is shown, and
    `strangers` how many requests of others run all the time. `keeps_prefixes` turns the prefix cache on.
    """

    at_once: int = 1_000
    delay_s: float = 0.0
    means: str | None = None
    metrics: str | None = None
    strangers: int = 0
    keeps_prefixes: bool = False

    def __init__(self, **options: Any) -> None:
        for name, value in options.items():
            if not hasattr(type(self), name):
                raise TypeError(f"{type(self).__name__} has no {name}")
            setattr(self, name, value)
        self.chance = random.Random(7)

    def stay_s(self, _asked: Asked) -> float:
        """Give the seconds for which a request is worked on."""
        return self.delay_s

    def answer(self, asked: Asked) -> Told | Fault | str:
        """Tell what comes back; a bare text is a completion that stopped by itself."""
        raise NotImplementedError
