"""The register answers as looking at every attempt one by one would."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from temp0.core.register import Predecessors, again, register
from temp0.core.run import Attempt, Failure

ASKED = [("A", "alone"), ("A", "company 8"), ("B", "alone")]
SENT = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 6), st.sampled_from(range(len(ASKED)))), unique_by=lambda one: one[0]
)


def attempt(order: int, predecessor: int | None) -> Attempt:
    return Attempt(
        order=order,
        prompt="A",
        condition="alone",
        block=order,
        role="judged",
        started_s=0.0,
        first_byte_s=None,
        ended_s=1.0,
        in_flight=1,
        predecessor=predecessor,
        outcome=Failure(reason="timeout", message="no answer"),
    )


def registered(sent):
    orders, blocks, questions = zip(*sent, strict=True) if sent else ((), (), ())
    return register(orders, blocks, questions, ASKED)


@given(SENT, st.lists(st.integers(-1, 50)))
def test_what_was_asked_is_known_for_every_order_of_the_run_and_for_no_other(sent, orders):
    known = {order: ASKED[question] for order, _, question in sent}
    assert registered(sent).asked(orders) == [known.get(order) for order in orders]


@given(SENT, st.sets(st.integers(0, 6)))
def test_the_earlier_block_is_the_one_whose_first_attempt_was_the_last_to_begin_before(sent, chosen):
    in_time = list(dict.fromkeys(block for _, block, _ in sorted(sent)))
    expected = {block: earlier for earlier, block in pairwise(in_time) if earlier in chosen}
    assert registered(sent).earlier(chosen) == expected


@given(st.lists(st.integers(-3, 3)))
def test_the_places_of_values_that_come_again_are_all_of_them_in_order(values):
    assert again(values) == [place for place, value in enumerate(values) if values.count(value) > 1]


def test_predecessors_are_those_that_the_run_holds():
    known = registered([(0, 0, 1), (1, 1, 2)])
    told = Predecessors([attempt(1, 0), attempt(2, 1), attempt(3, 9), attempt(4, None)], known)
    assert dict(told) == {1: ASKED[1], 2: ASKED[2]}
    assert (told.get(3), len(told)) == (None, 2)


def test_a_run_without_attempts_has_no_predecessors():
    assert dict(Predecessors([], registered([]))) == {}
    assert registered([]).asked([3]) == [None]
