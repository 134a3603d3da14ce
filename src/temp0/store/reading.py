"""Reads one run, or one prompt of it, from the file; a run comes back equal to what was stored."""

from __future__ import annotations

from operator import itemgetter

from sqlalchemy import ColumnElement, Connection, select, union

from temp0.core.run import Address, Attempt, Run, Sample
from temp0.core.text import from_utf8
from temp0.store.encoding import plan_from
from temp0.store.row import NAMED_BY_HASH, Contents, Reader
from temp0.store.schema import ATTEMPTS, CONTENTS, RUNS, SAMPLES


def header(connection: Connection, number: int) -> Run:
    """The run of that number without its attempts and samples."""
    row = connection.execute(select(RUNS).where(RUNS.c.number == number)).one()
    return Run(
        id=from_utf8(row.id),
        created=from_utf8(row.created),
        address=Address(url=from_utf8(row.url), api=from_utf8(row.api), model=from_utf8(row.model)),
        plan=plan_from(row.plan),
    )


def samples(connection: Connection, number: int) -> tuple[Sample, ...]:
    """The samples of that run in the order in which they were appended."""
    columns = select(SAMPLES.c.at_s, SAMPLES.c.block, SAMPLES.c.running)
    rows = connection.execute(columns.where(SAMPLES.c.run == number).order_by(SAMPLES.c.number))
    return tuple(Sample(at_s=at_s, block=block, running=running) for at_s, block, running in rows)


def attempts(connection: Connection, *which: ColumnElement[bool]) -> tuple[Attempt, ...]:
    """The attempts that meet all conditions, by their order."""
    reader = Reader(_contents(connection, *which))
    rows = connection.execute(select(ATTEMPTS).where(*which)).all()
    return tuple(reader.attempt(row) for row in sorted(rows, key=itemgetter(1)))


def _contents(connection: Connection, *which: ColumnElement[bool]) -> Contents:
    """Every content that these attempts name, each once, however many attempts name it."""
    named = union(*(select(ATTEMPTS.c[name]).where(*which) for name in NAMED_BY_HASH))
    rows = connection.execute(select(CONTENTS).where(CONTENTS.c.hash.in_(named)))
    return dict(rows.all())
