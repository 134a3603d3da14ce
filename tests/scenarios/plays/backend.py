"""Endpoints with more than one machine behind them, and some that only seem to have."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from scenario import NOT_TOLD, Asked, Scenario, Told

from plays.hour import NEW, OLD


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


class LeastLoaded(Scenario):
    """Two machines of which the idler one answers, the first of two that are equally idle: alone always the first.

    With `batches` both compute another text in company, whichever answers.
    """

    delay_s: float = 0.05
    batches: bool = False

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.load = [0, 0]
        self.machine_of: dict[int, int] = {}

    def stay_s(self, asked: Asked) -> float:
        machine = self.load.index(min(self.load))
        self.load[machine] += 1
        self.machine_of[asked.order] = machine
        return self.delay_s

    def answer(self, asked: Asked) -> Told:
        machine = self.machine_of.pop(asked.order)
        self.load[machine] -= 1
        is_new = asked.has_company if self.batches else machine == 1
        return Told(text=f"{NEW if is_new else OLD} {asked.prompt}", fingerprint=f"fp_{machine}")


class DriftPastRelease(Scenario):
    """A text that becomes likelier from request to request, and a fingerprint that changes once, at request `at`."""

    at: int = 0
    length: int = 1

    def answer(self, asked: Asked) -> Told:
        text = NEW if self.chance.random() < asked.order / self.length else OLD
        return Told(text=f"{text} {asked.prompt}", fingerprint="fp_old" if asked.order < self.at else "fp_new")
