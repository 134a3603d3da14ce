"""The texts of the fake endpoint: readable sentences that are equal up to the fork and differ from there on.

A text is a pure function of the settings, the prompt and its number; number 0 is the usual one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from random import Random

from temp0.probe.fake_setting import FakeSettings

# A sentence takes one word of each row in turn, so that any choice reads as English.
_ROWS = (
    ("The", "A", "Every", "Another", "This", "That", "One", "Some"),
    ("quiet", "stale", "warm", "cold", "patient", "hidden", "busy", "tired"),
    ("cache", "request", "server", "answer", "queue", "kernel", "token", "batch"),
    ("waits", "returns", "settles", "moves", "rests", "drifts", "stands", "forks"),
    ("beside", "behind", "beneath", "before", "beyond", "after", "near", "under"),
    ("the", "a", "every", "another", "this", "that", "one", "some"),
    ("distant", "silent", "bright", "narrow", "broad", "shared", "slow", "small"),
    ("river.", "window.", "harbour.", "garden.", "morning.", "signal.", "number.", "stranger."),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """One text as words, each with the space before it, and the word it was nearly instead at the fork."""

    words: tuple[str, ...]
    rival: str


@lru_cache(maxsize=65536)
def branch(settings: FakeSettings, prompt: str, number: int) -> Branch:
    """The text with this number."""
    usual = [_spaced(place, word) for place, word in enumerate(_words(settings, prompt, 0))]
    fork = settings.fork
    if number == 0:
        return Branch(words=tuple(usual), rival=_at_fork(settings, prompt, 1))
    other = [_spaced(place, word) for place, word in enumerate(_words(settings, prompt, number))]
    words = (*usual[:fork], _at_fork(settings, prompt, number), *other[fork + 1 :])
    return Branch(words=words, rival=usual[fork])


def _words(settings: FakeSettings, prompt: str, number: int) -> list[str]:
    draw = Random(f"{settings.seed}|{prompt}|text {number}")
    return [draw.choice(_ROWS[place % len(_ROWS)]) for place in range(settings.length)]


def _at_fork(settings: FakeSettings, prompt: str, number: int) -> str:
    """The word at the fork, another one for each number; when a row has run out, it is numbered."""
    row = _ROWS[settings.fork % len(_ROWS)]
    usual = row.index(_words(settings, prompt, 0)[settings.fork])
    turns, place = divmod(number, len(row))
    word = row[(usual + place) % len(row)]
    if turns:
        stem, stop = (word[:-1], ".") if word.endswith(".") else (word, "")
        word = f"{stem}-{turns + 1}{stop}"
    return _spaced(settings.fork, word)


def _spaced(place: int, word: str) -> str:
    return f" {word}" if place else word
