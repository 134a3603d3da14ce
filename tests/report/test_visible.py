"""Strangers' text can be looked at: nothing in it acts, and nothing in it hides."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from temp0.report.visible import beginning, elided, ending, visible

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=60)


@settings(max_examples=200)
@given(ANY_TEXT)
def test_no_control_character_override_or_surrogate_is_left(text: str) -> None:
    shown = visible(text)

    shown.encode("utf-8")
    acting = {"Cc", "Cs", "Zl", "Zp"}
    assert not [char for char in shown if unicodedata.category(char) in acting or char in "\u202a\u202b\u202d\u202e"]


@pytest.mark.parametrize("text", ["東京は夜の七時", "👩‍👩‍👧‍👦", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "مرحبا", "می‌خواهم", "नमस्ते", "e\u0301"])
def test_writing_is_left_as_it_is(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("\x1b[2J", "ESC"),
        ("\x00", "NUL"),
        ("\r", "CR"),
        ("\x9b", "U+009B"),
        ("\u202e", "U+202E"),
        ("\u2066", "U+2066"),
        ("\u200b", "U+200B"),
        ("\ufeff", "U+FEFF"),
        ("\xa0", "U+00A0"),
        ("\udcb2", "U+DCB2"),
    ],
)
def test_what_cannot_be_seen_is_named(text: str, mark: str) -> None:
    assert f"\u2039{mark}\u203a" in visible(text)


def test_blanks_show_where_they_are_what_differs() -> None:
    assert visible("a b", spaces=True) == "a␣b"


@settings(max_examples=200)
@given(ANY_TEXT, st.integers(min_value=2, max_value=30))
def test_a_cut_text_is_never_longer_than_allowed(text: str, limit: int) -> None:
    assert len(beginning(text, limit)) <= limit
    assert len(ending(text, limit)) <= limit
    assert len(elided(text, limit)) <= limit + len(" … 999 characters left out … ")


def test_a_short_text_is_not_cut() -> None:
    assert beginning("abc", 3) == ending("abc", 3) == elided("abc", 3) == "abc"


def test_what_is_left_out_is_counted() -> None:
    assert elided("a" * 100_000, 10) == "aaaaa … 99,990 characters left out … aaaaa"
    assert beginning("abcdef", 4) == "abc…"
    assert ending("abcdef", 4) == "…def"


PIECES = st.lists(st.sampled_from(["a", "b", " ", "\u202e", "\x1b", "\x00", "e\u0301", "\U0001f468\u200d\U0001f469"]))


@settings(max_examples=300)
@given(PIECES.map("".join), st.integers(2, 25))
def test_no_cut_parts_a_mark_or_a_character_from_what_combines_with_it(text: str, limit: int) -> None:
    whole = visible(text)
    head, tail = beginning(text, limit).removesuffix("…"), ending(text, limit).removeprefix("…")

    assert whole.startswith(head)
    assert whole.endswith(tail)
    for shown in (head, tail, *elided(text, limit).split(" … ")):
        assert shown.count("\u2039") == shown.count("\u203a")
        assert shown.count("\U0001f468") == shown.count("\U0001f469") == shown.count("\u200d")
        assert shown.count("e\u0301") == shown.count("\u0301")
    assert not whole[len(head) :].startswith("\u0301")


def test_a_cut_falls_between_words_where_one_is_near() -> None:
    assert beginning("some bright garden", 14) == "some bright…"
    assert ending("some bright garden", 15) == "…bright garden"
    assert elided("one two three four five six seven", 20) == "one two … 17 characters left out … six seven"
    assert beginning("one unbroken-and-very-long-word", 16) == "one unbroken-an…"
