"""Appends rows to the file at little cost: statements are compiled once and take plain tuples.

Executed as a Core construct with one dictionary for each row, the same insert takes several times as long.
"""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

from sqlalchemy import Connection, TableClause, column, table
from sqlalchemy.dialects import sqlite

from temp0.store.row import Row
from temp0.store.schema import ATTEMPTS, CONTENTS, SAMPLES


def _compiled(table: TableClause, *, names: Sequence[str], ignoring: bool = False) -> str:
    statement = sqlite.insert(table)
    if ignoring:
        statement = statement.on_conflict_do_nothing()
    return str(statement.compile(dialect=sqlite.dialect(), column_keys=list(names)))


_CONTENT = _compiled(CONTENTS, names=CONTENTS.c.keys(), ignoring=True)
_PLACED = table("attempts", column("rowid"), *(column(each.name) for each in ATTEMPTS.c))
_ATTEMPT = _compiled(_PLACED, names=_PLACED.c.keys())
_SAMPLE = _compiled(SAMPLES, names=("run", "at_s", "block", "running"))


def append_rows(
    connection: Connection, contents: Sequence[Row], attempts: Sequence[Row], samples: Sequence[Row]
) -> None:
    """Insert all rows, in the caller's transaction; contents that are stored already stay as they are."""
    placed = [(place(*row[:3]), *row) for row in attempts]
    for statement, rows in ((_CONTENT, contents), (_ATTEMPT, placed), (_SAMPLE, samples)):
        if rows:
            connection.exec_driver_sql(statement, list(rows))


def place(run: int, order: int, prompt: bytes) -> int:
    """The rowid of an attempt, by which SQLite orders a table in its file: attempts of one prompt lie together.

    Blocks of all prompts take turns, so that in the order of appending each attempt of a prompt would lie on a page of
    its own. Only a place: nothing reads it, and older rows that were placed by their order of appending stay good.
    Unique as long as run and order are (below 2^20 and 2^27; beyond, up to 2^22 and 2^40, rows are not gathered).
    """
    if run < 1 << 20 and order < 1 << 27:
        return run << 43 | (crc32(prompt) & 0xFFFF) << 27 | order
    return -1 - (run << 40 | order)
