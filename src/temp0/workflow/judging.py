"""Judges a stored run: prompt by prompt, and where it is long, in as many processes as there are cores to use.

Each process reads its own share of the prompts. Only a run that was carried out to its end is shared out, so that all
of them read the same one; the analysis is the same either way.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, zip_longest
from pathlib import Path

from temp0.core.analysis import Analysis
from temp0.core.chapter import Preface
from temp0.core.judgement import Examined, concluded, examined, judged
from temp0.engine.arithmetic import usable_cores
from temp0.store import Store
from temp0.store.reading import no_collection

SHARED_FROM = 200_000
"""Planned attempts from which starting processes costs less than it saves."""
MOST_PROCESSES = 4


def judged_run(store: Store, run: str) -> Analysis:
    """The analysis of a stored run. Raises `StoreError`."""
    processes = min(usable_cores(), MOST_PROCESSES)
    if processes > 1 and store.planned(run) >= SHARED_FROM and store.is_finished(run):
        try:
            return shared_out(store.path, run, processes=processes)
        except (RecursionError, BrokenProcessPool):
            pass  # a fork tree too deep to be sent, or a process that was killed: here it can still be done
    with no_collection(), store.book(run) as book:
        return judged(book.preface(), book.chapters())


def shared_out(path: Path, run: str, *, processes: int) -> Analysis:
    """The analysis by so many processes (2 or more), this one included; each takes every so many-th prompt.

    Raises:
        RecursionError: A fork tree is too deep to be sent from one process to another.
        BrokenProcessPool: A process was killed.

    """
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes - 1, mp_context=context, initializer=_ignore_interrupts) as pool:
        try:
            tasks = [pool.submit(_share, path, run, place, processes) for place in range(1, processes)]
            front, own = _share(path, run, 0, processes)
            shares = [own, *(task.result()[1] for task in tasks)]
        except BaseException:
            for process in multiprocessing.active_children():
                process.terminate()
            raise
    parts = [part for part in chain.from_iterable(zip_longest(*shares)) if part is not None]
    return concluded(front, parts)


def _share(path: Path, run: str, place: int, processes: int) -> tuple[Preface, Sequence[Examined]]:
    with no_collection(), Store.open(path) as store, store.book(run) as book:
        front = book.preface()
        return front, list(examined(front, book.chapters(slice(place, None, processes))))


def _ignore_interrupts() -> None:
    """Leave Ctrl-C to the process that asked."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
