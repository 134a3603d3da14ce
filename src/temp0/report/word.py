"""Marks the words in which the branches of a fork differ.

The marked text is the branch's own, character for character, with the shared start of its first word in front.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from typing import Literal

Mark = Literal["fork", "differs", "same"]
# A fork is read by what follows it at once; comparing whole essays word by word would cost much and show nothing.
_COMPARED = 600
_LONGEST_WORD = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A stretch of text: the word of the fork, a later word that differs, or text like the other branch's."""

    text: str
    mark: Mark


def words(text: str) -> list[str]:
    """The text cut into words, runs of blanks, and single other characters with what combines with them.

    Scripts that put no space between words are cut after each character, so that a mark stays small.

    >>> words("stale  cache, 東京")
    ['stale', '  ', 'cache', ',', ' ', '東', '京']
    """
    found: list[str] = []
    for char in text:
        if found and _continues(found[-1], char):
            found[-1] += char
        else:
            found.append(char)
    return found


def marked(before: str, branches: Sequence[str]) -> tuple[int, list[tuple[Span, ...]]]:
    """Each branch as spans, beginning with the word that holds the fork; `before` is the shared text.

    The number tells how many characters of `before` those words took back. Each branch is compared with the first
    other one (the largest, where they come by size). A branch without text is a single span of mark `fork`.
    """
    taken = _taken_back(before, branches)
    texts = [taken + branch[:_COMPARED] for branch in branches]
    spans = []
    for index, text in enumerate(texts):
        other = texts[1 - min(index, 1)] if len(texts) > 1 else text
        spans.append(_compared(text, other) + _rest(branches[index][_COMPARED:]))
    return len(taken), spans


def from_words(before: str, branches: Sequence[str]) -> list[str]:
    """Each branch beginning with the word that holds the fork in any of them; one that ends there stays empty."""
    taken = _taken_back(before, branches)
    return [taken + branch if branch else "" for branch in branches]


def _taken_back(before: str, branches: Sequence[str]) -> str:
    """The end of the shared text that belongs to the words at the fork."""
    tail = before[-_LONGEST_WORD:]
    return tail[min((word_start(tail, branch) for branch in branches), default=len(tail)) :]


def from_word(text: str, char: int) -> str:
    """A text from a character on, beginning with the whole word that holds it."""
    before = text[max(0, char - _LONGEST_WORD) : char]
    return before[word_start(before, text[char : char + 1]) :] + text[char:]


def word_start(tail: str, branch: str) -> int:
    """Where in the shared `tail` the word begins that goes on into the branch."""
    if not tail or not branch:
        return len(tail)
    last = words(tail)[-1]
    return len(tail) - len(last) if _continues(last, branch[0]) and not last.isspace() else len(tail)


def _compared(text: str, other: str) -> tuple[Span, ...]:
    mine, theirs = words(text), words(other)
    first = 2 if mine and mine[0].isspace() and len(mine) > 1 else 1
    mine_words = [word for word in mine[first:] if not word.isspace()]
    their_words = [word for word in theirs[first:] if not word.isspace()]
    matches = SequenceMatcher(None, mine_words, their_words, autojunk=False).get_matching_blocks()
    alike = {match.a + offset for match in matches for offset in range(match.size)}
    marks: list[tuple[str, Mark]] = [("".join(mine[:first]), "fork")]
    place = 0
    for word in mine[first:]:
        if word.isspace():
            marks.append((word, "same"))
        else:
            marks.append((word, "same" if place in alike else "differs"))
            place += 1
    return _merged(_bridged(marks))


def _bridged(marks: list[tuple[str, Mark]]) -> list[tuple[str, Mark]]:
    """Blanks between two differing words differ too, so that one mark runs through."""
    bridged = list(marks)
    for index in range(1, len(marks) - 1):
        text, _ = marks[index]
        if text.isspace() and marks[index - 1][1] == marks[index + 1][1] == "differs":
            bridged[index] = (text, "differs")
    return bridged


def _merged(marks: list[tuple[str, Mark]]) -> tuple[Span, ...]:
    groups = groupby(marks, key=lambda marked_text: marked_text[1])
    return tuple(Span(text="".join(text for text, _ in group), mark=mark) for mark, group in groups)


def _rest(text: str) -> tuple[Span, ...]:
    return (Span(text=text, mark="same"),) if text else ()


def _continues(word: str, char: str) -> bool:
    """Whether a character belongs to the word before it."""
    if combines(char) or word[-1] == "\u200d":
        return not word[-1].isspace()
    if char.isspace():
        return word[-1].isspace()
    return _spells(char) and _spells(word[0]) and not word.isspace()


def combines(char: str) -> bool:
    """Whether a character is shown together with the one before it: accents, joiners, skin tones, tags of flags."""
    is_modifier = "\U0001f3fb" <= char <= "\U0001f3ff" or "\U000e0020" <= char <= "\U000e007f"
    return unicodedata.category(char)[0] == "M" or char in "\u200c\u200d" or is_modifier


def _spells(char: str) -> bool:
    if char.isascii():
        return char.isalnum() or char in "_'"
    return char.isalnum() and not _stands_alone(char)


def _stands_alone(char: str) -> bool:
    """Whether the script writes no spaces: CJK, kana, Thai, Lao, Khmer, Myanmar, Tibetan."""
    code = ord(char)
    return (
        0x2E80 <= code <= 0x9FFF
        or 0xF900 <= code <= 0xFAFF
        or 0x20000 <= code <= 0x3FFFF
        or 0x0E00 <= code <= 0x0FFF
        or 0x1000 <= code <= 0x109F
        or 0x1780 <= code <= 0x17FF
    )
