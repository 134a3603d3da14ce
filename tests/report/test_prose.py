"""A terminal's lines never part a number from its sign."""

from __future__ import annotations

import io

import pytest
from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.table import Table

from temp0.report.figure import UNBROKEN
from temp0.report.prose import FORK, Command, Cut, Prose


def lines(shown: RenderableType, width: int) -> list[str]:
    console = Console(file=io.StringIO(), width=width, color_system=None)
    with console.capture() as capture:
        console.print(Group(shown))  # printed by itself, a text would be copied into a plain one
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


def test_a_line_is_cut_between_words_and_never_inside_a_mark() -> None:
    assert lines(Cut("some bright garden"), 14) == ["some bright…"]
    assert lines(Cut("x \u2039U+202E\u203a y"), 8) == ["x…"]
    assert lines(Cut("whole"), 5) == ["whole"]


def test_brackets_around_the_word_of_a_fork_are_closed_where_it_is_cut() -> None:
    text = Cut("3 ━ ").append("[unbrokenword]", style=FORK).append(" and more")

    assert lines(text, 13) == ["3 ━ [unbrok…]"]
    assert lines(text, 24) == ["3 ━ [unbrokenword] and…"]


def test_a_command_parts_before_a_flag_and_never_inside_a_quoted_word() -> None:
    command = "temp0 report last -o report.html --store '/a --b/runs.db'"
    text = "\n".join(lines(Command(command, "as a page"), 50))

    assert text == "  temp0 report last -o report.html \\\n    --store '/a --b/runs.db'\n      as a page"
    assert lines(Command("temp0 show last", "again"), 40) == ["  temp0 show last   again"]
