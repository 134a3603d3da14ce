"""A terminal's lines never part a number from its sign."""

from __future__ import annotations

import io

import pytest
from rich.cells import cell_len
from rich.console import Console, Group
from rich.table import Table

from temp0.report.figure import UNBROKEN
from temp0.report.prose import Prose


def lines(shown: object, width: int) -> list[str]:
    console = Console(file=io.StringIO(), width=width, color_system=None)
    with console.capture() as capture:
        console.print(shown)
    return capture.get().splitlines()


@pytest.mark.parametrize("width", range(8, 40))
def test_a_no_break_space_holds_and_comes_out_as_a_blank(width: int) -> None:
    found = lines(Group(Prose(f"in up to 39.3{UNBROKEN}% of blocks, TARr@30: 100{UNBROKEN}% alone")), width)

    assert "39.3 %" in "\n".join(found)
    assert "100 %" in "\n".join(found)
    assert max(map(cell_len, found)) <= width


def test_it_holds_in_a_table_too() -> None:
    table = Table(box=None)
    table.add_column(no_wrap=True)
    table.add_row(Prose(f"100{UNBROKEN}%"))

    assert [line.strip() for line in lines(table, 20)][-1] == "100 %"
