"""Tables without lines, and the colours of verdicts, as every terminal report draws them."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from temp0.core.analysis import Verdict

STYLES = {Verdict.AGREED: "green", Verdict.DIVERGED: "red", Verdict.UNDECIDED: "yellow"}


def plain_table(*headings: str, right: Sequence[str] = (), gap: int = 2) -> Table:
    """A table without lines."""
    table = Table(box=None, padding=(0, gap, 0, 0), pad_edge=False, header_style="dim", show_edge=False)
    for heading in headings:
        table.add_column(Text(heading), justify="right" if heading in right else "left", vertical="top")
    return table
