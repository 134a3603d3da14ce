"""Progress of a long run, on the error stream: a bar with rate and time left, or a plain line now and then."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from temp0.cli.options import plain
from temp0.core.run import Attempt, Failure

if TYPE_CHECKING:
    from rich.console import Console

    from temp0.workflow.probing import Pause

LINE_EVERY_S = 10.0


class Progress:
    """Counts judged attempts towards a known total."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._total = self._done = self._fillers = self._failures = 0
        self._begun = self._last_line = time.monotonic()
        self._last_pause = -LINE_EVERY_S
        self._said: set[str] = set()
        self._bar = _bar(console) if console.is_terminal else None
        self._task = self._bar.add_task("asking", total=None, note="") if self._bar else None

    def begin(self, total: int) -> None:
        """Say how many judged attempts are to come, and start the clock."""
        self._total = total
        self._begun = self._last_line = time.monotonic()
        if self._bar and self._task is not None:
            self._bar.reset(self._task, total=total)
            self._bar.start()

    def attempt(self, attempt: Attempt) -> None:
        """Count one attempt that has ended."""
        self._done += attempt.role == "judged"
        self._fillers += attempt.role == "filler"
        self._failures += attempt.role == "judged" and isinstance(attempt.outcome, Failure)
        if self._bar and self._task is not None:
            self._bar.update(
                self._task, completed=self._done, note=f"{attempt.prompt}, {attempt.condition}{self._notes()}"
            )
        elif time.monotonic() - self._last_line >= LINE_EVERY_S:
            self._last_line = time.monotonic()
            self._console.print(self._line(), highlight=False)

    def pause(self, pause: Pause) -> None:
        """Say that the attempt which has just failed is asked again, when, and why."""
        self._done -= 1
        note = plain(f"waits {pause.seconds:.3g} s: {pause.why.message}")
        if not pause.seconds:
            if pause.why.message not in self._said:
                self._said.add(pause.why.message)
                note = plain(f"asked otherwise from now on: {pause.why.message}")
                self._console.print(note, markup=False, highlight=False, soft_wrap=True)
        elif self._bar and self._task is not None:
            self._bar.update(self._task, completed=self._done, note=note)
        elif time.monotonic() - self._last_pause >= LINE_EVERY_S:
            self._last_pause = time.monotonic()
            self._console.print(note, markup=False, highlight=False, soft_wrap=True)

    def end(self) -> None:
        """Leave the terminal as it was."""
        if self._bar:
            self._bar.stop()

    def _notes(self) -> str:
        fillers = f", {self._fillers} {'filler' if self._fillers == 1 else 'fillers'}" if self._fillers else ""
        failures = f", {self._failures} failed" if self._failures else ""
        return fillers + failures

    def _line(self) -> str:
        elapsed_s = time.monotonic() - self._begun
        rate = self._done / elapsed_s if elapsed_s else 0.0
        left = f", about {(self._total - self._done) / rate:.0f} s left" if rate else ""
        return f"{self._done} of {self._total} attempts{self._notes()}, {rate:.1f} a second{left}"


def _bar(console: Console):  # type: ignore[no-untyped-def]  # rich's own type, imported only here
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task):  # type: ignore[no-untyped-def]
            return Text(f"{task.speed:.1f}/s" if task.speed else "")

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        Rate(),
        TimeRemainingColumn(compact=True),
        TextColumn("{task.fields[note]}", style="dim"),
        console=console,
        transient=True,
    )


@contextmanager
def progress(console: Console) -> Iterator[Progress]:
    """Progress for the time of the context."""
    shown = Progress(console)
    try:
        yield shown
    finally:
        shown.end()
