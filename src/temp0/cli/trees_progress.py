"""Progress of looking into kernels on the error stream: a bar on a terminal, else a plain line now and then.

A look is one batch size of one kernel.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from temp0.workflow.revealing import Look

LINE_EVERY_S = 10.0


class TreesProgress:
    """Counts the batch sizes that were looked into, and says which one is under way."""

    def __init__(self, console: Console, total: int) -> None:
        self._console, self._total, self._begun = console, total, 0
        self._title, self._note, self._last_line = "", "", time.monotonic()
        self._bar = _bar(console) if console.is_terminal else None
        self._task = self._bar.add_task("looking", total=total, note="") if self._bar else None
        if self._bar:
            self._bar.start()

    def look(self, look: Look, batch_size: int) -> None:
        """Show the look that begins."""
        one = look.kernel
        title = f"{one.name}, {one.dtype}, K = {look.k:,}, N = {look.n:,}"
        if self._bar is None and title != self._title:
            self._say(f"looking into {title}")
        self._title, self._note = title, f"{title}, batch size {batch_size}"
        self._show(self._note)
        self._begun += 1

    def summands(self, done: int, total: int) -> None:
        """Show how many summands of the tree under way have found their place."""
        self._show(f"{self._note}: {done:,} of {total:,} summands placed")

    def end(self) -> None:
        """Leave the terminal as it was."""
        if self._bar:
            self._bar.stop()

    def _show(self, note: str) -> None:
        done = max(0, self._begun - 1)
        if self._bar and self._task is not None:
            self._bar.update(self._task, completed=done, note=note)
        elif time.monotonic() - self._last_line >= LINE_EVERY_S:
            self._say(f"{done} of {self._total} looks done; now {note}")

    def _say(self, line: str) -> None:
        self._last_line = time.monotonic()
        self._console.print(line, markup=False, soft_wrap=True)


@contextmanager
def trees_progress(console: Console, total: int) -> Iterator[TreesProgress]:
    """Progress for the time of the context."""
    shown = TreesProgress(console, total)
    try:
        yield shown
    finally:
        shown.end()


def _bar(console: Console):  # type: ignore[no-untyped-def]  # rich's own type, imported only here
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}", style="dim"),
        console=console,
        transient=True,
    )
