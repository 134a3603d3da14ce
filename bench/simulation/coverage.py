"""How often the intervals of the analysis hold what they should: endpoints whose agreement and variant rate are known.

Agreement: pairwise identity, in the mean over the pairs that the plan makes. Variant rate: the chance that a block
holds a text unlike the usual one. Both are computed from the endpoint's shares in closed form, never from its runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb

from simulation.conditions import ALONE
from simulation.scene import Scene, Setting, plan, played
from simulation.truth import Independent, Shared, Truth, shares, zipf
from temp0.core.analysis import ConditionAnalysis
from temp0.core.plan import Condition, sizes
from temp0.core.run import Run

TOGETHER = (Condition(company=8),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """An endpoint whose answers have these shares; in a block they take the block's text with chance `together`.

    With `fresh` all that is not the usual text never comes twice.
    """

    name: str
    shares: Sequence[float]
    together: float = 0.0
    fresh: bool = False
    conditions: tuple[Condition, ...] = ALONE

    def identity(self, n: int) -> float:
        """The mean chance that two of n completions are identical, over all pairs: in one block, and in two."""
        across = self.identity_across()
        within = self.together**2 + (1 - self.together**2) * across
        inside = sum(comb(size, 2) for size in self._sizes(n))
        return (inside * within + (comb(n, 2) - inside) * across) / comb(n, 2)

    def identity_across(self) -> float:
        """The chance that two completions of different blocks are identical."""
        return sum(share**2 for share in self._repeated)

    def variant_rate(self, n: int) -> float:
        """The mean chance that a block holds a text unlike the commonest, over the blocks of n."""
        most, apart = max(self._repeated), 1 - self.together
        clean = [
            most * (self.together + apart * most) ** size + (1 - most) * (apart * most) ** size
            for size in self._sizes(n)
        ]
        return 1 - sum(clean) / len(clean)

    @property
    def _repeated(self) -> Sequence[float]:
        """The shares of texts that may come twice."""
        return self.shares[:1] if self.fresh else self.shares

    def _sizes(self, n: int) -> list[int]:
        return sizes(n, self.conditions[0].company)

    def play(self, n: int, seed: int) -> Run:
        """A run of it: one prompt, n times."""
        planned = plan(self.conditions, n=n, prompts=1, seed=seed)
        setting = Setting(plan=planned, seed=f"coverage, {self.name}, {n}, {seed}")
        return played(setting, Scene(truth=self._truth(setting), right=frozenset()))

    def _truth(self, setting: Setting) -> Truth:
        random = setting.random("truth")
        if self.together:
            return Shared(random=random, shares=self.shares, together=self.together)
        return Independent(random=random, shares=self.shares, fresh=self.fresh)


KNOWN = (
    Known(name="alone: 0.5 % over 3 texts", shares=shares(0.005, 3)),
    Known(name="alone: 2 % over 3 texts", shares=shares(0.02, 3)),
    Known(name="alone: 10 % over 5 texts", shares=shares(0.1, 5)),
    Known(name="alone: 10 %, none seen twice", shares=[0.9, 0.1], fresh=True),
    Known(name="alone: 40 % over 5 texts", shares=shares(0.4, 5)),
    Known(name="alone: two texts, half each", shares=[0.5, 0.5]),
    Known(name="alone: 20 texts by Zipf's law", shares=zipf(20)),
    Known(name="alone: all distinct", shares=[0.0, 1.0], fresh=True),
    Known(name="of 8, each by itself: 10 % over 5 texts", shares=shares(0.1, 5), conditions=TOGETHER),
    Known(name="of 8, each by itself: 40 % over 5 texts", shares=shares(0.4, 5), conditions=TOGETHER),
    Known(name="of 8, half together: 10 % over 5 texts", shares=shares(0.1, 5), together=0.5, conditions=TOGETHER),
    Known(name="of 8, half together: 40 % over 5 texts", shares=shares(0.4, 5), together=0.5, conditions=TOGETHER),
    Known(name="of 8, half together: 20 texts by Zipf's law", shares=zipf(20), together=0.5, conditions=TOGETHER),
    Known(name="of 8, all together: 10 % over 5 texts", shares=shares(0.1, 5), together=1.0, conditions=TOGETHER),
    Known(name="of 8, all together: 20 texts by Zipf's law", shares=zipf(20), together=1.0, conditions=TOGETHER),
)


@dataclass(slots=True, kw_only=True)
class Cover:
    """How often an interval was given, how often it missed the truth, and the sum of its widths.

    An interval that is not given misses nothing, as one from 0 to 1 would: `held` is the share of all runs without a
    miss, `held_where_given` that of the runs that gave one, which is lower where giving it hangs on what was seen.
    """

    runs: int = 0
    given: int = 0
    missed: int = 0
    width: float = 0.0

    def add(self, ends: tuple[float, float] | None, truth: float) -> None:
        """Count one interval, or that there was none."""
        self.runs += 1
        if ends is not None:
            low, high = ends
            self.given += 1
            self.missed += not low - 1e-12 <= truth <= high + 1e-12
            self.width += high - low

    def merge(self, other: Cover) -> None:
        """Add the counts of other runs."""
        self.runs, self.given = self.runs + other.runs, self.given + other.given
        self.missed, self.width = self.missed + other.missed, self.width + other.width

    @property
    def held(self) -> float:
        """The share of all runs in which no interval missed the truth."""
        return 1 - self.missed / self.runs

    @property
    def held_where_given(self) -> float | None:
        """The share of the intervals given that held the truth."""
        return 1 - self.missed / self.given if self.given else None


def agreement(condition: ConditionAnalysis) -> tuple[float, float] | None:
    """The interval of agreement; one-sided, where all completions were equal, it ends at 1."""
    told = condition.agreement
    if told is None or told.low is None:
        return None
    return told.low, 1.0 if told.high is None else told.high


def variant_rate(condition: ConditionAnalysis) -> tuple[float, float] | None:
    """The interval under the bound of the variant rate, given only where one text has more than half."""
    upper = condition.variant_rate_upper
    return None if upper is None else (0.0, upper)


INTERVALS: dict[
    str, tuple[Callable[[ConditionAnalysis], tuple[float, float] | None], Callable[[Known, int], float]]
] = {
    "agreement": (agreement, Known.identity),
    "variant rate": (variant_rate, Known.variant_rate),
}
"""Each interval by name: what the analysis gives, and the truth that it should hold."""
