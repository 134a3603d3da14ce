"""Reads one run, or parts of it, from the file; what was stored comes back equal.

Attempts are taken from the driver itself: wrapped by SQLAlchemy, each row would cost half as much again.
"""

from __future__ import annotations

import gc
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from operator import attrgetter
from typing import Any, cast

from sqlalchemy import Connection, select

from temp0.core.run import Address, Attempt, Run, Sample, Untold
from temp0.core.text import from_utf8
from temp0.errors import StoreError
from temp0.store.encoding import optional_label, plan_from
from temp0.store.row import Reader, Row
from temp0.store.schema import ATTEMPTS, RUNS, SAMPLES

_AT_ONCE = 1_000


def query(*names: str, index: str = "INDEXED BY attempts_of_a_prompt") -> str:
    """A query for these columns of the attempts of one run, by default in the order in which they lie in the file."""
    columns = ", ".join(f'"{name}"' for name in names)
    return f"SELECT {columns} FROM attempts {index} WHERE run = ?"


def of_orders(*names: str) -> str:
    """A query for these columns of the attempts of one run that have the orders of a JSON array."""
    return f'{query(*names, index="")} AND "order" IN (SELECT value FROM json_each(?))'


OF_RUN = query(*ATTEMPTS.c.keys())


def header(connection: Connection, number: int) -> Run:
    """The run of that number without its attempts, with its samples in the order in which they were appended."""
    row = connection.execute(select(RUNS).where(RUNS.c.number == number)).one()
    samples = select(SAMPLES.c.at_s, SAMPLES.c.block, SAMPLES.c.running).where(SAMPLES.c.run == number)
    return Run(
        id=from_utf8(row.id),
        created=from_utf8(row.created),
        address=Address(
            url=from_utf8(row.url),
            api=from_utf8(row.api),
            model=from_utf8(row.model),
            extra=optional_label(row.extra) or "",
            headers=optional_label(row.headers) or "",
        ),
        plan=plan_from(row.plan),
        cold_by=optional_label(row.cold_by),
        untold=cast("tuple[Untold, ...]", tuple((optional_label(row.untold) or "").split())),
        samples=tuple(
            Sample(at_s=at_s, block=block, running=running)
            for at_s, block, running in connection.execute(samples.order_by(SAMPLES.c.number))
        ),
    )


def everything(connection: Connection, number: int) -> tuple[Attempt, ...]:
    """All attempts of the run of that number, by their order; equal texts are one object."""
    reader = Reader(content(connection))
    with no_collection():
        found = [attempt for some in rows(connection, OF_RUN, number) for attempt in reader.attempts(some)]
        return tuple(sorted(found, key=attrgetter("order")))


def rows(connection: Connection, text: str, *asked: Any) -> Iterator[list[Row]]:
    """What a query finds, a thousand rows at a time."""
    cursor = _driver(connection).execute(text, asked)
    while some := cursor.fetchmany(_AT_ONCE):
        yield some


def content(connection: Connection) -> Callable[[bytes], bytes]:
    """What gives a content by its hash."""
    driver = _driver(connection)

    def look_up(digest: bytes) -> bytes:
        found = driver.execute("SELECT bytes FROM contents WHERE hash = ?", (digest,)).fetchone()
        if found is None:
            raise StoreError(f"the store is damaged: it lacks the content {digest.hex()}, which an attempt names")
        return cast(bytes, found[0])

    return look_up


@contextmanager
def no_collection() -> Iterator[None]:
    """Keep Python from looking for cycles among values that have none, which would take a fifth of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _driver(connection: Connection) -> sqlite3.Connection:
    return cast(sqlite3.Connection, connection.connection.driver_connection)
