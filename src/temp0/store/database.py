"""Opens the file: connections, transactions and their guarantees.

A committed transaction survives the death of this process at any moment (kill -9 included): WAL with
synchronous=NORMAL has handed it to the operating system by then. A power cut may lose the last transactions, but
never damages the file.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.engine.interfaces import DBAPICursor

from temp0.errors import StoreError
from temp0.store.fault import is_busy, plain_errors
from temp0.store.schema import MIGRATIONS, is_foreign, migrate, schema_version

_CACHE_KIB = 16_384
_PAUSE_S = 0.02


class Database:
    """The file at `path`, migrated to the current schema; created, with its folder, where there is none.

    `patience_s` is how long a statement waits for another process's transaction. Raises StoreError.
    """

    def __init__(self, path: Path, *, patience_s: float) -> None:
        self.path = path
        self._patience_s = patience_s
        _make_folder(path)
        self._reader = _engine(path, patience_s)
        self._writer = self._reader.execution_options(writes=True)
        try:
            with plain_errors(path):
                self._prepare()
        except BaseException:
            self.close()
            raise

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One transaction that sees one state of the file, whatever others append meanwhile."""
        with plain_errors(self.path), self._reader.begin() as connection:
            yield connection

    @contextmanager
    def one_state(self) -> Iterator[Connection]:
        """The same for a longer time, in which other things are done: only its own begin and end raise `StoreError`."""
        with plain_errors(self.path):
            connection = self._reader.connect()
            connection.begin()
        try:
            yield connection
        finally:
            connection.close()

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """One transaction that is stored whole when the block ends, and not at all when it raises."""
        with plain_errors(self.path), self._writer.begin() as connection:
            yield connection

    def close(self) -> None:
        """Give back every connection; the last one of all processes folds the WAL into the file."""
        self._reader.dispose()

    def _prepare(self) -> None:
        if self._is_current():
            return
        with closing(self._writer.raw_connection()) as connection:
            self._use_wal(connection.cursor())
        with self._writer.begin() as connection:
            migrate(connection)

    def _use_wal(self, cursor: DBAPICursor) -> None:
        """Change the journal, outside any transaction, since SQLite cannot within one.

        It needs the file for itself and does not wait as a transaction does, so another process that makes the same
        store is waited for here.
        """
        patience = time.monotonic() + self._patience_s
        while True:
            try:
                cursor.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                if not is_busy(error) or time.monotonic() > patience:
                    raise
                time.sleep(_PAUSE_S)
            else:
                return

    def _is_current(self) -> bool:
        with self._reader.begin() as connection:
            version = schema_version(connection)
            foreign = is_foreign(connection)
        if foreign:
            raise StoreError(f"{self.path} is an SQLite database of another program, not a temp0 store")
        if version > len(MIGRATIONS):
            raise StoreError(
                f"the store {self.path} has schema version {version}, and this temp0 knows versions up to"
                f" {len(MIGRATIONS)}: upgrade temp0 (pip install --upgrade temp0), or choose another with --store"
            )
        return version == len(MIGRATIONS)


def _make_folder(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"the folder of the store {path} cannot be created ({error.strerror}); choose another with --store"
        ) from error


def _engine(path: Path, patience_s: float) -> Engine:
    url = URL.create("sqlite+pysqlite", database=str(path.absolute()))
    engine = create_engine(url, connect_args={"timeout": patience_s})
    event.listen(engine, "connect", _set_up)
    event.listen(engine, "begin", _begin)
    return engine


def _set_up(connection: sqlite3.Connection, _record: object) -> None:
    # Transactions are begun by us: sqlite3's own would begin a writing one as a reading one.
    connection.isolation_level = None
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")


def _begin(connection: Connection) -> None:
    # IMMEDIATE takes the lock at once, where waiting still helps; upgrading a read lock later fails without waiting.
    writes = connection.get_execution_options().get("writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
