"""A stored run read chapter by chapter is the run that was stored."""

from __future__ import annotations

import gc
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from itertools import count

import pytest
from arbitrary_run import crowded_runs, runs
from extracted_run import extracted_chapters
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from small_run import ATTEMPTS, RUN, answered, save

from temp0.core.chapter import preface
from temp0.core.judgement import analysis, judged
from temp0.core.plan import Condition
from temp0.core.run import Completion
from temp0.errors import StoreError, UnknownRunError
from temp0.store import Store

NUMBER = count()
# Not shrunk: that would take minutes, and the runs are small as they are.
UNSHRUNK = settings(max_examples=80, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "runs.db") as opened:
        yield opened


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory):
    """One store for all examples of a property, each under a run id of its own."""
    with Store.open(tmp_path_factory.mktemp("shared") / "runs.db") as opened:
        yield opened


def stored(store, run):
    run = replace(run, id=f"{next(NUMBER)} {run.id}")
    save(store, run)
    return run


def read(store, run_id):
    with store.book(run_id) as book:
        return book.preface(), list(book.chapters())


def planned_paces(front):
    """Only the plan's prompts are ever judged."""
    return {prompt.id: front.paces[prompt.id] for prompt in front.run.plan.prompts if prompt.id in front.paces}


def has_mixed_company(run):
    return any(condition.company > 1 and condition.filler == "mixed" for condition in run.plan.conditions)


@UNSHRUNK
@given(run=st.one_of(crowded_runs(), runs()))
def test_a_book_is_the_run_cut_into_chapters_in_memory_without_what_judging_does_not_look_at(shared_store, run):
    run = stored(shared_store, run)
    front, parts = read(shared_store, run.id)
    assert parts == extracted_chapters(run)
    expected = preface(run)
    assert (front.run, front.requests, front.shared_ids) == (expected.run, expected.requests, expected.shared_ids)
    if has_mixed_company(run):
        assert planned_paces(front) == planned_paces(expected)


@UNSHRUNK
@given(run=crowded_runs(), data=st.data())
def test_a_book_does_not_depend_on_the_order_of_appending(shared_store, run, data):
    run = replace(run, id=f"{next(NUMBER)} {run.id}")
    shared_store.begin(run)
    for attempt in data.draw(st.permutations(run.attempts)):
        shared_store.append(run.id, [attempt])
    assert read(shared_store, run.id)[1] == extracted_chapters(run)


@UNSHRUNK
@given(run=crowded_runs())
def test_what_a_book_leaves_out_changes_no_analysis(run):
    planned = {condition.name for condition in run.plan.conditions}
    run = replace(run, attempts=tuple(attempt for attempt in run.attempts if attempt.condition in planned))
    assert repr(judged(preface(run), extracted_chapters(run))) == repr(analysis(run))  # by repr, since NaN is no NaN


def test_replays_under_new_ids_are_told_of_a_stored_run_as_of_one_in_memory(store):
    created = int(datetime.fromisoformat(RUN.created).timestamp()) + 5  # no whole minute
    aged = [
        replace(answered(n, "x"), started_s=5.0 + n, ended_s=5.5 + n, outcome=Completion(text="x", created=created))
        for n in range(6)
    ]
    run = replace(RUN, attempts=tuple(aged))
    save(store, run)
    excluded = [sum(one.count for one in each.excluded) for each in analysis(run).prompts[0].conditions]
    assert sum(excluded) == 5
    assert judged(*read(store, run.id)) == analysis(run)


@pytest.mark.parametrize("value", ["a", 'a "quoted" \\ one', "ünï, ]["])
def test_headers_that_tell_a_machine_or_a_cache_are_kept_and_others_are_not(store, value):
    told = (("x-request-id", value), ("x-replica", value), ("date", value), ("x-cache", "HIT"))
    answers = [replace(answered(0, "x").outcome, headers=headers) for headers in (told, (), told[:1], told[1:2])]
    save(store, replace(RUN, attempts=tuple(replace(answered(n, ""), outcome=one) for n, one in enumerate(answers))))
    kept = [attempt.outcome.headers for attempt in read(store, RUN.id)[1][0].judged]
    assert kept == [(told[1], told[3]), (), (), (told[1],)]


def test_answers_that_judging_cannot_tell_apart_are_one_object(store):
    one = answered(0, "x").outcome
    answers = [replace(one, id=f"id{n}", created=n, headers=(("date", str(n)),)) for n in range(3)]
    other = replace(one, fingerprint="fp")
    outcomes = (*answers, other)
    save(store, replace(RUN, attempts=tuple(replace(answered(n, ""), outcome=one) for n, one in enumerate(outcomes))))
    kept = [attempt.outcome for attempt in read(store, RUN.id)[1][0].judged]
    assert len({id(outcome) for outcome in kept}) == 2
    assert kept[3].fingerprint == "fp"


def test_other_runs_of_the_store_are_not_in_a_book(store):
    save(store, RUN)
    save(store, replace(RUN, id="other", attempts=(*ATTEMPTS, answered(9, "more"))))
    front, parts = read(store, RUN.id)
    assert front.requests == len(ATTEMPTS)
    assert parts == extracted_chapters(RUN)


def test_a_resumed_run_has_its_new_blocks_beside_the_old_ones(store):
    save(store, RUN)
    again = [replace(answered(order, "101", role=role), block=9) for order, role in ((7, "filler"), (8, "judged"))]
    store.append(RUN.id, again)
    (first, _) = read(store, RUN.id)[1]
    assert [attempt.order for attempt in first.judged] == [0, 1, 2, 8]
    assert [filler.order for filler in first.fillers] == [3, 7]
    assert first.predecessors == {1: ("A", "alone"), 2: ("A", "alone"), 8: ("A", "alone")}


@pytest.mark.parametrize(
    ("condition", "expected"), [("company 8, logprobs", [2, 3]), ("alone", [3])], ids=["company", "alone"]
)
def test_the_fillers_of_the_block_before_are_in_a_chapter_where_they_bear_on_it(store, condition, expected):
    sent = [
        answered(0, "x", prompt="B", role="filler"),
        answered(2, "x", prompt="B", role="filler"),
        answered(3, "x", role="filler"),
        replace(answered(4, "x"), condition=condition),
        answered(6, "x", prompt="B", role="filler"),
    ]
    run = replace(RUN, attempts=tuple(sent))
    save(store, run)
    first, second = read(store, RUN.id)[1]
    assert [filler.order for filler in first.fillers] == expected
    assert second.fillers == ()
    assert [first, second] == extracted_chapters(run)


def test_an_id_is_shared_when_its_text_or_its_time_of_creation_differs(store):
    told = {
        "same": (("x", 1), ("x", 1)),
        "text": (("x", 1), ("y", 1)),
        "created": (("x", 1), ("x", 2)),
        "untold": (("x", None), ("x", 2)),
        "once": (("x", 1),),
    }
    answers = [
        Completion(text=text, created=created, id=name) for name, pairs in told.items() for text, created in pairs
    ]
    save(store, replace(RUN, attempts=tuple(replace(answered(n, ""), outcome=one) for n, one in enumerate(answers))))
    assert read(store, RUN.id)[0].shared_ids == {"text", "created", "untold"}


def test_paces_are_those_of_all_prompts_where_fillers_are_mixed(store):
    mixed = replace(RUN.plan, conditions=(Condition(), Condition(company=2, filler="mixed")))
    run = replace(RUN, plan=mixed, attempts=(answered(0, "101"), answered(1, "a haiku", prompt="B")))
    save(store, run)
    assert read(store, RUN.id)[0].paces == preface(run).paces
    assert set(preface(run).paces) == {"A", "B"}


def test_a_book_is_of_one_state_whatever_others_append_meanwhile(store):
    save(store, RUN)
    with store.book(RUN.id) as book, Store.open(store.path) as other:
        front = book.preface()
        parts = book.chapters()
        first = next(parts)
        other.append(RUN.id, [answered(20, "later"), answered(21, "later", prompt="B")])
        assert (front.requests, [first, *parts]) == (len(ATTEMPTS), extracted_chapters(RUN))
        assert book.preface() == front
    assert read(store, RUN.id)[0].requests == len(ATTEMPTS) + 2


def test_a_failure_of_the_reader_is_not_told_as_one_of_the_store(store):
    save(store, RUN)
    with pytest.raises(OverflowError, match="not the store's"), store.book(RUN.id):
        raise OverflowError("not the store's")


def test_chapters_are_read_one_at_a_time(store):
    save(store, RUN)
    with store.book(RUN.id) as book:
        parts = book.chapters()
        assert next(parts).prompt.id == "A"
    with pytest.raises(Exception, match="closed"):
        next(parts)


def test_equal_texts_of_a_chapter_are_one_object(store):
    store.begin(RUN)
    long = "long " * 100
    filler = replace(answered(2, long, role="filler"), block=0)
    store.append(RUN.id, [answered(0, long), answered(1, long), filler])
    first = read(store, RUN.id)[1][0]
    assert len({id(attempt.outcome.text) for attempt in (*first.judged, *first.fillers)}) == 1
    assert len((*first.judged, *first.fillers)) == 3


@pytest.mark.parametrize("is_enabled", [True, False])
def test_reading_leaves_the_collection_of_garbage_as_it_was(store, is_enabled):
    store.begin(RUN)
    store.append(RUN.id, ATTEMPTS[:1])
    with closing(sqlite3.connect(store.path)) as connection:
        connection.executescript("DROP TRIGGER no_delete_of_contents; DELETE FROM contents")
    try:
        (gc.enable if is_enabled else gc.disable)()
        with pytest.raises(StoreError, match="is damaged"):
            store.load(RUN.id)
        assert gc.isenabled() == is_enabled
    finally:
        gc.enable()


def test_a_run_that_only_began_has_empty_chapters(store):
    store.begin(RUN)
    front, parts = read(store, RUN.id)
    assert front.requests == 0
    assert [(part.prompt.id, part.judged, part.fillers) for part in parts] == [("A", (), ()), ("B", (), ())]


def test_a_run_that_is_not_there_has_no_book(store):
    with pytest.raises(UnknownRunError), store.book("none"):
        pass
