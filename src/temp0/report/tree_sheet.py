"""All trees of a record on one SVG sheet: for each kernel a table of where which tree was seen, and the trees.

Trees stand side by side and go on below where the sheet is full.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement

from temp0.core.tree_record import TreesRecord
from temp0.report.tree_drawing import Drawn, canvas, document, place, text, tree_drawing
from temp0.report.tree_finding import class_words, replay_words
from temp0.report.tree_group import Kind, TreeGroup, tree_groups

_MARGIN, _BETWEEN, _SHEET, _NARROWEST = 24.0, 40.0, 1360.0, 340.0
_CHARACTER, _LINE = 6.3, 16.0
_CELL, _ROW, _HEAD = 34.0, 24.0, 92.0
_NAME = "Reduction trees: in which order kernels add, by batch size"
_LEGEND = (
    "Read from top to bottom: a joint is one addition, and what is further down is added later. A box is a chain, its "
    "summands added one by one in the order written, unless its inside is drawn below it; a dashed box is folded."
)


def tree_sheet(record: TreesRecord) -> str:
    """The sheet as an SVG document."""
    bands = [_band(group) for group in tree_groups(record)]
    width = max([band.width for band in bands] + [760.0]) + 2 * _MARGIN
    libraries = ", ".join(f"{name} {version}" for name, version in record.machine.libraries)
    foot = [
        *textwrap.wrap(_LEGEND, int((width - 2 * _MARGIN) / _CHARACTER)),
        f"{record.machine.processor}; {libraries}",
    ]
    height = sum(band.height + _BETWEEN for band in bands) + 2 * _MARGIN + len(foot) * _LINE
    svg, y = canvas(width, height, _NAME), _MARGIN
    for band in bands:
        place(svg, band, _MARGIN, y)
        y += band.height + _BETWEEN
    for line in foot:
        text(svg, _MARGIN, y, line, "dim")
        y += _LINE
    return document(svg)


def kind_svg(group: TreeGroup, kind: Kind) -> str:
    """One kind of a group as an SVG document."""
    panel = _panel(kind)
    width = max(panel.width, len(group.title) * 7.5) + 2 * _MARGIN
    svg = canvas(width, panel.height + 2 * _MARGIN + 26, f"{group.title}: {class_words(kind.one)}")
    text(svg, _MARGIN, _MARGIN + 10, group.title, "title")
    place(svg, panel, _MARGIN, _MARGIN + 22)
    return document(svg)


def _band(group: TreeGroup) -> Drawn:
    band = Element("g")
    text(band, 0, 14, group.title, "title")
    y, width = 26.0, len(group.title) * 7.5
    parts = [_table(group)] if group.batch_sizes else []
    if partings := group.partings():
        parts.append(_lines([("dim", told) for told in partings], _SHEET))
    for part in parts:
        place(band, part, 0, y)
        y, width = y + part.height + 8, max(width, part.width)
    for row in _rows([_panel(kind) for kind in group.kinds]):
        x = 0.0
        for panel in row:
            place(band, panel, x, y + 10)
            x += panel.width + _BETWEEN
        y, width = y + 10 + max(panel.height for panel in row) + 14, max(width, x - _BETWEEN)
    SubElement(band, "path", {"class": "rule", "d": f"M0 {y:.0f}H{width:.0f}"})
    return Drawn(group=band, width=width, height=y)


def _table(group: TreeGroup) -> Drawn:
    """Letters by number of columns (down) and batch size (across); a letter has its own shade."""
    table, sizes = Element("g"), group.batch_sizes
    text(table, 0, 16, "batch size", "dim")
    for across, size in enumerate(sizes):
        text(table, _HEAD + (across + 0.5) * _CELL, 16, str(size), "dim", anchor="middle")
    for down, kernel in enumerate(group.kernels):
        top = 24 + down * _ROW
        text(table, 0, top + 16, f"N = {kernel.n:,}" if kernel.n > 1 else "", "dim")
        for across, size in enumerate(sizes):
            letters = group.letters(kernel, size)
            if letters:
                _cell(table, _HEAD + across * _CELL, top, letters)
    return Drawn(group=table, width=_HEAD + len(sizes) * _CELL, height=24 + len(group.kernels) * _ROW)


def _cell(table: Element, x: float, y: float, letters: str) -> None:
    shade = min(ord(letters[0]) - ord("A"), 5) if len(letters) == 1 else 6
    corner, size = {"x": f"{x + 1:.1f}", "y": f"{y:.1f}"}, {"width": f"{_CELL - 2:.1f}", "height": f"{_ROW - 2:.1f}"}
    SubElement(table, "rect", {"class": f"cell shade{shade}", **corner, **size, "rx": "3"})
    text(table, x + _CELL / 2, y + 15.5, letters, anchor="middle")


def _rows(panels: Sequence[Drawn]) -> list[list[Drawn]]:
    rows: list[list[Drawn]] = []
    for panel in panels:
        if rows and sum(one.width + _BETWEEN for one in rows[-1]) + panel.width <= _SHEET:
            rows[-1].append(panel)
        else:
            rows.append([panel])
    return rows


def _panel(kind: Kind) -> Drawn:
    """A kind in words, its tree and its replay."""
    drawn = None if kind.one.tree is None else tree_drawing(kind.one.tree)
    width = max(_NARROWEST, drawn.width if drawn else 0)
    told = [("title", f"{kind.letter}: {class_words(kind.one)}"), ("dim", replay_words(kind.one))]
    panel = _lines(told, width)
    if drawn is None:
        return panel
    place(panel.group, drawn, 0, panel.height + 14)
    return Drawn(group=panel.group, width=width, height=panel.height + 14 + drawn.height)


def _lines(told: Sequence[tuple[str, str]], width: float) -> Drawn:
    group, y, longest = Element("g"), 0.0, 0
    for kind, words in told:
        for line in textwrap.wrap(words, int(width / _CHARACTER)):
            y += _LINE
            longest = max(longest, len(line))
            text(group, 0, y, line, kind)
    return Drawn(group=group, width=longest * _CHARACTER, height=y)
