"""Levels of equality: distinct counts and first positions, against their definitions written out the slow way."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import pytest
from building import spelled, token
from hypothesis import given, settings
from hypothesis import strategies as st

from temp0.core.analysis import Distinct, Positions
from temp0.core.level import levels, shared_length
from temp0.core.run import Alternative, Completion, Token
from temp0.core.text import folded

Item = TypeVar("Item")

few = settings(max_examples=150, deadline=None)
logprobs = st.sampled_from([0.0, -0.0, -0.5, -1.0, math.nextafter(-1.0, 0.0), -math.inf])
pieces = st.sampled_from([b"a", b"b", b"ab", b"", b"\xf0\x9f"])
alternatives = st.lists(st.builds(Alternative, bytes=pieces, logprob=logprobs), max_size=3, unique_by=lambda a: a.bytes)
tokens = st.builds(Token, bytes=pieces, logprob=st.none() | logprobs, top=alternatives.map(tuple))
told = st.builds(Token, bytes=pieces, logprob=logprobs, top=alternatives.filter(bool).map(tuple))
texts = st.text(st.sampled_from("ab\r\n \ufeffé\u0301\udcb2"), max_size=4)


@st.composite
def completions(draw: st.DrawFn) -> list[Completion]:
    """Completions that repeat, share tokens, lack logprobs, and part late."""
    start = tuple(draw(st.lists(told, max_size=2)))
    ends = st.lists(told, max_size=3) | st.lists(tokens, max_size=2)
    lists = [start + tuple(end) for end in draw(st.lists(ends, min_size=1, max_size=4))]
    one = st.builds(Completion, text=texts, tokens=st.none() | st.sampled_from(lists))
    return draw(st.lists(one, min_size=1, max_size=6))


def distinct(given: Sequence[Completion]) -> Distinct:
    return levels(given).distinct


def first_difference(given: Sequence[Completion]) -> Positions:
    return levels(given).first_difference


def bits(value: float | None) -> tuple[float, float]:
    assert value is not None
    return value, math.copysign(1.0, value)


def heard(top: Sequence[Alternative]) -> tuple[object, object]:
    lowest = min(one.logprob for one in top)
    return (
        Counter(bits(one.logprob) for one in top),
        {(one.bytes, bits(one.logprob)) for one in top if one.logprob > lowest},
    )


def by_definition(sequences: Sequence[Sequence[Item]], seen: Callable[[Item], object]) -> tuple[int | None, int | None]:
    """Count the classes of equal sequences, and find the first place at which two of them are unlike."""
    read = [[seen(item) for item in sequence] for sequence in sequences]
    classes = [one for place, one in enumerate(read) if one not in read[:place]]
    for place in range(max(map(len, read), default=0) + 1):
        if len(classes) > 1 and any(one[place : place + 1] != read[0][place : place + 1] for one in read):
            return len(classes), place
    return len(classes) or None, None


@given(completions())
@few
def test_levels_are_what_their_definition_says(given: list[Completion]) -> None:
    with_tokens = [one.tokens for one in given if one.tokens is not None]
    with_logprobs = [each for each in with_tokens if each and all(token.logprob is not None for token in each)]
    with_tops = [each for each in with_logprobs if all(token.top for token in each)]
    text = by_definition([one.text for one in given], lambda character: character)
    fold = by_definition([folded(one.text) for one in given], lambda character: character)
    token_level = by_definition(with_tokens, lambda token: token.bytes)
    logprob_level = by_definition(with_logprobs, lambda token: (token.bytes, bits(token.logprob)))
    top_level = by_definition(with_tops, lambda token: (token.bytes, bits(token.logprob), heard(token.top)))
    assert distinct(given) == Distinct(
        text=text[0] or 0,
        tokens=token_level[0],
        logprobs=logprob_level[0],
        top_logprobs=top_level[0],
        folded=fold[0],
    )
    assert first_difference(given) == Positions(
        text=text[1], tokens=token_level[1], logprobs=logprob_level[1], top_logprobs=top_level[1]
    )


@given(completions(), completions())
@few
def test_two_groups_joined_are_their_completions_taken_together(one: list[Completion], other: list[Completion]) -> None:
    assert levels(one) | levels(other) == levels([*one, *other])


@given(st.text("ab", max_size=8), st.text("ab", max_size=8))
@few
def test_the_shared_length_is_that_of_the_longest_common_prefix(one: str, other: str) -> None:
    longest = max(
        length for length in range(9) if one[:length] == other[:length] and length <= min(len(one), len(other))
    )
    assert shared_length(one, other) == shared_length(tuple(one), tuple(other)) == longest


def test_nothing_has_no_distinct_completion() -> None:
    assert distinct([]) == Distinct(text=0, folded=0)
    assert first_difference([]) == Positions()


def test_logprobs_may_differ_in_the_last_bit_though_texts_and_tokens_do_not() -> None:
    wobbly = math.nextafter(-0.25, 0.0)
    given = [spelled(token("a", -0.5), token("b", value)) for value in (-0.25, wobbly, -0.25)]
    assert distinct(given) == Distinct(text=1, tokens=1, logprobs=2, top_logprobs=2, folded=1)
    assert distinct(given).breaks_first == "logprobs"
    assert first_difference(given) == Positions(logprobs=1, top_logprobs=1)


def test_only_the_alternatives_may_differ() -> None:
    given = [spelled(token("a", -0.5, z=value)) for value in (-3.0, -3.5)]
    assert distinct(given).breaks_first == "top-logprobs"
    assert first_difference(given) == Positions(top_logprobs=0)


def test_zero_and_minus_zero_are_other_bits() -> None:
    assert distinct([spelled(token("a", 0.0)), spelled(token("a", -0.0))]).logprobs == 2


def test_one_text_may_be_spelled_in_two_ways() -> None:
    given = [spelled(token("ab"), token("c")), spelled(token("abc"))]
    assert (distinct(given).text, distinct(given).tokens, distinct(given).logprobs) == (1, 2, None)
    assert first_difference(given) == Positions(tokens=0)


def test_a_prefix_differs_at_its_end() -> None:
    given = [spelled(token("a", -0.5), token("b", -0.5)), spelled(token("a", -0.5))]
    assert first_difference(given) == Positions(text=1, tokens=1, logprobs=1, top_logprobs=1)


def test_an_answer_without_a_token_shows_no_logprob() -> None:
    given = [Completion(text="", tokens=()), spelled(token("a", -0.5))]
    assert distinct(given) == Distinct(text=2, tokens=2, logprobs=1, top_logprobs=1, folded=2)


def test_a_level_is_measured_only_where_every_token_tells_it() -> None:
    half = spelled(token("a", -0.5), token("b"))
    bare = spelled(Token(bytes=b"a", logprob=-0.5), Token(bytes=b"b", logprob=-0.5))
    assert distinct([half]) == Distinct(text=1, tokens=1, folded=1)
    assert distinct([bare]) == Distinct(text=1, tokens=1, logprobs=1, folded=1)
    assert distinct([Completion(text="a")]) == Distinct(text=1, folded=1)


def listed(**logprob_of: float) -> Completion:
    top = tuple(Alternative(bytes=name.encode(), logprob=value) for name, value in logprob_of.items())
    return Completion(text="a", tokens=(Token(bytes=b"a", logprob=-0.5, top=top),))


@pytest.mark.parametrize(
    ("one", "other", "count"),
    [
        pytest.param({"a": -0.5, "b": -0.5, "c": -2.0}, {"b": -0.5, "a": -0.5, "c": -2.0}, 1, id="a tie swapped"),
        pytest.param({"a": -0.5, "b": -2.0}, {"b": -2.0, "a": -0.5}, 1, id="another order"),
        pytest.param(
            {"a": -0.5, "b": -2.0, "c": -2.0}, {"a": -0.5, "b": -2.0, "d": -2.0}, 1, id="a tie cut at the end"
        ),
        pytest.param({"a": -0.5, "b": -1.0, "d": -2.0}, {"a": -0.5, "c": -1.0, "d": -2.0}, 2, id="another token"),
        pytest.param({"a": -0.5, "b": -2.0}, {"a": -0.5, "b": -2.5}, 2, id="another logprob"),
        pytest.param({"a": -0.5, "b": -2.0}, {"a": -2.0, "b": -0.5}, 2, id="logprobs swapped"),
        pytest.param({"a": -0.5, "b": -2.0}, {"a": -0.5, "b": -2.0, "c": -2.0}, 2, id="one more"),
    ],
)
def test_alternatives_are_compared_by_what_they_say_and_not_by_how_ties_are_listed(
    one: dict[str, float], other: dict[str, float], count: int
) -> None:
    assert distinct([listed(**one), listed(**other)]).top_logprobs == count


def test_other_fields_of_a_completion_are_no_level() -> None:
    one = spelled(token("a", -0.5))
    assert one.tokens is not None
    renumbered = replace(one, finish="length", id="r-2", tokens=(replace(one.tokens[0], id=7),))
    assert distinct([one, renumbered]) == Distinct(text=1, tokens=1, logprobs=1, top_logprobs=1, folded=1)


@pytest.mark.parametrize(
    "alike",
    [
        ["42", "42\n", "42 ", "\ufeff42", "\u2003 42\r\n", "\ufeff\n42"],
        ["caf\u00e9", "cafe\u0301"],
        ["a\r\nb", "a\nb", "a\rb"],
        ["\u212b", "\u00c5", "A\u030a"],
        ["\udcb2", "\udcb2 "],
    ],
    ids=ascii,
)
def test_folding_makes_alike_what_only_the_way_of_writing_sets_apart(alike: list[str]) -> None:
    given = [Completion(text=text) for text in alike]
    assert (distinct(given).text, distinct(given).folded) == (len(alike), 1)
    assert first_difference(given).text is not None


@pytest.mark.parametrize(
    "unlike",
    [["a b", "a  b"], ["a\n\nb", "a\nb"], ["a", "A"], ["\ufb01", "fi"], ["\udcb2", "?", "\ufffd"], ["a\ufeffb", "ab"]],
    ids=ascii,
)
def test_folding_leaves_the_rest_alone(unlike: list[str]) -> None:
    assert distinct([Completion(text=text) for text in unlike]).folded == len(unlike)


@given(st.text(st.characters(exclude_categories=())) | texts)
@few
def test_folding_twice_changes_nothing_more(text: str) -> None:
    once = folded(text)
    assert folded(once) == once
