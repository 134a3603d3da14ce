"""Truths of chance: what decides which text an answer is, where nothing that we do has to do with it.

A truth says for every request a variant of its prompt's text; 0 is the usual one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Protocol

from simulation.server import Request
from simulation.writing import FRESH


class Truth(Protocol):
    """Decides a text: what hangs on the state of the server as it begins, the rest as it ends."""

    def begin(self, request: Request) -> None:
        """The server begins with a request."""

    def variant(self, request: Request) -> int:
        """Which text the answer to it is."""


@dataclass(slots=True, kw_only=True)
class Steady:
    """Always the usual text."""

    def begin(self, request: Request) -> None:
        """Nothing is decided here."""

    def variant(self, request: Request) -> int:  # noqa: ARG002 - a truth is asked about a request
        """The usual one."""
        return 0


def zipf(texts: int, exponent: float = 1.0) -> list[float]:
    """Shares of so many texts, the second half as common as the first, the third a third."""
    weights = [1 / rank**exponent for rank in range(1, texts + 1)]
    return [weight / sum(weights) for weight in weights]


def shares(rate: float, texts: int) -> list[float]:
    """Shares of the usual text and of `texts` others, which have `rate` together."""
    return [1 - rate, *(rate * share for share in zipf(texts))]


@dataclass(slots=True, kw_only=True)
class Fresh:
    """Variants that no answer had before."""

    _last: int = FRESH

    def next(self) -> int:
        """A new one."""
        self._last += 1
        return self._last


@dataclass(slots=True, kw_only=True)
class Independent(Steady):
    """Every answer is drawn by itself from the same shares; with `fresh`, what is not usual never comes twice."""

    random: Random
    shares: Sequence[float]
    fresh: bool = False
    _fresh: Fresh = field(default_factory=Fresh)

    def variant(self, request: Request) -> int:  # noqa: ARG002 - nothing about it counts
        """One draw."""
        variant = self.random.choices(range(len(self.shares)), self.shares)[0]
        return self._fresh.next() if self.fresh and variant else variant


@dataclass(slots=True, kw_only=True)
class Shared(Steady):
    """Answers of one block take the text drawn for the block with chance `together`, else one of their own.

    Its shares are those of every single answer; within a block answers are alike, as twins of one computation are.
    """

    random: Random
    shares: Sequence[float]
    together: float
    _of_block: dict[int, int] = field(default_factory=dict)

    def variant(self, request: Request) -> int:
        """The block's text or another."""
        own, of_block = self.random.choices(range(len(self.shares)), self.shares, k=2)
        of_block = self._of_block.setdefault(request.block, of_block)
        return of_block if self.random.random() < self.together else own


@dataclass(slots=True, kw_only=True)
class Crowded(Steady):
    """Another text the likelier, the more strangers run beside us: `rate` for each, up to `most`."""

    random: Random
    rate: float
    most: float = 0.6
    texts: int = 4

    def variant(self, request: Request) -> int:
        """A draw whose odds nobody outside sees."""
        odds = min(self.most, self.rate * request.strangers)
        return self.random.choices(range(self.texts + 1), shares(odds, self.texts))[0]
