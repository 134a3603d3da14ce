"""One line about each stored run, counted in the file, without reading any attempt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, func, select

from temp0.store.encoding import Pairs, label, optional_label, pairs_from
from temp0.store.schema import ATTEMPTS, ENDINGS, RUNS


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """What a list of runs shows. All three counts are of judged attempts; fillers are not counted.

    `version` is that of the temp0 that asked, `None` where it was not told.
    """

    id: str
    created: str
    url: str
    api: str
    model: str
    planned: int
    completions: int
    failures: int
    finished: bool
    version: str | None
    environment: Pairs


def summaries(connection: Connection) -> tuple[RunSummary, ...]:
    """One summary of each run, the run that began last first."""
    attempts = _judged(connection)
    failures = _judged(connection, ATTEMPTS.c.text.is_(None))
    finished = set(connection.scalars(select(ENDINGS.c.run)))
    rows = connection.execute(select(*(each for each in RUNS.c if each.name != "plan")).order_by(RUNS.c.number.desc()))
    return tuple(_summary(row, attempts, failures, is_finished=row.number in finished) for row in rows)


def _judged(connection: Connection, *conditions: Any) -> dict[int, int]:
    counts = select(ATTEMPTS.c.run, func.count()).where(ATTEMPTS.c.role == "judged", *conditions)
    return dict(connection.execute(counts.group_by(ATTEMPTS.c.run)).all())


def _summary(
    row: Row[Any], attempts: Mapping[int, int], failures: Mapping[int, int], *, is_finished: bool
) -> RunSummary:
    failed = failures.get(row.number, 0)
    return RunSummary(
        id=label(row.id),
        created=label(row.created),
        url=label(row.url),
        api=label(row.api),
        model=label(row.model),
        planned=row.planned,
        completions=attempts.get(row.number, 0) - failed,
        failures=failed,
        finished=is_finished,
        version=optional_label(row.version),
        environment=pairs_from(row.environment),
    )
