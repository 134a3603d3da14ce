"""Reads one run, or parts of it, from the file; what was stored comes back equal.

Attempts are taken from the driver itself: wrapped by SQLAlchemy, each row would cost half as much again.
"""

from __future__ import annotations

import gc
import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from operator import attrgetter
from typing import Any, cast

from sqlalchemy import Connection, select

from temp0.core.run import Address, Attempt, Run, Sample
from temp0.core.text import from_utf8, utf8
from temp0.errors import StoreError
from temp0.store.encoding import optional_label, plan_from
from temp0.store.row import Reader, Row
from temp0.store.schema import ATTEMPTS, RUNS, SAMPLES

_AT_ONCE = 1_000


def query(*names: str, index: str = "INDEXED BY attempts_of_a_prompt") -> str:
    """A query for these columns of the attempts of one run, by default in the order in which they lie in the file."""
    columns = ", ".join(f'"{name}"' for name in names)
    return f"SELECT {columns} FROM attempts {index} WHERE run = ?"


OF_RUN = query(*ATTEMPTS.c.keys())
JUDGED = f"{OF_RUN} AND prompt = ? AND role = 'judged'"
OF_ORDERS = f'{query(*ATTEMPTS.c.keys(), index="")} AND "order" IN (SELECT value FROM json_each(?))'


def header(connection: Connection, number: int) -> Run:
    """The run of that number without its attempts, with its samples in the order in which they were appended."""
    row = connection.execute(select(RUNS).where(RUNS.c.number == number)).one()
    samples = select(SAMPLES.c.at_s, SAMPLES.c.block, SAMPLES.c.running).where(SAMPLES.c.run == number)
    return Run(
        id=from_utf8(row.id),
        created=from_utf8(row.created),
        address=Address(url=from_utf8(row.url), api=from_utf8(row.api), model=from_utf8(row.model)),
        plan=plan_from(row.plan),
        cold_by=optional_label(row.cold_by),
        samples=tuple(
            Sample(at_s=at_s, block=block, running=running)
            for at_s, block, running in connection.execute(samples.order_by(SAMPLES.c.number))
        ),
    )


class Shelf:
    """The attempts of one run, given by their order; equal texts among what one shelf gives are one object."""

    def __init__(self, connection: Connection, number: int) -> None:
        self._connection = connection
        self._number = number
        self._reader = Reader(content(connection))

    def everything(self) -> tuple[Attempt, ...]:
        """All of them."""
        return self._attempts(OF_RUN)

    def judged(self, prompt_id: str) -> tuple[Attempt, ...]:
        """The judged ones of a prompt."""
        return self._attempts(JUDGED, utf8(prompt_id))

    def at(self, orders: Sequence[int]) -> tuple[Attempt, ...]:
        """Those of these orders."""
        return self._attempts(OF_ORDERS, json.dumps(orders, allow_nan=False)) if orders else ()

    def _attempts(self, text: str, *asked: Any) -> tuple[Attempt, ...]:
        with _no_collection():
            batches = rows(self._connection, text, self._number, *asked)
            found = [attempt for some in batches for attempt in self._reader.attempts(some)]
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
def _no_collection() -> Iterator[None]:
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
