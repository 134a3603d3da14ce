"""Where the store is by default."""

from __future__ import annotations

from pathlib import Path

from temp0.store import default_path


def test_the_environment_may_name_another_path(tmp_path):
    assert default_path({"TEMP0_STORE": str(tmp_path / "mine.db")}) == tmp_path / "mine.db"
    assert default_path({"TEMP0_STORE": "~/mine.db"}) == Path.home() / "mine.db"


def test_without_it_the_store_is_in_the_users_data_folder():
    assert default_path().parts[-2:] == ("temp0", "runs.db")
    assert default_path({"TEMP0_STORE": ""}) == default_path()


def test_an_environment_that_is_not_handed_over_is_not_read(monkeypatch):
    monkeypatch.setenv("TEMP0_STORE", "elsewhere.db")
    assert default_path({}).name == "runs.db"
    assert default_path().name == "runs.db"
