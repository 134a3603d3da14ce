"""Margins and deficits: what the branches' own logprobs say, and what they cannot say."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import asdict

import pytest
from building import token
from hypothesis import given, settings
from hypothesis import strategies as st

from temp0.core.analysis import Choice, Distribution, Margin
from temp0.core.margin import Deficit, deficit, margin
from temp0.core.run import Alternative, Token

PLAIN = Token(bytes=b"A")


def ranked(chosen: str, **logprob_of: float) -> Token:
    """Make a token with its alternatives; its own logprob is that of its entry."""
    top = tuple(Alternative(bytes=name.encode(), logprob=value) for name, value in logprob_of.items())
    return Token(bytes=chosen.encode(), logprob=logprob_of[chosen], top=top)


def between(one: Token, other: Token) -> Margin:
    return margin([[one], [other]])


# Classes


@pytest.mark.parametrize(
    ("one", "other", "kind", "value"),
    [
        pytest.param(0.0, 0.0, "exact-tie", 0.0, id="case 22: the same bits"),
        pytest.param(0.0, 0.125, "exact-tie", 0.0, id="case 22: a tie cold, a step warm"),
        pytest.param(0.125, 0.25, "near", 0.125, id="case 23: one step at 21, one at 40"),
        pytest.param(0.5, 3.0, "near", 0.5, id="the limit itself is near"),
        pytest.param(0.75, 1.0, "unclear", 0.75, id="case 23: more than one rounding"),
        pytest.param(1.0, 5.0, "unclear", 1.0, id="one branch is not sure"),
        pytest.param(1.5, 2.0, "confident", 1.5, id="each is sure of its own"),
    ],
)
def test_the_smallest_margin_of_the_branches_names_the_fork(one: float, other: float, kind: str, value: float) -> None:
    found = between(ranked("A", A=-0.5, B=-0.5 - one), ranked("B", B=-0.5, A=-0.5 - other))
    assert (found.kind, found.value, found.reason) == (kind, pytest.approx(value), None)


def test_a_branch_that_chose_the_less_likely_token_makes_the_margin_unknown_but_is_shown() -> None:
    found = between(ranked("A", A=-0.25, B=-2.0), ranked("B", A=-0.25, B=-2.0))
    assert (found.kind, found.value) == ("unknown", None)
    assert found.reason is not None
    assert "not greedy" in found.reason
    assert [one.margin for one in found.distributions] == [1.75, -1.75]
    assert found.shift == 0.0


# Distributions


def test_distributions_stand_in_the_order_of_the_branches_the_likeliest_first() -> None:
    found = between(ranked("B", C=-3.0, B=-0.5, A=-1.5), ranked("A", B=-1.0, A=-0.75, D=-1.0))
    assert found.distributions == (
        Distribution(
            chosen="B",
            margin=1.0,
            choices=(Choice(text="B", logprob=-0.5), Choice(text="A", logprob=-1.5), Choice(text="C", logprob=-3.0)),
        ),
        Distribution(
            chosen="A",
            margin=0.25,
            choices=(Choice(text="A", logprob=-0.75), Choice(text="B", logprob=-1.0), Choice(text="D", logprob=-1.0)),
        ),
    )


def test_a_part_of_a_character_is_shown_by_its_bytes_and_an_end_token_as_nothing() -> None:
    half, end = b"\xf0\x9f", b""
    top = (Alternative(bytes=half, logprob=-0.5), Alternative(bytes=end, logprob=-0.75))
    found = between(Token(bytes=half, logprob=-0.5, top=top), Token(bytes=end, logprob=-0.75, top=top))
    assert [one.chosen for one in found.distributions] == ["\\xf0\\x9f", ""]


def test_a_lone_surrogate_among_the_tokens_is_kept() -> None:
    data = "\udcb2".encode("utf-8", "surrogatepass")
    seen = Token(bytes=data, logprob=-0.5, top=(Alternative(bytes=data, logprob=-0.5), *ranked("A", A=-1.0).top))
    assert between(seen, seen).distributions[0].chosen == "\udcb2"


@pytest.mark.parametrize("floor", [-100.0, -9999.0, -math.inf])
def test_floors_are_no_choices_and_no_difference(floor: float) -> None:
    found = between(ranked("A", A=-0.5, B=-0.625, C=floor), ranked("B", B=-0.5, A=-0.625, C=-7.0))
    assert [choice.text for choice in found.distributions[0].choices] == ["A", "B"]
    assert (found.kind, found.shift) == ("near", 0.125)


# Shift


def test_branches_that_saw_the_same_and_chose_differently_have_no_shift() -> None:
    assert between(ranked("A", A=-0.5, B=-0.5), ranked("B", A=-0.5, B=-0.5)).shift == 0.0


def test_the_shift_is_the_largest_difference_of_one_token_between_any_two_branches() -> None:
    branches = [
        ranked("A", A=-0.5, B=-1.0, C=-4.0),
        ranked("B", B=-0.5, A=-0.75, C=-4.0),
        ranked("C", C=-0.5, A=-0.5, B=-2.0),
    ]
    assert margin([[one] for one in branches]).shift == 3.5


def test_a_token_that_a_branch_does_not_list_is_at_most_as_likely_as_the_last_it_lists() -> None:
    found = between(ranked("A", A=-0.25, B=-3.0), ranked("C", C=-0.5, D=-2.5))
    assert found.shift == 2.5


def test_a_list_that_ends_between_two_close_tokens_hides_no_shift() -> None:
    found = between(ranked("A", A=-0.5, B=-0.625, C=-7.0), ranked("B", B=-0.5, A=-0.625, D=-6.9375))
    assert found.shift == 0.125


def test_a_chosen_token_beyond_the_list_does_not_stand_for_its_end() -> None:
    listed_last = ranked("Z", B=-0.5, A=-2.0, Z=-9.0)
    found = between(ranked("C", C=-1.5, B=-2.0, A=-2.0), listed_last)
    assert found.shift == 1.5


def test_tokens_that_cannot_be_compared_give_no_shift() -> None:
    # Each branch lists only tokens less likely than the last of the other, as far as one of them tells.
    tied = between(ranked("A", A=-1.0, B=-1.0), ranked("C", C=-1.0, D=-1.0))
    assert (tied.kind, tied.shift) == ("exact-tie", None)


# What cannot be read

ODD = {
    "not asked": (PLAIN, "no logprobs"),
    "no alternatives": (Token(bytes=b"A", logprob=-0.5), "no logprobs"),
    "case 46: another token's alternatives": (
        Token(bytes=b"A", logprob=-0.5, top=ranked("X", X=-0.5, Y=-1.0).top),
        "not among its own alternatives",
    ),
    "case 46: another token's alternatives that happen to hold it": (
        Token(bytes=b"A", logprob=-0.5, top=ranked("X", X=-0.5, A=-1.0).top),
        "another logprob",
    ),
    "case 46: all zero": (ranked("A", A=0.0, B=0.0, C=0.0), "all zero"),
    "case 47: a floor in its place": (ranked("A", A=-9999.0, B=-0.5), "a floor"),
    "case 47: minus infinity in its place": (ranked("A", A=-math.inf, B=-0.5), "a floor"),
    "case 47: clipped alternatives": (ranked("A", A=-0.5, B=-100.0, C=-100.0), "above the floor"),
    "case 47: greedy after filtering": (ranked("A", A=0.0, B=-math.inf), "above the floor"),
    "only itself": (ranked("A", A=-0.5), "no second"),
    "case 47: probabilities": (ranked("A", A=0.75, B=0.25), "above 0"),
    "one above 0": (ranked("A", A=-0.5, B=0.25), "above 0"),
    "no number": (ranked("A", A=-0.5, B=math.nan), "no number"),
}


@pytest.mark.parametrize(("odd", "reason"), ODD.values(), ids=ODD)
@pytest.mark.parametrize("place", [0, 1])
def test_logprobs_that_say_nothing_make_the_margin_unknown_with_their_reason(
    odd: Token, reason: str, place: int
) -> None:
    branches = [[ranked("B", B=-0.5, A=-0.625)], [odd]]
    found = margin(branches if place else branches[::-1])
    assert (found.kind, found.value, found.shift, found.distributions) == ("unknown", None, None, ())
    assert found.reason is not None
    assert reason in found.reason


@pytest.mark.parametrize(("odd", "reason"), ODD.values(), ids=ODD)
def test_logprobs_that_say_nothing_have_no_deficit(odd: Token, reason: str) -> None:
    assert deficit([odd, odd]) is None
    assert deficit([odd, ranked("A", A=-2.0, B=-0.5), odd]) == Deficit(nats=1.5, token=1)


def test_a_token_listed_once_more_for_being_chosen_is_no_tie() -> None:
    twice = Token(bytes=b"A", logprob=-0.5, top=(*ranked("A", A=-0.5, B=-1.0).top, *ranked("A", A=-0.5).top))
    found = between(twice, ranked("B", B=-0.5, A=-1.0))
    assert (found.kind, found.value) == ("near", 0.5)
    assert [choice.text for choice in found.distributions[0].choices] == ["A", "B"]


# Several completions of one branch


def test_the_completion_of_median_margin_speaks_for_its_branch() -> None:
    first = [ranked("A", A=-0.5, B=-0.5 - lead) for lead in (0.25, 3.0, 0.125)]
    found = margin([first, [ranked("B", B=-0.5, A=-2.5)]])
    assert found.value == 0.25
    assert found.distributions[0].margin == 0.25


def test_of_two_completions_the_smaller_margin_speaks() -> None:
    first = [ranked("A", A=-0.5, B=-0.5 - lead) for lead in (3.0, 0.25)]
    assert margin([first, [ranked("B", B=-0.5, A=-2.5)]]).value == 0.25


def test_a_completion_counts_as_often_as_it_came() -> None:
    usual, odd = ranked("A", A=-0.5, B=-1.5), ranked("A", A=-0.5, B=-0.625)
    assert margin([[odd, usual, usual], [ranked("B", B=-0.5, A=-2.5)]]).value == 1.0


def test_completions_that_cannot_be_read_do_not_silence_those_that_can() -> None:
    found = margin([[PLAIN, ranked("A", A=0.0, B=0.0), ranked("A", A=-0.5, B=-0.75)], [ranked("B", B=-0.5, A=-0.75)]])
    assert (found.kind, found.value) == ("near", 0.25)


def test_a_reason_says_more_than_that_nobody_asked_where_one_can() -> None:
    found = margin([[PLAIN], [PLAIN, ranked("B", A=0.0, B=0.0)]])
    assert found.reason is not None
    assert "all zero" in found.reason


def test_the_order_of_the_completions_does_not_matter() -> None:
    first = [
        ranked("A", A=-0.5, B=-0.75, C=-3.0),
        ranked("A", A=-0.5, B=-0.75, C=-4.0),
        ranked("A", A=-0.5, B=-0.625),
        ranked("A", A=-0.5, B=-2.5),
    ]
    other = [ranked("B", B=-0.5, A=-2.5)]
    assert len({margin([list(order), other]) for order in itertools.permutations(first)}) == 1


# A branch that ended


def test_a_branch_that_tells_its_end_token_is_weighed_like_any_other() -> None:
    ends = Token(
        bytes=b"", logprob=-0.5, top=(Alternative(bytes=b"", logprob=-0.5), Alternative(bytes=b"A", logprob=-0.625))
    )
    goes_on = Token(
        bytes=b"A", logprob=-0.5, top=(Alternative(bytes=b"A", logprob=-0.5), Alternative(bytes=b"", logprob=-0.75))
    )
    found = between(ends, goes_on)
    assert (found.kind, found.value, found.shift) == ("near", 0.125, 0.25)
    assert [one.chosen for one in found.distributions] == ["", "A"]


@pytest.mark.parametrize(("lead", "kind"), [(0.0, "exact-tie"), (0.125, "near"), (0.5, "near")])
def test_beside_a_branch_that_ended_a_small_margin_stands_because_the_smallest_can_only_be_smaller(
    lead: float, kind: str
) -> None:
    found = margin([[], [ranked("A", A=-0.5, B=-0.5 - lead)]])
    assert (found.kind, found.value, found.reason) == (kind, lead, None)
    assert (found.shift, found.distributions) == (None, ())


def test_distributions_are_given_for_every_branch_or_for_none() -> None:
    found = margin([[ranked("A", A=-0.5, B=-0.625)], [], [ranked("B", B=-0.5, A=-1.5)]])
    assert (found.kind, found.value, found.shift, found.distributions) == ("near", 0.125, None, ())


def test_beside_a_branch_that_ended_a_large_margin_says_nothing_of_the_smallest() -> None:
    found = margin([[ranked("A", A=-0.5, B=-2.5)], []])
    assert (found.kind, found.value) == ("unknown", None)
    assert found.reason is not None
    assert "2.00" in found.reason


def test_a_branch_cut_by_the_token_limit_chose_nothing() -> None:
    found = margin([[], [ranked("A", A=-0.5, B=-0.625)]], is_cut=True)
    assert (found.kind, found.value) == ("unknown", None)
    assert found.reason is not None
    assert "token limit" in found.reason


def test_branches_without_any_token_have_no_margin() -> None:
    assert (margin([[], []]).kind, margin([[], []]).value) == ("unknown", None)


# Deficits


@pytest.mark.parametrize(
    ("tokens", "found"),
    [
        pytest.param([], None, id="nothing"),
        pytest.param([ranked("A", A=-0.5, B=-1.0)], Deficit(nats=0.0, token=0), id="the top one"),
        pytest.param([PLAIN, ranked("B", A=-0.5, B=-0.5)], Deficit(nats=0.0, token=1), id="a tie, in either place"),
        pytest.param(
            [token("x", -0.1, y=-3.0), ranked("B", A=-0.5, B=-1.25), ranked("B", A=-0.5, B=-1.5)],
            Deficit(nats=1.0, token=2),
            id="the largest",
        ),
        pytest.param(
            [ranked("B", A=-0.5, B=-1.5), ranked("C", A=-0.5, B=-1.0, C=-1.5)],
            Deficit(nats=1.0, token=0),
            id="the earliest",
        ),
    ],
)
def test_a_deficit_is_the_furthest_that_a_chosen_token_lies_below_the_top_one(
    tokens: list[Token], found: Deficit | None
) -> None:
    assert deficit(tokens) == found


# Anything at all

numbers = st.floats(allow_nan=True, allow_infinity=True) | st.sampled_from(
    [0.0, -0.5, -0.5, -100.0, -9999.0, -math.inf]
)
anything = st.builds(
    Token,
    bytes=st.sampled_from([b"A", b"B", b"", b"\xff"]),
    logprob=st.none() | numbers,
    top=st.lists(
        st.builds(Alternative, bytes=st.sampled_from([b"A", b"B", b"C", b""]), logprob=numbers), max_size=4
    ).map(tuple),
)


@given(st.lists(st.lists(anything, max_size=3), min_size=2, max_size=4), st.booleans())
@settings(max_examples=300, deadline=None)
def test_whatever_a_server_sends_a_margin_is_a_number_or_a_reason_and_can_be_written(
    branches: list[list[Token]], is_cut: bool
) -> None:
    found = margin(branches, is_cut=is_cut)
    json.dumps(asdict(found), allow_nan=False)
    assert (found.value is None) == (found.kind == "unknown") == (found.reason is not None)
    assert found.value is None or found.value >= 0
    assert found.shift is None or found.shift >= 0
    assert len(found.distributions) in (0, len(branches))
    lowest = deficit([one for branch in branches for one in branch])
    assert lowest is None or (0 <= lowest.nats < math.inf)
