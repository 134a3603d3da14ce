"""What is stored is read back, once and unchanged."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from itertools import count

import pytest
from arbitrary_run import AWKWARD_RUN, runs
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from small_run import ATTEMPTS, RUN, SAMPLES, answered, failed, header_of, save

from temp0.core.text import sha256, utf8
from temp0.errors import StoreError, UnknownRunError
from temp0.store import Store

NUMBER = count()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs.db"


@pytest.fixture
def store(path):
    with Store.open(path) as opened:
        yield opened


def rows(path, query):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory):
    """One store for all examples of a property, each under a run id of its own."""
    with Store.open(tmp_path_factory.mktemp("shared") / "runs.db") as opened:
        yield opened


# Not shrunk: that would take minutes and a gigabyte, and the runs are small as they are.
@settings(max_examples=60, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@example(run=AWKWARD_RUN)
@given(run=runs())
def test_a_run_comes_back_equal(shared_store, run):
    run = replace(run, id=f"{next(NUMBER)} {run.id}")
    save(shared_store, run)
    assert shared_store.load(run.id) == run


@settings(max_examples=20, deadline=None)
@given(order=st.permutations(ATTEMPTS), cut=st.integers(min_value=0, max_value=len(ATTEMPTS)))
def test_the_order_of_appending_leaves_no_trace(shared_store, order, cut):
    run = replace(RUN, id=f"{next(NUMBER)}")
    shared_store.begin(run)
    shared_store.append(run.id, order[:cut])
    shared_store.append(run.id, order[cut:], SAMPLES)
    assert shared_store.load(run.id) == run


def test_a_run_comes_back_equal_from_a_closed_file(path):
    with Store.open(path) as store:
        save(store, RUN)
    with Store.open(path) as store:
        assert store.load(RUN.id) == RUN


def test_a_thread_of_its_own_may_append(store):
    store.begin(RUN)
    with ThreadPoolExecutor(max_workers=1) as thread:
        thread.submit(store.append, RUN.id, ATTEMPTS, SAMPLES).result()
    assert store.load(RUN.id) == RUN


def test_a_run_that_only_began_has_no_attempts(store):
    store.begin(RUN)
    assert store.load(RUN.id) == header_of(RUN.id)


def test_appending_nothing_stores_nothing(store):
    store.begin(RUN)
    store.append(RUN.id, ())
    assert store.load(RUN.id).attempts == ()


def test_a_text_is_kept_once_under_its_hash(store, path):
    store.begin(RUN)
    store.append(RUN.id, [answered(0, "\udcb2 same"), answered(1, "\udcb2 same")])
    store.append(RUN.id, [answered(2, "\udcb2 same")])
    assert rows(path, "SELECT hash, bytes FROM contents") == [
        (bytes.fromhex(sha256("\udcb2 same")), utf8("\udcb2 same"))
    ]


def test_a_text_stored_by_an_earlier_process_is_kept_once(path):
    for order in (0, 1):
        with Store.open(path) as store:
            if order == 0:
                store.begin(RUN)
            store.append(RUN.id, [answered(order, "same")])
    assert rows(path, "SELECT count(*) FROM contents") == [(1,)]


def test_the_same_order_twice_is_refused_and_nothing_of_its_group_is_stored(store):
    store.begin(RUN)
    store.append(RUN.id, [answered(5, "first")])
    with pytest.raises(StoreError, match="already holds an attempt of the same order"):
        store.append(RUN.id, [answered(6, "beside it"), answered(5, "second")])
    assert store.load(RUN.id).attempts == (answered(5, "first"),)


def test_a_text_of_a_refused_group_is_stored_when_it_comes_again(store):
    store.begin(RUN)
    with pytest.raises(StoreError):
        store.append(RUN.id, [answered(0, "late"), answered(0, "late")])
    store.append(RUN.id, [answered(0, "late")])
    assert store.load(RUN.id).attempts == (answered(0, "late"),)


def test_two_runs_may_use_the_same_orders(store):
    save(store, RUN)
    save(store, replace(RUN, id="other"))
    assert store.load("other") == replace(RUN, id="other")
    assert store.load(RUN.id) == RUN


def test_a_run_begins_once(store):
    store.begin(RUN)
    with pytest.raises(StoreError, match="run 4f2a90 is stored already"):
        store.begin(RUN)


def test_a_run_is_finished_when_it_was_said_to_be(store):
    store.begin(RUN)
    assert not store.is_finished(RUN.id)
    store.finish(RUN.id)
    store.finish(RUN.id)
    assert store.is_finished(RUN.id)


def test_nothing_can_be_added_to_a_run_that_never_began(store):
    store.begin(RUN)
    with pytest.raises(UnknownRunError, match="no run other"):
        store.append("other", ATTEMPTS)
    with pytest.raises(UnknownRunError, match="no run other"):
        store.finish("other")


def test_last_is_the_run_that_began_last(store):
    for run_id in ("bb", "cc", "aa"):
        store.begin(header_of(run_id))
    assert store.resolve("last") == store.resolve("last~0") == "aa"
    assert [store.resolve("last~1"), store.resolve("last~2")] == ["cc", "bb"]
    with pytest.raises(UnknownRunError, match="last~3"):
        store.resolve("last~3")
    assert [summary.id for summary in store.runs()] == ["aa", "cc", "bb"]


def test_a_unique_beginning_names_a_run(store):
    for run_id in ("abc1", "abd2", "x%y"):
        store.begin(header_of(run_id))
    assert store.resolve("abc") == "abc1"
    assert store.resolve("x%") == "x%y"
    with pytest.raises(UnknownRunError, match=r"no run begins with '%'; the store .* holds 3 runs"):
        store.resolve("%")


def test_a_whole_id_names_its_run_though_another_begins_with_it(store):
    store.begin(header_of("ab"))
    store.begin(header_of("abc"))
    assert store.resolve("ab") == "ab"


def test_an_ambiguous_beginning_lists_the_runs(store):
    store.begin(header_of("abc1"))
    store.begin(header_of("abd2"))
    with pytest.raises(UnknownRunError, match="2 runs begin with 'ab': abd2, abc1"):
        store.resolve("ab")


def test_no_prefix_names_no_run(store):
    store.begin(RUN)
    with pytest.raises(UnknownRunError, match="no run is named"):
        store.resolve("")


@pytest.mark.parametrize("prefix", ["last", "ab", "\udcff"])
def test_an_empty_store_says_how_many_runs_it_holds(store, prefix):
    with pytest.raises(UnknownRunError, match="holds 0 runs"):
        store.resolve(prefix)


def test_a_summary_counts_judged_attempts_only(store):
    store.begin(RUN, version="0.1.0", environment=(("cpu", "x86_64"),))
    store.append(RUN.id, RUN.attempts)
    store.append(RUN.id, [answered(10, "twin", role="filler"), failed(11, role="filler")])
    (summary,) = store.runs()
    assert (summary.planned, summary.completions, summary.failures) == (5, 2, 1)
    assert (summary.id, summary.created, summary.finished) == (RUN.id, RUN.created, False)
    assert (summary.url, summary.api, summary.model) == (RUN.address.url, RUN.address.api, RUN.address.model)
    assert (summary.version, summary.environment) == ("0.1.0", (("cpu", "x86_64"),))


def test_a_summary_says_that_a_run_is_finished(store):
    save(store, RUN)
    store.begin(header_of("other"))
    store.finish(RUN.id)
    assert [(summary.id, summary.finished) for summary in store.runs()] == [("other", False), (RUN.id, True)]


def test_reading_a_store_that_does_not_exist_creates_nothing(tmp_path):
    with Store.open(tmp_path / "below" / "runs.db") as store:
        assert store.runs() == ()
        with pytest.raises(UnknownRunError, match="holds 0 runs"):
            store.resolve("last")
        with pytest.raises(UnknownRunError, match="does not exist yet"):
            store.load("4f2a90")
    assert list(tmp_path.iterdir()) == []


def test_the_first_run_creates_the_file_and_its_folder(tmp_path):
    with Store.open(tmp_path / "below" / "it" / "runs.db") as store:
        save(store, RUN)
        assert store.load(RUN.id) == RUN


def test_a_closed_store_leaves_one_file(store, path):
    save(store, RUN)
    store.close()
    assert list(path.parent.iterdir()) == [path]
