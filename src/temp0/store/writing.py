"""Appends rows to the file at little cost: statements are compiled once and take plain tuples.

Executed as a Core construct with one dictionary for each row, the same insert takes several times as long.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, TableClause
from sqlalchemy.dialects import sqlite

from temp0.store.row import Row
from temp0.store.schema import ATTEMPTS, CONTENTS, SAMPLES


def _compiled(table: TableClause, *, names: Sequence[str], ignoring: bool = False) -> str:
    statement = sqlite.insert(table)
    if ignoring:
        statement = statement.on_conflict_do_nothing()
    return str(statement.compile(dialect=sqlite.dialect(), column_keys=list(names)))


_CONTENT = _compiled(CONTENTS, names=CONTENTS.c.keys(), ignoring=True)
_ATTEMPT = _compiled(ATTEMPTS, names=ATTEMPTS.c.keys())
_SAMPLE = _compiled(SAMPLES, names=("run", "at_s", "block", "running"))


def append_rows(
    connection: Connection, contents: Sequence[Row], attempts: Sequence[Row], samples: Sequence[Row]
) -> None:
    """Insert all rows, in the caller's transaction; contents that are stored already stay as they are."""
    for statement, rows in ((_CONTENT, contents), (_ATTEMPT, attempts), (_SAMPLE, samples)):
        if rows:
            connection.exec_driver_sql(statement, list(rows))
