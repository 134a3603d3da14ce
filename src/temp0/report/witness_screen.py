"""What became of the conditions, for a terminal: where they were not met as asked, and how answers follow company."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from temp0.core.analysis import Analysis
from temp0.report import figure
from temp0.report.ladder import Ladder, Rung, ladder_caption, ladders, rung_name
from temp0.report.naming import quoted
from temp0.report.prose import Prose
from temp0.report.table import plain_table
from temp0.report.visible import ELLIPSIS, visible
from temp0.report.witness import witnesses

_BAR = 24
_LADDERS = 4


def witness_screen(analysis: Analysis) -> Iterable[RenderableType]:
    """Each under its heading; nothing where all was met and company was asked at fewer than three levels."""
    if seen := witnesses(analysis):
        yield Text("\nWere the conditions met?", style="bold")
        yield _indented(Group(*(Prose(f"{quoted(one.conditions)}: {visible(one.sentence)}.") for one in seen)))
    climbed = ladders(analysis)
    if climbed:
        yield Text(f"\n{ladder_caption(climbed)}", style="bold")
        yield _indented(_one(climbed[0]) if len(climbed) == 1 else _several(climbed[:_LADDERS]))
    if climbed[_LADDERS:]:
        yield _indented(Text(f"{ELLIPSIS} and {figure.some(len(climbed) - _LADDERS, 'more ladder')}", style="dim"))


def _one(ladder: Ladder) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(width=_BAR)
    table.add_column(justify="right", no_wrap=True)
    for rung in ladder.rungs:
        table.add_row(rung_name(rung), _bar(rung), f"{rung.unlike:,} of {figure.some(rung.completions, 'completion')}")
    return table


def _several(climbed: Sequence[Ladder]) -> Table:
    """Several ladders side by side; one that lacks a level has a dash there."""
    names = [ladder.setting or "all else at its default" for ladder in climbed]
    table = plain_table("", *names, right=names)
    rungs = {rung.company: rung_name(rung) for ladder in climbed for rung in ladder.rungs}
    for company in sorted(rungs):
        counts = [next((rung for rung in ladder.rungs if rung.company == company), None) for ladder in climbed]
        cells = (f"{rung.unlike:,} of {rung.completions:,}" if rung else figure.UNKNOWN for rung in counts)
        table.add_row(rungs[company], *cells)
    return table


def _bar(rung: Rung) -> Text:
    cells = max(1, round(_BAR * rung.unlike / rung.completions)) if rung.unlike else 0
    return Text("━" * cells, style="cyan").append("·" * (_BAR - cells), style="dim")


def _indented(shown: RenderableType) -> Padding:
    return Padding(shown, (0, 0, 0, 2))
