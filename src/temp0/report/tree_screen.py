"""Found trees for a terminal: what follows, then for each kernel where which tree was seen, in words and as a drawing.

It reads at 80 columns and without colour.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from temp0.core.tree_record import TreesRecord
from temp0.report.prose import Prose
from temp0.report.table import plain_table
from temp0.report.tree_cut import text_drawing
from temp0.report.tree_finding import class_words, conclusion, findings, replay_words
from temp0.report.tree_group import Kind, TreeGroup, tree_groups
from temp0.report.visible import visible

_MOST_BOXES = 8
_MOST_COLUMNS = 14


def trees_terminal(record: TreesRecord) -> RenderableType:
    """The record as a rich renderable."""
    parts: list[RenderableType] = []
    if (told := conclusion(record)) is not None:
        parts += [Prose(told, style="bold"), ""]
    parts += [Prose(finding) for finding in findings(record)]
    for group in tree_groups(record):
        parts += ["", *_group(group)]
    if record.skipped:
        parts += ["", *(Prose(f"skipped: {one.name} in {one.dtype}: {visible(one.why)}") for one in record.skipped)]
    if not record.finished:
        parts += ["", Prose("Interrupted: this is what was found by then.", style="bold")]
    return Group(*parts, "", *_machine(record))


def _group(group: TreeGroup) -> Iterator[RenderableType]:
    yield Text(group.title, style="bold")
    for start in range(0, len(group.batch_sizes), _MOST_COLUMNS):
        yield Padding(_table(group, group.batch_sizes[start : start + _MOST_COLUMNS]), (0, 0, 0, 2))
    yield from (Padding(Prose(told), (0, 0, 0, 2)) for told in group.partings())
    for kind in group.kinds:
        yield from _kind(kind)


def _table(group: TreeGroup, sizes: tuple[int, ...]) -> RenderableType:
    headings = [str(size) for size in sizes]
    table = plain_table("batch size", *headings, right=headings, gap=2)
    for kernel in group.kernels:
        letters = [group.letters(kernel, size) for size in sizes]
        table.add_row(f"N = {kernel.n:,}" if kernel.n > 1 else "", *letters)
    return table


def _kind(kind: Kind) -> Iterator[RenderableType]:
    yield Padding(Prose(f"{kind.letter}  {class_words(kind.one)}"), (0, 0, 0, 2))
    if kind.one.tree is not None and kind.one.tree.leaves > 1:
        drawing = text_drawing(kind.one.tree, most=_MOST_BOXES)
        yield Padding(Text("\n".join(drawing), no_wrap=True, overflow="ellipsis"), (0, 0, 0, 5))
    yield Padding(Prose(replay_words(kind.one), style="dim"), (0, 0, 0, 5))


def _machine(record: TreesRecord) -> Iterator[RenderableType]:
    machine = record.machine
    libraries = ", ".join(f"{name} {version}" for name, version in machine.libraries)
    threads = "".join(f", {name}={value}" for name, value in machine.thread_variables)
    yield Prose(f"{visible(machine.processor)}, {machine.cores} cores{threads}; {libraries}", style="dim")
