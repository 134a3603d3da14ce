"""A store that cannot be used says which file, what is wrong with it and what to do."""

from __future__ import annotations

import math
import os
import resource
import sqlite3
import tempfile
import threading
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from small_run import RUN, answered, attempt, header_of, save

from temp0.core.run import Failure, Sample
from temp0.errors import StoreError
from temp0.store import Store
from temp0.store.database import Database
from temp0.store.schema import MIGRATIONS

NOBODY = 65534


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs.db"


@pytest.fixture
def stored(path):
    with Store.open(path) as store:
        save(store, RUN)
    return path


@pytest.fixture
def open_folder():
    """A folder that every user may enter, unlike pytest's own."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        yield Path(folder)
        Path(folder).chmod(0o777)


@contextmanager
def no_privileges():
    """Root may write anywhere, so that a test run by root steps down meanwhile."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def refusal(path, **fields):
    with pytest.raises(StoreError) as caught, Store.open(path, **fields) as store:
        store.begin(header_of("new"))
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_a_folder_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").write_text("in the way")
    assert "cannot be created" in refusal(tmp_path / "file" / "runs.db")


def test_a_path_that_is_a_folder_is_refused(tmp_path):
    assert "cannot be opened or created there" in refusal(tmp_path)


def test_a_folder_that_is_not_writable_is_refused(open_folder):
    open_folder.chmod(0o555)
    with no_privileges():
        assert "cannot be opened or created there" in refusal(open_folder / "runs.db")
        assert "cannot be created (Permission denied)" in refusal(open_folder / "below" / "runs.db")


def test_a_folder_that_may_not_be_entered_is_refused(open_folder):
    open_folder.chmod(0o000)
    with no_privileges():
        assert "Permission denied" in refusal(open_folder / "below" / "runs.db")


def test_a_file_that_is_not_writable_is_refused(open_folder):
    path = open_folder / "runs.db"
    with no_privileges():
        with Store.open(path) as store:
            save(store, RUN)
        path.chmod(0o444)
        assert "is not writable" in refusal(path)


@pytest.mark.parametrize("content", [b"{'runs': []}\n" * 200, b"SQLite format 3\x00" + b"\xff" * 5000])
def test_a_file_that_is_no_database_is_refused_and_left_alone(path, content):
    path.write_bytes(content)
    message = refusal(path)
    assert "is not a temp0 store" in message or "is damaged" in message
    assert path.read_bytes() == content


def test_the_database_of_another_program_is_refused_and_left_alone(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE moz_places (url TEXT)")
    before = path.read_bytes()
    assert "another program" in refusal(path)
    assert path.read_bytes() == before


def test_a_newer_store_is_refused_with_its_version_and_left_alone(stored):
    with closing(sqlite3.connect(stored)) as connection:
        connection.execute("PRAGMA user_version = 99")
    before = stored.read_bytes()
    assert f"has schema version 99, and this temp0 knows versions up to {len(MIGRATIONS)}: upgrade temp0" in refusal(
        stored
    )
    assert stored.read_bytes() == before


def test_an_empty_file_becomes_a_store(path):
    path.touch()
    with Store.open(path) as store:
        save(store, RUN)
        assert store.load(RUN.id) == RUN


def test_a_locked_store_is_refused_after_some_patience(stored):
    with closing(sqlite3.connect(stored, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert "is locked by another program" in refusal(stored, patience_s=0.05)


def test_a_store_waits_for_another_writer_to_end(stored):
    with closing(sqlite3.connect(stored, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        end = threading.Timer(0.1, other.execute, ["COMMIT"])
        with Store.open(stored, patience_s=60.0) as store:
            end.start()
            store.append(RUN.id, [answered(50, "in the end")])
            end.join()
            assert store.load(RUN.id).attempts[-1] == answered(50, "in the end")


def test_a_locked_store_can_still_be_read(stored):
    with closing(sqlite3.connect(stored, isolation_level=None)) as other, Store.open(stored, patience_s=0.05) as store:
        other.execute("BEGIN IMMEDIATE")
        assert store.load(RUN.id) == RUN


def test_a_damaged_store_is_refused(stored):
    content = bytearray(stored.read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)
    stored.write_bytes(content)
    with pytest.raises(StoreError, match="is damaged"), Store.open(stored) as store:
        store.load(RUN.id)


def test_a_content_that_is_missing_is_told(stored):
    with closing(sqlite3.connect(stored)) as connection:
        connection.executescript("DROP TRIGGER no_delete_of_contents; DELETE FROM contents")
    with Store.open(stored) as store, pytest.raises(StoreError, match="is damaged: it lacks the content 16dc36"):
        store.load(RUN.id)


def test_a_fault_of_the_file_is_told_by_a_book_too(stored):
    with closing(sqlite3.connect(stored)) as connection:
        connection.executescript("DROP INDEX attempts_of_a_prompt")
    with Store.open(stored) as store, store.book(RUN.id) as book:
        with pytest.raises(StoreError, match=r"runs\.db refused: no such index"):
            book.preface()
        with pytest.raises(StoreError, match=r"runs\.db refused: no such index"):
            next(book.chapters())


def fill(database):
    with database.writing() as connection:
        # SQLite reports a database that has reached its greatest size exactly as it reports a full disk.
        connection.exec_driver_sql("PRAGMA max_page_count = 1")
        for _ in range(100):
            connection.exec_driver_sql("INSERT INTO contents VALUES (randomblob(32), zeroblob(4096))")


def test_a_full_disk_is_told_and_keeps_what_was_stored(stored):
    with closing(Database(stored, patience_s=1.0)) as database, pytest.raises(StoreError, match="the disk is full"):
        fill(database)
    with Store.open(stored) as store:
        assert store.load(RUN.id) == RUN


@contextmanager
def files_no_larger_than(size):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_write_that_fails_is_told_and_keeps_what_was_stored(stored):
    large = "x" * 4_000_000
    with Store.open(stored) as store:
        with files_no_larger_than(1_000_000), pytest.raises(StoreError, match="input/output error"):
            store.append(RUN.id, [answered(50, large)])
        assert store.load(RUN.id) == RUN
        store.append(RUN.id, [answered(50, large)])
        assert store.load(RUN.id).attempts[-1] == answered(50, large)


def test_a_sample_that_is_no_number_is_refused_and_nothing_of_its_group_is_stored(stored):
    nothing = Sample(at_s=0.0, block=0, running=math.nan)
    with Store.open(stored) as store:
        with pytest.raises(StoreError, match=r"refused: NOT NULL constraint failed: samples\.running"):
            store.append(RUN.id, [answered(50, "x")], [nothing])
        assert store.load(RUN.id) == RUN


def test_a_status_beyond_64_bits_is_refused_and_nothing_of_its_group_is_stored(stored):
    odd = attempt(51, Failure(reason="refused", message="", status=10**30))
    with Store.open(stored) as store:
        with pytest.raises(StoreError, match="refused a number beyond 64 bits"):
            store.append(RUN.id, [answered(50, "x"), odd])
        assert store.load(RUN.id) == RUN
