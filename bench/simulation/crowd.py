"""Strangers: how many of other people's requests a server is working on, over time.

A crowd is a row of pieces (until when, how many). Nobody who asks the endpoint sees it, unless the server's own
running count tells.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from random import Random

Piece = tuple[float, float]
_STEPS = 60


class Crowd:
    """How many strangers there are at a time; times must be asked for in order."""

    def __init__(self, pieces: Iterator[Piece]) -> None:
        self._pieces = pieces
        self._until_s, self._count = next(pieces)

    def at(self, time_s: float) -> float:
        """How many of their requests run at this time."""
        while time_s >= self._until_s:
            self._until_s, self._count = next(self._pieces)
        return self._count


def nobody() -> Crowd:
    """Nobody else, ever."""
    return Crowd(iter([(math.inf, 0.0)]))


def bursts(random: Random, *, quiet_s: float, busy_s: float, size: float) -> Crowd:
    """Nobody for a while, then many for a while, again and again; some of the whiles are very long."""

    def pieces() -> Iterator[Piece]:
        end_s, busy = 0.0, random.random() < 0.5
        while True:
            end_s += (busy_s if busy else quiet_s) * random.paretovariate(1.5) / 3
            yield end_s, size if busy else 0.0
            busy = not busy

    return Crowd(pieces())


def tide(random: Random, *, period_s: float, size: float) -> Crowd:
    """A load that rises and falls like that of a day, from a random hour on, and flickers."""

    def pieces() -> Iterator[Piece]:
        phase, step_s, end_s = random.random(), period_s / _STEPS, 0.0
        while True:
            height = (1 + math.sin(2 * math.pi * (end_s / period_s + phase))) / 2
            end_s += step_s
            yield end_s, max(0.0, size * height * random.uniform(0.5, 1.5))

    return Crowd(pieces())


def rising(random: Random, *, over_s: float, size: float) -> Crowd:
    """A load that grows from nobody to its full size, and flickers."""

    def pieces() -> Iterator[Piece]:
        step_s, end_s = over_s / _STEPS, 0.0
        while True:
            end_s += step_s
            yield end_s, size * min(1.0, end_s / over_s) * random.uniform(0.5, 1.5)

    return Crowd(pieces())


def steady(random: Random, *, piece_s: float, size: float) -> Crowd:
    """Always some, coming and going much faster than we ask: to us no two moments are related."""

    def pieces() -> Iterator[Piece]:
        end_s = 0.0
        while True:
            end_s += random.expovariate(1 / piece_s)
            yield end_s, float(random.randint(0, round(2 * size)))

    return Crowd(pieces())
