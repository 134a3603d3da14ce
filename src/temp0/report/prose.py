"""Text for a terminal that keeps together what belongs together.

Rich breaks a line at every blank, no-break spaces too; here those hold, and come out as plain blanks, so that what
is printed can be searched for and copied.
"""

from __future__ import annotations

import re

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, JustifyMethod, OverflowMethod, RenderResult
from rich.containers import Lines
from rich.text import Text

from temp0.report.figure import UNBROKEN
from temp0.report.visible import ELLIPSIS, cut

# A noncharacter of one column: `visible` lets none through, so no stranger's text can hold it.
_HELD = "\ufdd0"
# The name of a command, or one of its flags, with the words up to the next flag; a word may be quoted.
_PART = re.compile(r"""(?:^\w+|--[\w-]+)(?: (?!--)(?:'[^']*'|"[^"]*"|[^\s'"])+)*""")
FORK = "bold red"
"""The style of the word in which branches part."""


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
    """A command to copy, with what it does; where it is too long for its line it goes on as a shell lets it.

    It stands by itself, with its own indent, since a column would cut it: what cannot be parted stays whole, and the
    terminal wraps it as it does a line that was typed.
    """

    def __init__(self, command: str, what: str = "", *, indent: int = 2) -> None:
        self._command, self._what, self._indent = command, what, indent

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the command in one line, or in several that a shell reads as one, and what it does beside or below."""
        margin, width = " " * self._indent, options.max_width - self._indent
        lines = self._parted(width)
        told = Text(margin + f" \\\n{margin}  ".join(lines), no_wrap=True, overflow="ignore")
        if self._what:
            is_beside = len(lines) == 1 and cell_len(f"{lines[0]}   {self._what}") <= width
            told.append("   " if is_beside else f"\n{margin}    ").append(self._what, style="dim")
        yield told

    def _parted(self, width: int) -> list[str]:
        """The command in lines, none parting a flag from its value, each with room for the sign that it goes on."""
        if cell_len(self._command) <= width:
            return [self._command]
        lines: list[str] = []
        for part in _PART.findall(self._command):
            longer = f"{lines[-1]} {part}" if lines else part
            lines[-1:] = [longer] if cell_len(longer) + 4 <= width else [*lines[-1:], part]
        return lines


class Cut(Text):
    """Text of which each line is cut to its width, between words where one is near, and never inside a mark.

    A stretch of style `FORK` stands in square brackets, which are closed where it is cut.
    """

    def wrap(self, console: Console, width: int, **_: object) -> Lines:  # noqa: ARG002 - the signature is rich's
        """The lines of the text as they are, none wider than `width` columns."""
        return Lines(_fitted(line, width) for line in self.split("\n", allow_blank=True))


def _fitted(line: Text, width: int) -> Text:
    if line.cell_len <= width:
        return line
    sign = ELLIPSIS
    end = _end(line.plain, width - 1)
    if any(span.style == FORK and span.start < end < span.end for span in line.spans):
        sign, end = f"{ELLIPSIS}]", _end(line.plain, width - 2)
    kept = line[:end]
    kept.rstrip()
    return kept.append(sign)


def _end(plain: str, width: int) -> int:
    """Where to cut a line of visible text so that what is left takes at most `width` columns."""
    end = len(plain)
    while end and cell_len(plain[:end]) > width:
        end -= 1
    return cut(plain, end)
