"""What is asked to price invariance, and in which order.

The sides take turns: at every number in flight the one that went first in a round goes last in the next, so that a
machine which grows slower or faster does so for both alike. While one side is asked the others are idle.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from typing import Literal

from temp0.core.plan import Prompt
from temp0.errors import PlanError

SideName = Literal["stock", "invariant", "equal-bytes"]
"""`equal-bytes` is the invariant side once more, with its weights kept as wide as those of the stock side."""

READINGS = 2
"""Fresh prompts whose time to first token is taken on each side in each round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One measurement of one side: requests with `in_flight` under way at once.

    Without `in_flight` it is the time to first token of one fresh prompt, the `passage`-th of the round, alone.
    """

    round: int
    side: SideName
    in_flight: int | None = None
    passage: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TaxPlan:
    """Prompts, the numbers in flight to ask them at, and how often.

    Every answer has `max_tokens` tokens; `ttft_tokens` is the length of the prompts whose first token is waited for;
    at the numbers in `equal_bytes` the side of that name is asked too.
    """

    prompts: tuple[Prompt, ...]
    in_flight: tuple[int, ...]
    rounds: int
    max_tokens: int
    ttft_tokens: int
    equal_bytes: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a plan that could not be carried out."""
        counts = [("rounds", self.rounds), ("max_tokens", self.max_tokens), ("ttft_tokens", self.ttft_tokens)]
        for name, count in [*counts, *(("in_flight", level) for level in self.in_flight)]:
            if count < 1:
                raise PlanError(f"{name} is {count}, expected at least 1")
        if not self.prompts or not self.in_flight:
            raise PlanError("a price needs at least one prompt and one number in flight")
        if repeated := [name for name, count in Counter(prompt.id for prompt in self.prompts).items() if count > 1]:
            raise PlanError(f"prompt id {repeated[0]!r} appears more than once")
        if foreign := set(self.equal_bytes) - set(self.in_flight):
            raise PlanError(f"equal bytes are asked for at {min(foreign)} in flight, which is not among those measured")

    @property
    def sides(self) -> tuple[SideName, ...]:
        """The sides that are asked at all."""
        return ("stock", "invariant", "equal-bytes") if self.equal_bytes else ("stock", "invariant")

    def requests(self, in_flight: int) -> int:
        """How many requests a step sends: every prompt at least once, and full company throughout.

        >>> from temp0.core.plan import Message, Prompt
        >>> five = tuple(Prompt(id=name, messages=(), n=1, max_tokens=1) for name in "ABCDE")
        >>> plan = TaxPlan(prompts=five, in_flight=(1,), rounds=1, max_tokens=1, ttft_tokens=1)
        >>> plan.requests(1), plan.requests(4), plan.requests(32)
        (5, 8, 32)
        """
        return in_flight * ceil(len(self.prompts) / in_flight)

    def asked(self, step: Step) -> tuple[Prompt, ...]:
        """The prompts of a step, in order: the same for every side, and begun with another one in each round."""
        if step.in_flight is None:
            return ()
        places = range(step.round, step.round + self.requests(step.in_flight))
        return tuple(self.prompts[place % len(self.prompts)] for place in places)

    def steps(self) -> tuple[Step, ...]:
        """All measurements in the order in which they are made."""
        return tuple(step for number in range(self.rounds) for step in self._round(number))

    def _round(self, number: int) -> Iterator[Step]:
        for place, level in enumerate(self.in_flight):
            both: tuple[SideName, ...] = ("stock", "invariant")
            sides = self.sides if level in self.equal_bytes else both
            for side in _turn(sides, number + place):
                yield Step(round=number, side=side, in_flight=level)
        for passage in range(READINGS):
            for side in _turn(self.sides, number + passage):
                yield Step(round=number, side=side, passage=passage)


def _turn(sides: tuple[SideName, ...], number: int) -> tuple[SideName, ...]:
    return sides[::-1] if number % 2 else sides
