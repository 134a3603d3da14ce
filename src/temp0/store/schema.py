"""What the file looks like, and how an older file becomes a current one.

Migrations are only ever appended: the first N of them make schema version N, which the file carries in
`PRAGMA user_version`. One that has been released is never edited.
"""

from __future__ import annotations

from itertools import product

from sqlalchemy import Connection, TableClause, column, table

# "tmp0" in ASCII: how we know our own file from another program's SQLite database.
APPLICATION_ID = 0x746D7030

Migration = tuple[str, ...]

# Every string from outside is a BLOB made by core.text.utf8, because SQLite's TEXT cannot carry a lone surrogate.
_FIRST: Migration = (
    """
    CREATE TABLE runs (
        -- One row for each run, written before its first request is sent.
        number INTEGER PRIMARY KEY,     -- grows in the order in which runs began
        id BLOB NOT NULL UNIQUE,
        created BLOB NOT NULL,          -- ISO 8601, UTC
        url BLOB NOT NULL,              -- the address: which endpoint was asked
        api BLOB NOT NULL,
        model BLOB NOT NULL,
        planned INTEGER NOT NULL,       -- judged attempts that the plan wants
        plan BLOB NOT NULL,             -- JSON of core.plan.Plan: prompts, conditions, seed
        version BLOB,                   -- of the temp0 that asked
        environment BLOB NOT NULL       -- JSON pairs: what else is known of where it ran
    )
    """,
    """
    CREATE TABLE endings (
        -- One row for each run whose plan was carried out to its end; without one a run can be resumed.
        run INTEGER PRIMARY KEY REFERENCES runs (number)
    )
    """,
    """
    CREATE TABLE contents (
        -- Each distinct content once: texts, failure messages, bodies, tokens as packed by store.tokens, and the like.
        hash BLOB PRIMARY KEY,          -- SHA-256 of `bytes`, 32 bytes
        bytes BLOB NOT NULL
    )
    """,
    """
    CREATE TABLE attempts (
        -- One row for each request sent. A completion has a text and no reason, a failure a reason and no text.
        run INTEGER NOT NULL REFERENCES runs (number),
        "order" INTEGER NOT NULL,
        prompt BLOB NOT NULL,
        condition BLOB NOT NULL,
        block INTEGER NOT NULL,
        role TEXT NOT NULL,             -- judged or filler
        started_s REAL NOT NULL,        -- times are seconds since the run was created
        first_byte_s REAL,
        ended_s REAL NOT NULL,
        in_flight INTEGER NOT NULL,
        predecessor INTEGER,
        -- A failure:
        reason BLOB,
        message BLOB REFERENCES contents (hash),
        status INTEGER,                 -- HTTP
        -- A completion:
        text BLOB REFERENCES contents (hash),
        reasoning BLOB REFERENCES contents (hash),
        tokens BLOB REFERENCES contents (hash),
        finish BLOB,
        usage BLOB,                     -- JSON of core.run.Usage
        model BLOB,
        fingerprint BLOB,
        id BLOB,
        created BLOB,                   -- decimal digits: servers are free to send more than 64 bits
        headers BLOB,                   -- JSON pairs
        UNIQUE (run, "order"),
        CHECK ((text IS NULL) <> (reason IS NULL))
    )
    """,
    # One prompt is read without touching the others, and judged attempts are counted from the index alone.
    "CREATE INDEX attempts_of_a_prompt ON attempts (run, prompt, role)",
    "CREATE INDEX failures ON attempts (run, role) WHERE text IS NULL",
    """
    CREATE TABLE samples (
        -- The server's own count of running requests, taken now and then while a block runs.
        number INTEGER PRIMARY KEY,
        run INTEGER NOT NULL REFERENCES runs (number),
        at_s REAL NOT NULL,             -- seconds since the run was created
        block INTEGER NOT NULL,
        running REAL NOT NULL
    )
    """,
    "CREATE INDEX samples_of_a_run ON samples (run)",
    # Append-only is a promise of the file, not only of this program.
    *(
        f"""
        CREATE TRIGGER no_{act.lower()}_of_{name} BEFORE {act} ON {name}
        BEGIN SELECT RAISE(ABORT, 'the store is append-only'); END
        """
        for name, act in product(("runs", "endings", "contents", "attempts", "samples"), ("UPDATE", "DELETE"))
    ),
)

# By what means of the server the prefix cache was made cold, where the plan asked for that.
_COLD_BY: Migration = ("ALTER TABLE runs ADD COLUMN cold_by BLOB",)

# What else an answer holds beside its text, and both bodies as they crossed the wire.
_BODIES: Migration = (
    "ALTER TABLE attempts ADD COLUMN tool_calls BLOB",  # JSON pairs of name and arguments
    "ALTER TABLE attempts ADD COLUMN refusal BLOB REFERENCES contents (hash)",
    "ALTER TABLE attempts ADD COLUMN sent BLOB REFERENCES contents (hash)",
    "ALTER TABLE attempts ADD COLUMN received BLOB REFERENCES contents (hash)",
)

# What the user had sent beside what the dialect says.
_EXTRA: Migration = (
    "ALTER TABLE runs ADD COLUMN extra BLOB",  # a JSON object, merged into each body
    "ALTER TABLE runs ADD COLUMN headers BLOB",  # names, separated by spaces
)

# What an imported run does not tell.
_UNTOLD: Migration = ("ALTER TABLE runs ADD COLUMN untold BLOB",)  # words, separated by spaces

MIGRATIONS: tuple[Migration, ...] = (_FIRST, _COLD_BY, _BODIES, _EXTRA, _UNTOLD)


def _columns(name: str, columns: str) -> TableClause:
    return table(name, *(column(each) for each in columns.split()))


# The columns without types, so that SQLAlchemy hands values to sqlite3 and back as they are.
RUNS = _columns("runs", "number id created url api model planned plan version environment cold_by extra headers untold")
ENDINGS = _columns("endings", "run")
CONTENTS = _columns("contents", "hash bytes")
ATTEMPTS = _columns(
    "attempts",
    "run order prompt condition block role started_s first_byte_s ended_s in_flight predecessor"
    " reason message status"
    " text reasoning tokens finish usage model fingerprint id created headers tool_calls refusal"
    " sent received",
)
SAMPLES = _columns("samples", "number run at_s block running")
TABLES = (RUNS, ENDINGS, CONTENTS, ATTEMPTS, SAMPLES)


def schema_version(connection: Connection) -> int:
    """The schema version of the file: 0 where nothing was ever written to it."""
    return int(connection.exec_driver_sql("PRAGMA user_version").scalar_one())


def is_foreign(connection: Connection) -> bool:
    """Whether the file is an SQLite database of another program."""
    if connection.exec_driver_sql("PRAGMA application_id").scalar_one() == APPLICATION_ID:
        return False
    return bool(connection.exec_driver_sql("SELECT count(*) FROM sqlite_master").scalar_one())


def migrate(connection: Connection, migrations: tuple[Migration, ...] = MIGRATIONS) -> None:
    """Carry out the migrations that the file still lacks, inside the caller's transaction."""
    for statement in [each for migration in migrations[schema_version(connection) :] for each in migration]:
        connection.exec_driver_sql(statement)
    connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.exec_driver_sql(f"PRAGMA user_version = {len(migrations)}")
