"""Processes that die or write side by side lose nothing that was stored."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from small_run import answered

from temp0.store import Store

PROGRAM = Path(__file__).with_name("appending_process.py")
ENDLESS = 10**9


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs.db"


@contextmanager
def appending(path, run_id, *, groups, size):
    command = [sys.executable, str(PROGRAM), str(path), run_id, str(groups), str(size)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("size", [1, 7])
def test_a_killed_process_leaves_all_that_it_stored_and_a_sound_file(path, size):
    with appending(path, "killed", groups=ENDLESS, size=size) as process:
        told = [int(process.stdout.readline()) for _ in range(25)]
        process.send_signal(signal.SIGKILL)
        told += [int(line) for line in process.stdout.read().split("\n")[:-1]]
        assert process.wait() == -signal.SIGKILL
    with Store.open(path) as store:
        attempts = store.load("killed").attempts
        # The group that was on its way may be there or not, but never a part of it.
        assert len(attempts) in (told[-1], told[-1] + size)
        assert attempts == tuple(answered(order, f"text {order}") for order in range(len(attempts)))
        assert not store.is_finished("killed")
        store.append("killed", [answered(len(attempts), "resumed")])
        assert store.load("killed").attempts[-1] == answered(len(attempts), "resumed")
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


def test_processes_that_make_a_store_together_and_append_to_it_keep_everything(path):
    with (
        appending(path, "one", groups=60, size=3) as first,
        appending(path, "two", groups=60, size=3) as second,
    ):
        assert first.stdout.read().split()[-1] == second.stdout.read().split()[-1] == "180"
        assert (first.wait(), second.wait()) == (0, 0)
    with Store.open(path) as store:
        expected = tuple(answered(order, f"text {order}") for order in range(180))
        assert store.load("one").attempts == store.load("two").attempts == expected
