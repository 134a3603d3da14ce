"""Keeps runs: begins them, appends attempts to them, finishes them and reads them back.

Append-only, and each call is one transaction: what a call has stored when it returns is there whatever happens to
this process afterwards. A store belongs to one thread at a time for appending; other processes may append to the
same file meanwhile.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy import insert, select
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import IntegrityError

from temp0.core.run import Attempt, Run, Sample
from temp0.core.text import from_utf8, utf8
from temp0.errors import StoreError, UnknownRunError
from temp0.store import reading
from temp0.store.book import Book
from temp0.store.database import Database
from temp0.store.encoding import Pairs, optional_utf8, pairs_bytes, plan_bytes
from temp0.store.fault import is_repeat
from temp0.store.row import Contents, attempt_row, sample_row
from temp0.store.schema import CONTENTS, ENDINGS, RUNS
from temp0.store.summary import RunSummary, summaries
from temp0.store.writing import append_rows

PATIENCE_S = 5.0

# Hashes remembered as stored, so that a text that comes back again and again is not handed to SQLite each time.
_MOST_KNOWN = 100_000


class Store:
    """The runs in one file. Close it, or use it as a context manager.

    Every method raises StoreError where the file cannot be read or written, and UnknownRunError where there is no
    run of that id. A run id is a whole one; `resolve` finds it from its beginning.
    """

    def __init__(self, path: Path, *, patience_s: float) -> None:
        """Use `Store.open`."""
        self.path = path
        self._patience_s = patience_s
        self._database: Database | None = None
        self._numbers: dict[str, int] = {}
        self._known: set[bytes] = set()

    @classmethod
    def open(cls, path: Path, *, patience_s: float = PATIENCE_S) -> Self:
        """The store at `path`, migrated where it is of an older schema.

        A file that does not exist reads as a store without runs; the first `begin` creates it, and its folder.
        `patience_s` is how long to wait while another process writes.
        """
        store = cls(path, patience_s=patience_s)
        if _exists(path):
            store._database = Database(path, patience_s=patience_s)
        return store

    def close(self) -> None:
        """Give the file back."""
        if self._database:
            self._database.close()
            self._database = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def begin(self, run: Run, *, version: str | None = None, environment: Pairs = ()) -> None:
        """Store everything of `run` but its attempts and samples, with the `version` of the temp0 that asks."""
        if self._database is None:
            self._database = Database(self.path, patience_s=self._patience_s)
        row = {
            "id": utf8(run.id),
            "created": utf8(run.created),
            "url": utf8(run.address.url),
            "api": utf8(run.address.api),
            "model": utf8(run.address.model),
            "planned": run.plan.attempts,
            "plan": plan_bytes(run.plan),
            "version": optional_utf8(version),
            "environment": pairs_bytes(environment),
            "cold_by": optional_utf8(run.cold_by),
            "untold": optional_utf8(" ".join(run.untold) or None),
            "extra": optional_utf8(run.address.extra or None),
            "headers": optional_utf8(run.address.headers or None),
        }
        with self._database.writing() as connection, _no_repeat(f"run {run.id} is stored already"):
            connection.execute(insert(RUNS).values(row))

    def keep(self, run_id: str, bodies: Iterable[bytes]) -> None:
        """Store raw bodies, each once, before the attempts that name them as `received`."""
        contents = {hashlib.sha256(body).digest(): body for body in bodies}
        with self._place(run_id)[0].writing() as connection:
            append_rows(connection, list(contents.items()), (), ())

    def append(self, run_id: str, attempts: Sequence[Attempt], samples: Sequence[Sample] = ()) -> None:
        """Store all of these or, where anything is wrong with one of them, none: an order is stored only once."""
        database, number = self._place(run_id)
        contents: Contents = {}
        rows = [attempt_row(number, attempt, contents) for attempt in attempts]
        new = [(digest, data) for digest, data in contents.items() if digest not in self._known]
        repeat = f"run {run_id} already holds an attempt of the same order as one of these"
        with database.writing() as connection, _no_repeat(repeat):
            append_rows(connection, new, rows, [sample_row(number, sample) for sample in samples])
        self._remember(digest for digest, _ in new)

    def body(self, run_id: str, digest: str) -> bytes:
        """The raw body that an attempt of the run names as `received`."""
        with self._place(run_id)[0].reading() as connection:
            kept = connection.scalar(select(CONTENTS.c.bytes).where(CONTENTS.c.hash == bytes.fromhex(digest)))
        if kept is None:
            raise StoreError(f"the store {self.path} does not hold the body {digest}")
        return bytes(kept)

    def finish(self, run_id: str) -> None:
        """Mark the run as carried out to its end; once more changes nothing."""
        database, number = self._place(run_id)
        with database.writing() as connection:
            connection.execute(sqlite.insert(ENDINGS).values(run=number).on_conflict_do_nothing())

    def is_finished(self, run_id: str) -> bool:
        """Whether the run was carried out to its end."""
        database, number = self._place(run_id)
        with database.reading() as connection:
            return connection.scalar(select(ENDINGS.c.run).where(ENDINGS.c.run == number)) is not None

    def planned(self, run_id: str) -> int:
        """How many judged attempts the run's plan wants."""
        database, number = self._place(run_id)
        with database.reading() as connection:
            return int(connection.scalar(select(RUNS.c.planned).where(RUNS.c.number == number)) or 0)

    def resolve(self, prefix: str) -> str:
        """The id of the one run whose id is `prefix` or begins with it, or of the `last` run that began.

        `last~1` is the run that began before the last one, and so on.
        """
        if not prefix:
            raise UnknownRunError("no run is named: give the beginning of its id, or last")
        ids = self._ids()
        if (back := re.fullmatch(r"last(?:~(\d+))?", prefix)) and (place := int(back[1] or 0)) < len(ids):
            return ids[place]
        if prefix in ids:
            return prefix
        matches = [each for each in ids if each.startswith(prefix)]
        if len(matches) != 1:
            raise UnknownRunError(_unresolved(prefix, matches, len(ids), self.path))
        return matches[0]

    def runs(self) -> tuple[RunSummary, ...]:
        """A summary of each run, the run that began last first."""
        if self._database is None:
            return ()
        with self._database.reading() as connection:
            return summaries(connection)

    def head(self, run_id: str) -> Run:
        """The run without its attempts: who was asked, and what."""
        database, number = self._place(run_id)
        with database.reading() as connection:
            return reading.header(connection, number)

    def load(self, run_id: str) -> Run:
        """The whole run: attempts by their order, samples as they were appended."""
        database, number = self._place(run_id)
        with database.reading() as connection:
            return replace(reading.header(connection, number), attempts=reading.everything(connection, number))

    @contextmanager
    def book(self, run_id: str) -> Iterator[Book]:
        """The run in chapters, so that it need not fit in memory: of one state, whatever others append meanwhile."""
        database, number = self._place(run_id)
        with database.one_state() as connection:
            yield Book(connection, number, self.path)

    def _ids(self) -> list[str]:
        if self._database is None:
            return []
        with self._database.reading() as connection:
            return [from_utf8(each) for each in connection.scalars(select(RUNS.c.id).order_by(RUNS.c.number.desc()))]

    def _place(self, run_id: str) -> tuple[Database, int]:
        """The open file, and the run's number in it."""
        if self._database is None:
            raise UnknownRunError(f"no run {run_id} in the store {self.path}, which does not exist yet")
        if run_id not in self._numbers:
            with self._database.reading() as connection:
                number = connection.scalar(select(RUNS.c.number).where(RUNS.c.id == utf8(run_id)))
            if number is None:
                raise UnknownRunError(f"no run {run_id} in the store {self.path}")
            self._numbers[run_id] = number
        return self._database, self._numbers[run_id]

    def _remember(self, digests: Iterable[bytes]) -> None:
        if len(self._known) > _MOST_KNOWN:
            self._known.clear()
        self._known.update(digests)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:
        raise StoreError(f"the store {path} cannot be reached ({error.strerror})") from error


@contextmanager
def _no_repeat(message: str) -> Iterator[None]:
    try:
        yield
    except IntegrityError as error:
        if is_repeat(error):
            raise StoreError(message) from error
        raise


def _unresolved(prefix: str, matches: list[str], count: int, path: Path) -> str:
    if matches:
        return f"{len(matches)} runs begin with {prefix!r}: {', '.join(matches)}; give more of the id"
    held = "1 run" if count == 1 else f"{count} runs"
    return f"no run begins with {prefix!r}; the store {path} holds {held} (temp0 runs lists them)"
