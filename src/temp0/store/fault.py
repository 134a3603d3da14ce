"""What SQLite says, in words that help: every database error becomes a `StoreError` that names the file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy.exc import DBAPIError

from temp0.errors import StoreError

_MEANINGS = {
    sqlite3.SQLITE_BUSY: "is locked by another program; wait until that has ended, or choose another with --store",
    sqlite3.SQLITE_LOCKED: "is locked by another program; wait until that has ended, or choose another with --store",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened or created there; choose another with --store",
    sqlite3.SQLITE_READONLY: "is not writable; make it so, or choose another with --store",
    sqlite3.SQLITE_PERM: "is not writable; make it so, or choose another with --store",
    sqlite3.SQLITE_NOTADB: "is not a temp0 store (it is no SQLite database); choose another with --store",
    sqlite3.SQLITE_CORRUPT: "is damaged; move it away, or choose another with --store",
    sqlite3.SQLITE_FULL: "cannot grow, since the disk is full; what was stored before is kept",
    sqlite3.SQLITE_IOERR: "cannot be read or written (input/output error); what was stored before is kept",
}


@contextmanager
def plain_errors(path: Path) -> Iterator[None]:
    """Raise every database error of the block as a `StoreError` about the store at `path`, chained."""
    try:
        yield
    except DBAPIError as error:
        raise StoreError(f"the store {path} {_meaning(error.orig)}") from error
    except sqlite3.Error as error:
        raise StoreError(f"the store {path} {_meaning(error)}") from error
    except OverflowError as error:
        # sqlite3 raises this one before SQLite is asked, and SQLAlchemy lets it through.
        raise StoreError(f"the store {path} refused a number beyond 64 bits: {error}") from error


def is_repeat(error: BaseException | None) -> bool:
    """Whether a database error says that a row of that key is stored already."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    code = getattr(cause, "sqlite_errorcode", None)
    return code in (
        sqlite3.SQLITE_CONSTRAINT_UNIQUE,
        sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY,
        sqlite3.SQLITE_CONSTRAINT_ROWID,
    )


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another process holds the file just now."""
    return _family(error) in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def _meaning(error: BaseException | None) -> str:
    code = _family(error)
    return f"{_MEANINGS[code]} ({error})" if code in _MEANINGS else f"refused: {error}"


def _family(error: BaseException | None) -> int:
    # Extended codes, such as SQLITE_READONLY_DIRECTORY, carry their family in the low byte.
    return int(getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)) & 0xFF
