"""The differing words of branches, in any script."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from temp0.report.word import from_word, from_words, marked, words

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=40)


def shown(before: str, *branches: str) -> list[str]:
    """The spans of each branch, the fork's word in brackets and later differing words in braces."""
    brackets = {"fork": "[]", "differs": "{}", "same": ("", "")}
    return [
        "".join(brackets[s.mark][0] + s.text + brackets[s.mark][1] for s in one) for one in marked(before, branches)[1]
    ]


def test_the_word_at_the_fork_and_later_ones_are_marked() -> None:
    assert shown("the ", "stale line is old", "fresh line is new") == [
        "[stale] line is {old}",
        "[fresh] line is {new}",
    ]


def test_a_fork_inside_a_word_marks_the_whole_word() -> None:
    assert shown("which no", "body can see", " client can") == ["[nobody] can {see}", "[no] {client} can"]
    assert shown("a fast", "er cache", "est cache") == ["[faster] cache", "[fastest] cache"]


def test_a_branch_without_text_is_one_empty_mark() -> None:
    assert shown("The end.", "", " Or not?") == ["[]", "[ Or] {not?}"]


def test_a_text_that_ends_inside_a_longer_word_shows_the_word() -> None:
    assert shown("fast", "", "er") == ["[fast]", "[faster]"]


def test_each_branch_is_compared_with_the_largest_other_one() -> None:
    assert shown("", "one two three", "uno two three", "eins zwei three") == [
        "[one] two three",
        "[uno] two three",
        "[eins] {zwei} three",
    ]


def test_scripts_without_spaces_are_marked_by_the_character() -> None:
    assert shown("東京は", "夜の七時", "昼の七時") == ["[夜]の七時", "[昼]の七時"]


@pytest.mark.parametrize("word", ["👩‍👩‍👧‍👦", "👍🏽", "नमस्ते", "e\u0301te", "می‌خواهم", "don't", "naïve"])
def test_what_belongs_together_is_one_word(word: str) -> None:
    assert words(f"a {word} b") == ["a", " ", word, " ", "b"]


@settings(max_examples=200)
@given(ANY_TEXT)
def test_the_words_of_a_text_are_the_text(text: str) -> None:
    assert "".join(words(text)) == text


@settings(max_examples=200)
@given(ANY_TEXT, ANY_TEXT, ANY_TEXT)
def test_the_spans_of_a_branch_are_its_text_and_the_start_of_its_word(before: str, one: str, other: str) -> None:
    lead, branches = marked(before, [one, other])

    taken_back = before[len(before) - lead :]
    assert ["".join(span.text for span in spans) for spans in branches] == [taken_back + one, taken_back + other]


def test_a_long_branch_is_kept_whole() -> None:
    long = "word " * 10_000

    _, (spans, _) = marked("", [long, "other"])

    assert "".join(span.text for span in spans) == long


@settings(max_examples=100)
@given(ANY_TEXT, st.integers(min_value=0, max_value=40))
def test_an_excerpt_ends_with_what_follows_its_character(text: str, char: int) -> None:
    excerpt = from_word(text, char)

    assert excerpt.endswith(text[char:])
    assert text.endswith(excerpt)


def test_an_excerpt_begins_with_a_whole_word() -> None:
    assert from_word("which nobody can see", 8) == "nobody can see"
    assert from_word("which no client can", 8) == " client can"


def test_branches_all_begin_with_the_word_that_holds_the_fork_in_one_of_them():
    assert from_words("which no", ["body", " client", ""]) == ["nobody", "no client", ""]
    assert from_words("which ", ["one", "two"]) == ["one", "two"]
    assert from_words("", []) == []
