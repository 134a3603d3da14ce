"""Judges a stored run: prompt by prompt, and where it is long, in as many processes as there are cores to use.

Each process reads the prompts of its shares, and takes another share when it is done with one. Only a run that was
carried out to its end is shared out, so that all of them read the same one; the analysis is the same either way.
"""

from __future__ import annotations

import gc
import multiprocessing
import signal
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from functools import cache
from itertools import chain, zip_longest
from pathlib import Path

from threadpoolctl import threadpool_limits

from temp0.core.analysis import Analysis
from temp0.core.cause.order import looked_at, order
from temp0.core.chapter import Preface
from temp0.core.judgement import Examined, all_evidence, concluded, examined, judged
from temp0.kernels import usable_cores
from temp0.store import Store
from temp0.store.book import Book
from temp0.store.reading import no_collection

SHARED_FROM = 200_000
"""Planned attempts from which starting processes costs less than it saves."""
MOST_PROCESSES = 4
SHARES = 512
"""Into so many shares the prompts are dealt out, one after the other: prompts differ in how long they take, and the
last ones that other processes hold are waited for."""


def judged_run(store: Store, run: str) -> Analysis:
    """The analysis of a stored run. Raises `StoreError`."""
    with no_collection(), threadpool_limits(1, user_api="blas"):  # its matrices are small: threads would only wait
        return _judged_run(store, run)


def _judged_run(store: Store, run: str) -> Analysis:
    processes = min(usable_cores(), MOST_PROCESSES)
    if processes > 1 and store.planned(run) >= SHARED_FROM and store.is_finished(run):
        try:
            return shared_out(store.path, run, processes=processes)
        except (RecursionError, BrokenProcessPool):
            pass  # a fork tree too deep to be sent, or a process that was killed: here it can still be done
    with store.book(run) as book:
        return judged(book.preface(), book.chapters())


def shared_out(path: Path, run: str, *, processes: int) -> Analysis:
    """The analysis by so many processes (2 or more), this one included, which begins with the last share.

    Raises:
        RecursionError: A fork tree is too deep to be sent from one process to another.
        BrokenProcessPool: A process was killed.

    """
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes - 1, mp_context=context, initializer=_begin_process) as pool:
        try:
            tasks = [pool.submit(_share, path, run, place) for place in range(SHARES)]
            own: dict[int, Sequence[Examined]] = {}
            with Store.open(path) as store, store.book(run) as book:
                front = book.preface()
                for place in reversed(range(SHARES)):
                    if not tasks[place].cancel():
                        break  # another process has it, and all before it
                    own[place] = _examined(front, book, place)
            shares = [own[place] if place in own else task.result() for place, task in enumerate(tasks)]
            parts = [part for part in chain.from_iterable(zip_longest(*shares)) if part is not None]
            costliest = pool.submit(order, looked_at(all_evidence(front, parts)))
            pool.shutdown(wait=False)  # the others end while this one goes on
            return concluded(front, parts, {"order": costliest.result})
        except BaseException:
            for process in multiprocessing.active_children():
                process.terminate()
            raise


def _examined(front: Preface, book: Book, place: int) -> Sequence[Examined]:
    return list(examined(front, book.chapters(slice(place, None, SHARES))))


def _begin_process() -> None:
    """Leave Ctrl-C to the process that asked, and be as the one that asked is: this one lives for one run alone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()
    threadpool_limits(1, user_api="blas")


def _share(path: Path, run: str, place: int) -> Sequence[Examined]:
    front, book, _ = _opened(path, run)
    return _examined(front, book, place)


@cache
def _opened(path: Path, run: str) -> tuple[Preface, Book, ExitStack]:
    """A book that stays open as long as the process lives, and its preface; with what keeps it open."""
    stack = ExitStack()
    store = stack.enter_context(Store.open(path))
    book = stack.enter_context(store.book(run))
    return book.preface(), book, stack
