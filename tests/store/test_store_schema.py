"""The schema keeps its promises, and older files become current ones."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from extracted_run import extracted_chapters
from small_run import ATTEMPTS, RUN, answered, save

from temp0.errors import StoreError
from temp0.store import Store, extract
from temp0.store.database import Database
from temp0.store.schema import APPLICATION_ID, MIGRATIONS, TABLES, migrate, schema_version

VERSION_1 = Path(__file__).with_name("version_1.sql")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs.db"


@pytest.fixture
def stored(path):
    with Store.open(path) as store:
        save(store, RUN)
        store.finish(RUN.id)
    return path


@pytest.fixture
def version_1(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(VERSION_1.read_text())
    return path


def schema(path):
    """Every table with its columns, every index and every trigger."""
    with closing(sqlite3.connect(path)) as connection:
        names = connection.execute("SELECT type, name, tbl_name FROM sqlite_master ORDER BY type, name").fetchall()
        columns = [connection.execute(f"PRAGMA table_xinfo({name})").fetchall() for _, name, _ in names]
        return names, columns


def pragma(path, name):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(f"PRAGMA {name}").fetchone()[0]


def test_a_new_file_has_the_newest_version_our_mark_and_a_write_ahead_log(stored):
    assert pragma(stored, "user_version") == len(MIGRATIONS)
    assert pragma(stored, "application_id") == APPLICATION_ID
    assert pragma(stored, "journal_mode") == "wal"


def test_a_file_of_version_1_is_migrated_and_keeps_its_run(version_1):
    assert pragma(version_1, "user_version") == 1
    with Store.open(version_1) as store:
        assert store.load(RUN.id) == RUN
        assert store.is_finished(RUN.id)
        store.append(RUN.id, [answered(20, "later")])
        assert len(store.load(RUN.id).attempts) == len(ATTEMPTS) + 1
    assert pragma(version_1, "user_version") == len(MIGRATIONS)


def test_a_run_of_version_1_goes_on_in_chapters_beside_what_is_appended_now(version_1):
    later = [answered(20, "later"), answered(21, "later", role="filler")]
    with Store.open(version_1) as store:
        store.append(RUN.id, later)
        with store.book(RUN.id) as book:
            assert book.preface().run == replace(RUN, attempts=())
            assert list(book.chapters()) == extracted_chapters(replace(RUN, attempts=(*ATTEMPTS, *later)))


def test_a_migrated_file_has_the_schema_of_a_new_one(version_1, tmp_path):
    Store.open(version_1).close()
    new = tmp_path / "new.db"
    with Store.open(new) as store:
        save(store, RUN)
    assert schema(version_1) == schema(new)


def test_a_later_migration_runs_once_and_keeps_every_run(version_1):
    later = (*MIGRATIONS, ("ALTER TABLE runs ADD COLUMN note BLOB",))
    with closing(Database(version_1, patience_s=1.0)) as database:
        for _ in range(2):
            with database.writing() as connection:
                migrate(connection, later)
                assert schema_version(connection) == len(later)
                assert connection.exec_driver_sql("SELECT id, note FROM runs").fetchall() == [(b"4f2a90", None)]


def test_a_migration_that_fails_leaves_the_older_file(version_1):
    broken = (*MIGRATIONS, ("ALTER TABLE runs ADD COLUMN note BLOB", "CREATE TABLE runs (twice)"))
    with (
        closing(Database(version_1, patience_s=1.0)) as database,
        pytest.raises(StoreError, match="already exists"),
        database.writing() as connection,
    ):
        migrate(connection, broken)
    with Store.open(version_1) as store:
        assert store.load(RUN.id) == RUN
    assert pragma(version_1, "user_version") == len(MIGRATIONS)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_the_columns_we_name_are_those_of_the_file_in_their_order(stored, table):
    with closing(sqlite3.connect(stored)) as connection:
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table.name})")]
    assert [column.name for column in table.c] == columns


@pytest.mark.parametrize("act", ["DELETE FROM {0}", "UPDATE {0} SET {1} = {1}"])
@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_no_row_can_be_changed_or_deleted(stored, table, act):
    statement = act.format(table.name, table.c[0].name)
    with closing(sqlite3.connect(stored)) as connection, pytest.raises(sqlite3.IntegrityError, match="append-only"):
        connection.execute(statement)


@pytest.mark.parametrize(("text", "reason"), [(None, None), (b"hash", b"refused")])
def test_an_attempt_is_either_a_completion_or_a_failure(stored, text, reason):
    statement = (
        'INSERT INTO attempts (run, "order", prompt, condition, block, role, started_s, ended_s, in_flight, text,'
        " reason) VALUES (1, 99, x'', x'', 0, 'judged', 0.0, 0.0, 1, ?, ?)"
    )
    with closing(sqlite3.connect(stored)) as connection, pytest.raises(sqlite3.IntegrityError, match="CHECK"):
        connection.execute(statement, (text, reason))


def test_a_prompt_is_read_and_runs_are_counted_through_indexes(stored):
    queries = {
        extract.JUDGED: "USING INDEX attempts_of_a_prompt (run=? AND prompt=? AND role=?)",
        extract.OF_ORDERS: "USING INDEX sqlite_autoindex_attempts_1 (run=? AND order=?)",
        "SELECT run, count(*) FROM attempts WHERE role = 'judged' GROUP BY run": "USING COVERING INDEX",
        "SELECT run, count(*) FROM attempts WHERE role = 'judged' AND text IS NULL GROUP BY run": "INDEX failures",
    }
    with closing(sqlite3.connect(stored)) as connection:
        for query, expected in queries.items():
            steps = connection.execute(f"EXPLAIN QUERY PLAN {query}", [1] * query.count("?"))
            plan = " ".join(row[3] for row in steps)
            assert expected in plan
