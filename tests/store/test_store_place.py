"""Attempts of one prompt lie together in the file, and no two attempts share a place."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from itertools import groupby

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_run import RUN, answered, save

from temp0.errors import StoreError
from temp0.store import Store
from temp0.store.writing import place

runs = st.one_of(st.sampled_from([1, 2**20 - 1, 2**20, 2**22 - 1]), st.integers(min_value=1, max_value=2**22 - 1))
orders = st.one_of(st.sampled_from([0, 2**27 - 1, 2**27, 2**40 - 1]), st.integers(min_value=0, max_value=2**40 - 1))


@settings(max_examples=500)
@given(run=runs, order=orders, prompt=st.binary(max_size=3))
def test_a_place_tells_run_and_order_so_that_no_two_attempts_share_one(run, order, prompt):
    found = place(run, order, prompt)
    assert -(2**63) <= found < 2**63
    assert (run, order) == ((found >> 43, found % 2**27) if found >= 0 else divmod(-1 - found, 2**40))


def test_attempts_of_one_prompt_lie_together_however_they_were_sent(tmp_path):
    sent = [answered(order, "x", prompt="AB"[order % 2]) for order in range(20)]
    with Store.open(tmp_path / "runs.db") as store:
        save(store, replace(RUN, attempts=tuple(sent)))
        save(store, replace(RUN, id="other", attempts=tuple(sent)))
    with closing(sqlite3.connect(tmp_path / "runs.db")) as connection:
        lying = connection.execute("SELECT run, prompt FROM attempts ORDER BY rowid").fetchall()
    assert len(lying) == 40
    assert len(list(groupby(lying))) == 4


@pytest.mark.parametrize("prompt", ["A", "B"])
def test_an_order_is_stored_once_for_whatever_prompt(tmp_path, prompt):
    with Store.open(tmp_path / "runs.db") as store:
        store.begin(RUN)
        store.append(RUN.id, [answered(5, "first", prompt="A")])
        with pytest.raises(StoreError, match="already holds an attempt of the same order"):
            store.append(RUN.id, [answered(5, "second", prompt=prompt)])


def test_an_order_beyond_what_is_gathered_is_stored_too(tmp_path):
    far = tuple(answered(order, "x") for order in (2**27 - 1, 2**27, 2**39))
    with Store.open(tmp_path / "runs.db") as store:
        save(store, replace(RUN, attempts=far))
        assert store.load(RUN.id).attempts == far
