"""Endpoints with more than one machine behind them, and some that only seem to have."""

from __future__ import annotations

import random
from collections.abc import Sequence

from scenario import NOT_TOLD, Asked, Scenario, Told


def shuffled(*counted: tuple[tuple[object, str], int]) -> list[tuple[object, str]]:
    """Give each pair of a value and a text as often as it is counted, in an order that tells nothing."""
    pairs = [pair for pair, count in counted for _ in range(count)]
    random.Random(11).shuffle(pairs)
    return pairs


class Replicas(Scenario):
    """Answers with a value and a text from `pattern` in turn, however often it has to begin again.

    `told_in` says where the value stands: `fingerprint`, `model`, or the name of a header. `absent` is the value
    that leaves the field out.
    """

    pattern: Sequence[tuple[object, str]] = ()
    told_in: str = "fingerprint"

    def answer(self, asked: Asked) -> Told:
        value, text = self.pattern[asked.order % len(self.pattern)]
        if self.told_in == "fingerprint":
            return Told(text=text, fingerprint=NOT_TOLD if value == "absent" else value)
        if self.told_in == "model":
            return Told(text=text, model=str(value))
        return Told(text=text, headers={self.told_in: str(value)})


class NewFingerprints(Scenario):
    """A fingerprint of its own with every answer, and two texts by chance."""

    def answer(self, asked: Asked) -> Told:
        return Told(text="ab"[self.chance.random() < 0.5], fingerprint=f"fp_{asked.order:04}")
