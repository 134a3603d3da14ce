"""The runs themselves, dealt to processes in small hands, and what came of them added up.

Which process plays a hand changes nothing: every run is drawn from its own seed.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from multiprocessing import get_context

from simulation.catalogue import SHAPES
from simulation.coverage import INTERVALS, KNOWN, Cover
from simulation.tally import Tally
from temp0.core.judgement import analysis

TALKS_EVERY_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Hand:
    """Some runs of one shape, or of one endpoint of known agreement: its place in the list, n and the seeds."""

    place: int
    n: int
    seeds: range
    is_coverage: bool = False

    @property
    def weight(self) -> int:
        """About how much work it is: attempts asked for."""
        return self.n * len(self.seeds) * (1 if self.is_coverage else 3 * len(SHAPES[self.place].conditions))


@dataclass(slots=True, kw_only=True)
class Results:
    """Tallies of shapes, and covers of intervals, by the place in their list and n."""

    tallies: dict[tuple[int, int], Tally] = field(default_factory=dict)
    covers: dict[tuple[int, int, str], Cover] = field(default_factory=dict)

    def merge(self, other: Results) -> None:
        """Add what another process counted."""
        for key, tally in other.tallies.items():
            self.tallies.setdefault(key, Tally()).merge(tally)
        for name, cover in other.covers.items():
            self.covers.setdefault(name, Cover()).merge(cover)


def hands(places: Sequence[int], ns: Sequence[int], runs: int, coverage_runs: int, size: int = 10) -> list[Hand]:
    """All work, the heaviest first, so that no process is left alone with it in the end."""
    dealt = [
        Hand(place=place, n=n, seeds=range(first, min(first + size, runs)))
        for place in places
        for n in ns
        for first in range(0, runs, size)
    ]
    dealt += [
        Hand(place=place, n=n, seeds=range(first, min(first + 5 * size, coverage_runs)), is_coverage=True)
        for place in range(len(KNOWN))
        for n in ns
        for first in range(0, coverage_runs, 5 * size)
    ]
    return sorted(dealt, key=lambda hand: -hand.weight)


def played(hand: Hand) -> Results:
    """The runs of one hand, analysed and counted."""
    return _covered(hand) if hand.is_coverage else _tallied(hand)


def _tallied(hand: Hand) -> Results:
    tally = Tally()
    for seed in hand.seeds:
        run, scene = SHAPES[hand.place].play(hand.n, seed)
        tally.add(analysis(run), scene)
    return Results(tallies={(hand.place, hand.n): tally})


def _covered(hand: Hand) -> Results:
    known = KNOWN[hand.place]
    covers = {name: Cover() for name in INTERVALS}
    for seed in hand.seeds:
        (prompt,) = analysis(known.play(hand.n, seed)).prompts
        for name, (ends, truth) in INTERVALS.items():
            covers[name].add(ends(prompt.conditions[0]), truth(known, hand.n))
    return Results(covers={(hand.place, hand.n, name): cover for name, cover in covers.items()})


def results(dealt: Sequence[Hand], processes: int) -> Results:
    """All of it, by so many processes at once, with progress on standard error."""
    together, done, all_work = Results(), 0, sum(hand.weight for hand in dealt)
    talked, started = 0.0, time.monotonic()
    for hand, result in _outcomes(dealt, processes):
        together.merge(result)
        done += hand.weight
        now = time.monotonic()
        if now - talked > TALKS_EVERY_S:
            talked = now
            print(f"{done / all_work:4.0%} of the work, {now - started:.0f} s", file=sys.stderr, flush=True)
    return together


def _outcomes(dealt: Sequence[Hand], processes: int) -> Iterator[tuple[Hand, Results]]:
    if processes == 1:
        yield from ((hand, played(hand)) for hand in dealt)
        return
    # Spawned, not forked: numpy's threads do not survive a fork.
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn"), initializer=os.nice, initargs=(5,)) as pool:
        waiting = {pool.submit(played, hand): hand for hand in dealt}
        for future in as_completed(waiting):
            yield waiting[future], future.result()
