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
