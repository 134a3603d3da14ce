"""Progress of a price on the error stream: what it costs, then a bar or a plain line now and then.

Steps are counted, not requests: a step of one request at a time and a step of 32 take times that can be compared.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from temp0.core.tax_plan import Step, TaxPlan

if TYPE_CHECKING:
    from rich.console import Console

LINE_EVERY_S = 10.0


def announcement(plan: TaxPlan) -> list[str]:
    """The lines to say before anything is asked: how much of it there is."""
    steps = plan.steps()
    requests, readings = sum(len(plan.asked(step)) for step in steps), sum(step.in_flight is None for step in steps)
    rounds = "1 round" if plan.rounds == 1 else f"{plan.rounds} rounds"
    cost = (
        f"cost: {rounds} on {len(plan.sides)} sides that take turns: {requests:,} requests of {plan.max_tokens} answer "
        f"tokens each ({requests * plan.max_tokens:,} in all), and {readings} prompts of about {plan.ttft_tokens} "
        "tokens for the time to first token"
    )
    later = "how long it takes is said after the first round; " if plan.rounds > 1 else ""
    return [cost, f"{later}Ctrl-C shows what was measured by then"]


class TaxProgress:
    """Counts the steps of a plan, and says after the first round how long the rest will take."""

    def __init__(self, console: Console, plan: TaxPlan) -> None:
        self._console, self._plan = console, plan
        self._total, self._taken = len(plan.steps()), 0
        self._begun = self._last_line = time.monotonic()
        self._bar = _bar(console) if console.is_terminal else None
        self._task = self._bar.add_task("pricing", total=self._total, note="") if self._bar else None

    def begin(self) -> None:
        """Start the clock."""
        self._begun = self._last_line = time.monotonic()
        if self._bar:
            self._bar.start()

    def step(self, step: Step) -> None:
        """Show the step that begins."""
        if step.round == 1 and self._taken == self._total // self._plan.rounds:
            self._say_how_long()
        note = f"round {step.round + 1} of {self._plan.rounds}, {_what(step)}"
        if self._bar and self._task is not None:
            self._bar.update(self._task, completed=self._taken, note=note)
        elif time.monotonic() - self._last_line >= LINE_EVERY_S:
            self._last_line = time.monotonic()
            self._console.print(f"{self._taken} of {self._total} steps taken; now {note}")
        self._taken += 1

    def end(self) -> None:
        """Leave the terminal as it was."""
        if self._bar:
            self._bar.stop()

    def _say_how_long(self) -> None:
        took_s = time.monotonic() - self._begun
        left_s = took_s * (self._plan.rounds - 1)
        self._console.print(f"the first round took {took_s:.0f} s; about {left_s:.0f} s to go")


@contextmanager
def tax_progress(console: Console, plan: TaxPlan) -> Iterator[TaxProgress]:
    """Progress for the time of the context."""
    shown = TaxProgress(console, plan)
    try:
        yield shown
    finally:
        shown.end()


def _what(step: Step) -> str:
    side = "invariant, fp32 weights" if step.side == "equal-bytes" else step.side
    return f"{side}, {'first token' if step.in_flight is None else f'{step.in_flight} in flight'}"


def _bar(console: Console):  # type: ignore[no-untyped-def]  # rich's own type, imported only here
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(compact=True),
        TextColumn("{task.fields[note]}", style="dim"),
        console=console,
        transient=True,
    )
