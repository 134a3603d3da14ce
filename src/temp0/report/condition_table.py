"""The conditions of a prompt as a table that fits its terminal, however long their names are.

Where room is short the share of equal pairs goes first, since it means nothing without its interval.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from temp0.core.analysis import ConditionAnalysis
from temp0.report import figure
from temp0.report.answer import blocks
from temp0.report.prose import Prose
from temp0.report.table import STYLES, plain_table

BOUND = "unlike\nmode ≤"
_PAIRS = "equal pairs"
_ANY = 1000


class ConditionTable:
    """One line for each condition; `letters` names the texts that each of them gave, where they are to be named."""

    def __init__(self, conditions: Sequence[ConditionAnalysis], letters: Mapping[str, str]) -> None:
        self._conditions, self._letters = conditions, letters

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the table with all its columns where every name fits beside them, else without the equal pairs."""
        whole = self._table(pairs=True)
        wanted = Measurement.get(console, options.update(width=_ANY), whole).maximum
        yield whole if wanted <= options.max_width else self._table(pairs=False)

    def _table(self, *, pairs: bool) -> Table:
        headings = ["condition", "reached", "counted", "blocks", "texts", _PAIRS, BOUND, "verdict"]
        if not pairs:
            headings.remove(_PAIRS)
        right = ("blocks", BOUND) if self._letters else ("blocks", "texts", BOUND)
        table = plain_table(*headings, right=right, gap=1)
        for column in table.columns[1:]:
            column.no_wrap = True
        for one in self._conditions:
            cells = {
                "condition": Text(one.name),
                "reached": Prose(figure.company(one.company) if one.attempts else figure.UNKNOWN),
                "counted": Text(f"{one.completions}/{one.attempts}"),
                "blocks": Text(str(blocks(one))),
                "texts": Text(f"{one.distinct.text} {self._letters.get(one.name, '')}".rstrip()),
                _PAIRS: Prose(figure.interval(one.agreement)),
                BOUND: Prose(figure.percent(one.variant_rate_upper)),
                "verdict": Text(one.verdict, style=STYLES[one.verdict]),
            }
            table.add_row(*(cells[heading] for heading in headings))
        return table
