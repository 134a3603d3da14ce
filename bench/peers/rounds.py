"""Measures all contenders at one number of requests in flight, in rounds whose order rotates.

Every server is up while a level is measured, and only one is being asked; what the idle ones use of the processor is
measured too, since a server that spins would slow the others. A contender that fails is left out of the level with
its reason, and stops nobody else.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from peers import client
from peers.client import Load
from peers.contender import Contender
from peers.environment import FOLDER, NotMeasuredError
from peers.serving import Server, serving

_Item = TypeVar("_Item")
_IDLE_S = 1.0
_WARM_UP_TOKENS = 8
_TRIAL_TOKENS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How much is asked: rounds, tokens of each answer, prompts, and lengths of the prompts for the first token.

    `logs` is the folder that takes what the servers say.
    """

    rounds: int
    max_tokens: int
    prompts: tuple[str, ...]
    first_token_prompts: tuple[int, ...]
    logs: Path = FOLDER / "log"

    def load(self, in_flight: int, *, max_tokens: int | None = None) -> Load:
        """Whole waves of requests, as many as let every prompt be asked."""
        waves = -(-len(self.prompts) // in_flight)
        return Load(
            prompts=self.prompts,
            in_flight=in_flight,
            requests=waves * in_flight,
            max_tokens=max_tokens or self.max_tokens,
        )


@dataclass(slots=True, kw_only=True)
class Level:
    """What one number of requests in flight gave, by contender: tokens/s of each round, slots, and why there is none.

    `first_token_s[prompt length]` are seconds to the first token, `idle` shares of one core used while idle (None
    where nobody tells), `about` what each server says of itself, `prompt_tokens` its count of each prompt.
    """

    in_flight: int
    rates: dict[str, list[float]] = field(default_factory=dict)
    first_token_s: dict[int, dict[str, list[float]]] = field(default_factory=dict)
    slots: dict[str, int] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    idle: dict[str, float | None] = field(default_factory=dict)
    about: dict[str, str] = field(default_factory=dict)
    prompt_tokens: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def leave_out(self, name: str, why: str) -> None:
        """Take a contender's figures out of the level and keep the reason."""
        progress(f"{name}: not measured: {why}")
        self.missing[name] = why
        for figures in (self.rates, *self.first_token_s.values()):
            figures.pop(name, None)


def measured(in_flight: int, contenders: Sequence[Contender], effort: Effort) -> Level:
    """All rounds of one level; the time to the first token is measured where one request is in flight."""
    level = Level(in_flight=in_flight)
    with ExitStack() as stack:
        servers = {}
        for contender in contenders:
            try:
                servers[contender.name] = _started(contender, level, effort, stack)
            except NotMeasuredError as error:
                level.leave_out(contender.name, str(error))
        level.idle.update(_idle_shares(servers))
        for round_number in range(effort.rounds):
            _each(servers, round_number, level, lambda name, server: _rate(name, server, level, effort))
        if in_flight == 1:
            _first_tokens(servers, level, effort)
    return level


def rotated(items: Sequence[_Item], round_number: int) -> list[_Item]:
    """The items from another first one in each round.

    >>> rotated("abc", 1)
    ['b', 'c', 'a']
    """
    first = round_number % len(items) if items else 0
    return [*items[first:], *items[:first]]


def progress(line: str) -> None:
    """Tell whoever waits."""
    print(line, file=sys.stderr, flush=True)


def _started(contender: Contender, level: Level, effort: Effort, stack: ExitStack) -> Server:
    name, in_flight = contender.name, level.in_flight
    level.slots[name] = _best_slots(contender, in_flight, effort)
    server = stack.enter_context(_serving(contender, level.slots[name], effort.logs))
    level.about[name] = server.about
    level.prompt_tokens[name] = tuple(client.prompt_tokens(server.url, prompt) for prompt in effort.prompts)
    client.tokens_per_second(server.url, effort.load(in_flight, max_tokens=_WARM_UP_TOKENS))
    level.rates[name] = []
    return server


def _best_slots(contender: Contender, in_flight: int, effort: Effort) -> int:
    """The number of slots that gave the most tokens/s in two short trials of each."""
    choices = contender.slots(in_flight)
    if len(choices) == 1:
        return choices[0]
    rates = {}
    for slots in choices:
        with _serving(contender, slots, effort.logs) as server:
            load = effort.load(in_flight, max_tokens=_TRIAL_TOKENS)
            rates[slots] = max(client.tokens_per_second(server.url, load) for _ in range(2))
    told = ", ".join(f"{rate:.0f} tokens/s with {slots} slots" for slots, rate in rates.items())
    progress(f"{contender.name}, {in_flight} in flight: {told}")
    return max(rates, key=rates.__getitem__)


def _serving(contender: Contender, slots: int, logs: Path) -> AbstractContextManager[Server]:
    log = logs / f"{contender.name.replace(' ', '-')}-{slots}.log"
    return serving(contender.command(slots), log, environment=contender.environment)


def _idle_shares(servers: Mapping[str, Server]) -> dict[str, float | None]:
    before = {name: server.processor_seconds() for name, server in servers.items()}
    time.sleep(_IDLE_S)
    after = {name: server.processor_seconds() for name, server in servers.items()}
    return {name: _share(before[name], after[name]) for name in servers}


def _share(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else (after - before) / _IDLE_S


def _each(
    servers: Mapping[str, Server], round_number: int, level: Level, measure: Callable[[str, Server], None]
) -> None:
    """Measure every server that has not failed yet, one after another."""
    for name in rotated(list(servers), round_number):
        if name in level.missing:
            continue
        try:
            measure(name, servers[name])
        except NotMeasuredError as error:
            level.leave_out(name, str(error))


def _rate(name: str, server: Server, level: Level, effort: Effort) -> None:
    rate = client.tokens_per_second(server.url, effort.load(level.in_flight))
    level.rates[name].append(rate)
    progress(f"{level.in_flight} in flight, round {len(level.rates[name])}, {name}: {rate:.1f} tokens/s")


def _first_tokens(servers: Mapping[str, Server], level: Level, effort: Effort) -> None:
    able = [server for name, server in servers.items() if name not in level.missing]
    for tokens in effort.first_token_prompts if able else ():
        prompt = client.prompt_of(tokens, able[0].url)
        seconds: dict[str, list[float]] = {name: [] for name in servers if name not in level.missing}
        level.first_token_s[tokens] = seconds

        def measure(name: str, server: Server, prompt: str = prompt, seconds: dict[str, list[float]] = seconds) -> None:
            seconds[name].append(client.first_token_seconds(server.url, prompt))

        for round_number in range(effort.rounds):
            _each(servers, round_number, level, measure)
        progress(f"time to first token of {tokens} tokens: done")
