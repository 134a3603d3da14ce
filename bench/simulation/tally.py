"""What the analysis said of many runs of one shape, counted against what is true of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from scipy import stats

from simulation.scene import Scene
from temp0.core.analysis import Analysis, Verdict

NOTES = frozenset({"not-measured", "no-visible-output", "short-window", "finish"})
"""Causes that only say what was not seen: true wherever they stand."""

CHANCE = frozenset({"unseen-company", "run-to-run"})
"""What may be named where nothing else is found."""


@dataclass(slots=True, kw_only=True)
class Tally:
    """Counts of runs. `found` and `named` are those with a right cause found, and found or at least suspected.

    `wrong` are runs with a cause found that is neither right nor true besides, nor chance; `by_chance` are those where
    chance was found though it is neither, or the other kind of chance. `astray` are runs with a cause found that is no
    note and does not name chance, right or not; `diverged` those whose texts differed. `misplaced` are runs where a
    right cause was found for a prompt that the effect does not hold for. `compared` and `small` count comparisons that
    have a p, and those where it is at most 0.05.
    """

    runs: int = 0
    found: int = 0
    named: int = 0
    wrong: int = 0
    by_chance: int = 0
    astray: int = 0
    diverged: int = 0
    misplaced: int = 0
    compared: int = 0
    small: int = 0
    right_causes: Counter[str] = field(default_factory=Counter)
    causes: Counter[tuple[str, str]] = field(default_factory=Counter)
    wrong_causes: Counter[str] = field(default_factory=Counter)

    def add(self, analysis: Analysis, scene: Scene) -> None:
        """Count one run."""
        found = {cause.cause for cause in analysis.causes if cause.certainty == "found"}
        named = {cause.cause for cause in analysis.causes}
        wrong = found - scene.right - scene.true_too - NOTES
        self.runs += 1
        self.found += bool(found & scene.right)
        self.named += bool(named & scene.right)
        self.wrong += bool(wrong - CHANCE)
        self.by_chance += bool(wrong & CHANCE)
        self.astray += bool(found - CHANCE - NOTES)
        self.diverged += analysis.verdict is Verdict.DIVERGED
        self.misplaced += _is_misplaced(analysis, scene)
        self.right_causes.update(sorted(scene.right))
        self.causes.update({(cause.cause, cause.certainty) for cause in analysis.causes})
        self.wrong_causes.update(wrong)
        ps = [one.p for prompt in analysis.prompts for one in prompt.comparisons if one.p is not None]
        self.compared += len(ps)
        self.small += sum(p <= 0.05 for p in ps)

    def merge(self, other: Tally) -> None:
        """Add the counts of other runs."""
        for name in self.__slots__:
            mine, theirs = getattr(self, name), getattr(other, name)
            if isinstance(mine, Counter):
                mine.update(theirs)
            else:
                setattr(self, name, mine + theirs)


def _is_misplaced(analysis: Analysis, scene: Scene) -> bool:
    return scene.affected is not None and any(
        cause.certainty == "found" and cause.cause in scene.right and not scene.affected.issuperset(cause.prompts)
        for cause in analysis.causes
    )


def total(tallies: list[Tally]) -> Tally:
    """All of them together."""
    together = Tally()
    for tally in tallies:
        together.merge(tally)
    return together


def interval(count: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """The two-sided Clopper-Pearson interval of a share.

    >>> [round(end, 3) for end in interval(0, 30)]
    [0.0, 0.116]
    """
    ends = stats.binomtest(count, n).proportion_ci(confidence_level=confidence, method="exact")
    return float(ends.low), float(ends.high)


def per_cent(share: float, digits: int = 1) -> str:
    """A share in per cent, rounded to 0 or 100 only where it is exact.

    >>> per_cent(0.256), per_cent(0.9999), per_cent(0.004, 0), per_cent(1.0, 0)
    ('25.6 %', '>99.9 %', '<1 %', '100 %')
    """
    text, edge = f"{100 * share:.{digits}f}", 10.0**-digits
    if share > 0 and float(text) == 0:
        return f"<{edge:g} %"
    return f">{100 - edge:g} %" if share < 1 and float(text) == 100 else f"{text} %"
