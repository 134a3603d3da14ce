"""Why answers differ, for a terminal: each cause with its certainty, whom it holds for, its evidence and what to do.

A full mark is found and a hollow one suspected, so that the two are told apart without colour.
"""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from temp0.core.analysis import Analysis, Cause
from temp0.report.cause_word import evidence, holds_for, meaning, remedy
from temp0.report.explanation import Explanation, why
from temp0.report.prose import Command, Prose
from temp0.report.visible import visible

_MARKS = {"found": "● found", "suspected": "○ suspected"}
_STYLES = {"found": "bold red", "suspected": "yellow"}
_MARGIN = max(map(len, _MARKS.values()))


def explanation_screen(analysis: Analysis) -> Iterable[RenderableType]:
    """Every heading with what stands under it; nothing where there is nothing to explain."""
    for told in why(analysis):
        yield Text(f"\n{told.heading}", style="bold")
        yield from _under(told, analysis)


def _under(told: Explanation, analysis: Analysis) -> Iterable[RenderableType]:
    if told.causes:
        for place, cause in enumerate(told.causes):
            yield from [""] if place else []
            words, command = remedy(cause, analysis.address)
            yield _beside([(_mark(cause), _cause(cause, words, len(analysis.prompts)))], width=_MARGIN)
            if command:
                yield Command(command, indent=_MARGIN + 4)
    if told.sentences:
        above = 1 if told.causes else 0
        yield Padding(Group(*map(Prose, told.sentences)), (above, 0, 0, 2))
    if told.untested:
        width = max(_MARGIN, *(len(causes) for causes, _ in told.untested))
        yield _beside([(Text(causes), Prose(reason)) for causes, reason in told.untested], width=width)


def _beside(rows: Iterable[tuple[Text, RenderableType]], *, width: int) -> Padding:
    """Short words to the left, what they mean to the right of them."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(width=min(width, 24), vertical="top")
    table.add_column(vertical="top")
    for left, right in rows:
        table.add_row(left, right)
    return Padding(table, (0, 0, 0, 2))


def _mark(cause: Cause) -> Text:
    return Text(_MARKS[cause.certainty], style=_STYLES[cause.certainty])


def _cause(cause: Cause, words: str, prompts: int) -> RenderableType:
    said = meaning(cause.cause)
    title = Text(visible(cause.cause), style="bold").append(f": {said}" if said else "", style="not bold")
    whom = Prose(holds_for(cause, prompts), style="dim")
    return Group(title, *([whom] if whom.plain else []), Prose(evidence(cause)), Prose(f"To do: {words}"))
