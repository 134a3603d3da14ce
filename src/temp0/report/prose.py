"""Text for a terminal that keeps together what belongs together.

Rich breaks a line at every blank, no-break spaces too; here those hold, and come out as plain blanks, so that what
is printed can be searched for and copied.
"""

from __future__ import annotations

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, JustifyMethod, OverflowMethod, RenderResult
from rich.containers import Lines
from rich.text import Text

from temp0.report.figure import UNBROKEN

# A noncharacter of one column: `visible` lets none through, so no stranger's text can hold it.
_HELD = "\ufdd0"
_BREAK = " --store "


class Prose(Text):
    """Text whose no-break spaces hold when it is wrapped."""

    def wrap(
        self,
        console: Console,
        width: int,
        *,
        justify: JustifyMethod | None = None,
        overflow: OverflowMethod | None = None,
        tab_size: int = 8,
        no_wrap: bool | None = None,
    ) -> Lines:
        """The lines of the text, none wider than `width` columns."""
        held = self.copy()
        held.plain = held.plain.replace(UNBROKEN, _HELD)
        lines = held.wrap(console, width, justify=justify, overflow=overflow, tab_size=tab_size, no_wrap=no_wrap)
        for line in lines:
            line.plain = line.plain.replace(_HELD, " ")
        return lines


class Command:
    """A command to copy, with what it does; where it is too long for its line it goes on as a shell lets it."""

    def __init__(self, command: str, what: str) -> None:
        self._command, self._what = command, what

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the command in one line, or in two that a shell reads as one."""
        fits = cell_len(self._command) <= options.max_width
        command = self._command if fits else self._command.replace(_BREAK, f" \\\n {_BREAK}", 1)
        yield Text.assemble(command, (f"   {self._what}", "dim"))
