"""How long an answer takes: lognormal, with a heavy tail now and then.

Real delays have no normal distribution: most are alike, and a few are many times longer (a queue, a retry behind a
gateway, a cold replica).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random

LONGEST_S = 90.0
_TAIL = 1.3
"""The exponent of the Pareto tail: below 2 the variance is infinite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delay:
    """The time of a whole answer alone; `spread` is the deviation of its logarithm, `tail` the share delayed."""

    median_s: float
    spread: float
    tail: float

    def draw(self, random: Random) -> float:
        """One answer's seconds."""
        seconds = self.median_s * math.exp(random.gauss(0.0, self.spread))
        if random.random() < self.tail:
            seconds *= random.paretovariate(_TAIL)
        return min(seconds, LONGEST_S)


LOCAL = Delay(median_s=0.3, spread=0.05, tail=0.01)
QUICK = Delay(median_s=0.02, spread=0.2, tail=0.02)
HOSTED = Delay(median_s=1.2, spread=0.45, tail=0.05)
"""A model on the user's own machine, a small one, and an API that many people use."""

DELAYS = (LOCAL, QUICK, HOSTED)
