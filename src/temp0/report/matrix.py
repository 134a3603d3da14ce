"""How far several endpoints answer alike, as a matrix for a terminal and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from string import ascii_uppercase

from rich.console import Group, RenderableType
from rich.text import Text

from temp0.core.estimate import ALPHA
from temp0.core.likeness import Likeness, Matrix
from temp0.report import figure
from temp0.report.pairing_schema import side_fields
from temp0.report.pairing_screen import side
from temp0.report.prose import Prose
from temp0.report.schema import VERSION
from temp0.report.table import plain_table

SCHEMA = "temp0/agreement"
_SQUARE = 7
"""Sides up to which a matrix fits 80 columns; beyond it the pairs are listed."""


def matrix_screen(found: Matrix) -> RenderableType:
    """The sides, the matrix of their pairs, and what follows."""
    heads = [side(name, one.judged, one.heads) for name, one in zip(ascii_uppercase, found.sides, strict=False)]
    table = _square(found) if len(found.sides) <= _SQUARE else _list(found.pairs)
    return Group(*heads, "", table, "", *map(Prose, matrix_sentences(found)))


def matrix_sentences(found: Matrix) -> tuple[str, ...]:
    """How to read it, and which pairs differ beyond their own variation."""
    told = []
    if len(found.sides) <= _SQUARE:
        told.append(
            "Above the diagonal: prompts with the same commonest answer. Below it: equal pairs of blocks, one of each "
            "side; on it: within the side."
        )
    unlike = [pair for pair in found.pairs if pair.p_adjusted is not None and pair.p_adjusted <= ALPHA]
    if unlike:
        names = ", ".join(f"{_name(pair)} ({figure.probability(pair.p_adjusted)})" for pair in unlike)
        told.append(f"Beyond what each side varies by itself, these differ: {names}, adjusted for all pairs.")
    elif any(pair.p is not None for pair in found.pairs):
        told.append("No pair differs by more than each side may vary by itself.")
    return tuple(told)


def matrix_json(found: Matrix) -> str:
    """The document as one line of ASCII JSON; sides are named by their places, from 0."""
    document = {
        "schema": SCHEMA,
        "version": VERSION,
        "exit_code": found.exit_code,
        "sides": [
            side_fields(one.judged, one.heads) | {"within": within}
            for one, within in zip(found.sides, found.within, strict=True)
        ],
        "pairs": [asdict(pair) for pair in found.pairs],
    }
    return json.dumps(document, allow_nan=False)


def _square(found: Matrix) -> RenderableType:
    letters = list(ascii_uppercase[: len(found.sides)])
    table = plain_table("", *letters, right=letters)
    pairs = {(pair.a, pair.b): pair for pair in found.pairs}
    for row, name in enumerate(letters):
        cells = [
            figure.percent(found.within[row])
            if row == column
            else _same(pairs[row, column])
            if row < column
            else figure.percent(pairs[column, row].identity)
            for column in range(len(letters))
        ]
        table.add_row(Text(name, style="bold"), *cells)
    return table


def _list(pairs: Sequence[Likeness]) -> RenderableType:
    right = ("same commonest", "equal across", "p", "adjusted")
    table = plain_table("pair", *right, right=right)
    for pair in pairs:
        ps = (figure.probability(p) for p in (pair.p, pair.p_adjusted))
        table.add_row(_name(pair), _same(pair), figure.percent(pair.identity), *ps)
    return table


def _same(pair: Likeness) -> str:
    return f"{pair.same:,} of {pair.prompts:,}" if pair.prompts else figure.UNKNOWN


def _name(pair: Likeness) -> str:
    return f"{ascii_uppercase[pair.a]} and {ascii_uppercase[pair.b]}"
