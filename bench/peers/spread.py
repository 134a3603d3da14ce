"""Figures of several rounds as median and range.

A ratio is always taken within a round, so that a machine that is slow for a while is slow for both of its sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """The median of some figures, and the lowest and highest of them.

    >>> spread([3.0, 1.0, 2.0, 9.0]).text("{:.1f}")
    '2.5 (1.0 to 9.0)'
    """

    middle: float
    low: float
    high: float

    def text(self, form: str) -> str:
        """Median and range, each written as `form` says."""
        return f"{form.format(self.middle)} ({form.format(self.low)} to {form.format(self.high)})"


def spread(figures: Sequence[float]) -> Spread:
    """Median and range; ValueError without figures."""
    if not figures:
        raise ValueError("there are no figures to take a median of")
    return Spread(middle=median(figures), low=min(figures), high=max(figures))


def ratio(these: Sequence[float], those: Sequence[float]) -> Spread:
    """Each of `these` over the one of `those` in the same round, as a spread; ValueError where rounds are missing.

    >>> ratio([2.0, 8.0], [1.0, 2.0]).middle
    3.0
    """
    return spread([this / that for this, that in zip(these, those, strict=True)])
