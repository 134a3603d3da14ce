"""What calibration must show, and whether it did.

All shapes of a family together must keep the requirement. One shape by itself breaks it only where its share lies
outside beyond chance: of a hundred shapes some do so by chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from simulation.catalogue import SHAPES
from simulation.coverage import INTERVALS, KNOWN, Cover
from simulation.tally import Tally, interval, per_cent, total
from simulation.work import Results

FALSE_ALARMS, NAMED, COVERED = 0.05, 0.80, 0.94
NAMED_AT = 30
SURE = 0.998
"""Confidence of the interval that one cell of many must lie wholly outside with: one in a thousand on either side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One requirement: what was measured, and whether it is met."""

    name: str
    measured: str
    is_met: bool


def findings(results: Results, ns: Sequence[int]) -> list[Finding]:
    """Every requirement that the runs bear on."""
    found = [finding for n in ns for finding in (*_steady(results, n), *_false_alarms(results, n), *_ps(results, n))]
    if NAMED_AT in ns:
        found += _planted(results)
    return [*found, *(finding for name in INTERVALS for n in ns for finding in _coverage(results, name, n))]


def tallies(results: Results, n: int, family: str) -> dict[str, Tally]:
    """The tallies of one family at one n, by the name of the shape."""
    places = ((place, shape) for place, shape in enumerate(SHAPES) if shape.family == family)
    return {shape.name: results.tallies[place, n] for place, shape in places if (place, n) in results.tallies}


def _steady(results: Results, n: int) -> Iterator[Finding]:
    pooled = total(list(tallies(results, n, "none").values()))
    if pooled.runs:
        measured = f"{pooled.diverged} diverged, {pooled.astray} with a cause found, of {pooled.runs}"
        yield Finding(
            name=f"one text always, N = {n}: never diverged, no cause found",
            measured=measured,
            is_met=not pooled.diverged and not pooled.astray,
        )


def _false_alarms(results: Results, n: int) -> Iterator[Finding]:
    cells = tallies(results, n, "iid")
    pooled = total(list(cells.values()))
    if not pooled.runs:
        return
    beyond = [name for name, cell in cells.items() if interval(cell.astray, cell.runs, SURE)[0] > FALSE_ALARMS]
    share = pooled.astray / pooled.runs
    measured = f"{per_cent(share)} of {pooled.runs} ({ends(pooled.astray, pooled.runs)})"
    if beyond:
        measured += f"; more, and not by chance: {'; '.join(beyond)}"
    yield Finding(
        name=f"independent variation, N = {n}: a cause beside chance found in at most {per_cent(FALSE_ALARMS, 0)}",
        measured=measured,
        is_met=share <= FALSE_ALARMS and not beyond,
    )


def _ps(results: Results, n: int) -> Iterator[Finding]:
    """A p promises to be small as rarely as it says, over all pairs of conditions that draw from one distribution.

    It permutes blocks, so that it is too small where sides have blocks of unlike sizes and attempts are independent;
    such shapes are named. Causes rest on another p, which permutes attempts as well.
    """
    cells = {name: cell for name, cell in tallies(results, n, "iid").items() if cell.compared}
    pooled = total(list(cells.values()))
    if not pooled.compared:
        return
    # The ps of one run hang together through the condition that they share, so that a cell is judged by its runs.
    beyond = [
        f"{name} ({per_cent(cell.small / cell.compared, 0)})"
        for name, cell in cells.items()
        if interval(round(cell.runs * cell.small / cell.compared), cell.runs, SURE)[0] > FALSE_ALARMS
    ]
    measured = f"{per_cent(pooled.small / pooled.compared)} of {pooled.compared}"
    if beyond:
        measured += f"; more where blocks are of unlike sizes: {'; '.join(beyond)}"
    yield Finding(
        name=f"independent variation, N = {n}: p between two conditions at most 0.05 in at most 5 % over all shapes",
        measured=measured,
        is_met=pooled.small / pooled.compared <= FALSE_ALARMS,
    )


def _planted(results: Results) -> Iterator[Finding]:
    for place, shape in enumerate(SHAPES):
        tally = results.tallies.get((place, NAMED_AT))
        if shape.needs is None or tally is None:
            continue
        count = tally.found if shape.needs == "found" else tally.named
        yield Finding(
            name=f"{shape.family}: {shape.name}; N = {NAMED_AT}: {shape.needs} in at least {per_cent(NAMED, 0)}",
            measured=f"{per_cent(count / tally.runs, 0)} of {tally.runs} ({ends(count, tally.runs)})",
            is_met=count / tally.runs >= NAMED,
        )


def _coverage(results: Results, name: str, n: int) -> Iterator[Finding]:
    cells = {
        known.name: results.covers[place, n, name]
        for place, known in enumerate(KNOWN)
        if (place, n, name) in results.covers
    }
    pooled = Cover()
    for cell in cells.values():
        pooled.merge(cell)
    if not pooled.runs:
        return
    beyond = [one for one, cell in cells.items() if interval(cell.runs - cell.missed, cell.runs, SURE)[1] < COVERED]
    lowest = min(cells, key=lambda one: cells[one].held)
    measured = f"{per_cent(pooled.held)} of {pooled.runs}, at the least {per_cent(cells[lowest].held)} ({lowest})"
    if beyond:
        measured += f"; less, and not by chance: {'; '.join(beyond)}"
    yield Finding(
        name=f"{name}, N = {n}: the interval holds the truth in at least {per_cent(COVERED, 0)}",
        measured=measured,
        is_met=pooled.held >= COVERED and not beyond,
    )


def ends(count: int, n: int) -> str:
    """The 95 % interval of a share, in per cent, as tables show it."""
    low, high = interval(count, n)
    return f"{100 * low:.1f} to {100 * high:.1f}"
