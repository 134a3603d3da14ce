"""Short names for the texts of a prompt, so that many conditions can each say which of them they gave.

The commonest text is `a`; a text without a letter is one of the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from string import ascii_lowercase

from temp0.core.analysis import PromptAnalysis
from temp0.report.visible import ELLIPSIS

_MOST = 12
_SHOWN = 4


def letters(prompt: PromptAnalysis) -> dict[str, str]:
    """A letter for each text by its hash, the commonest first; empty where there is but one text or condition."""
    if len(prompt.texts) < 2 or len(prompt.conditions) < 2:
        return {}
    return {text.sha256: letter for text, letter in zip(prompt.texts[:_MOST], ascii_lowercase, strict=False)}


def with_letters(prompt: PromptAnalysis, named: Mapping[str, str]) -> dict[str, str]:
    """For each condition the letters of the texts it gave, its own commonest first: `ab`, `abcd…`."""
    given: dict[str, list[tuple[int, str]]] = {one.name: [] for one in prompt.conditions}
    for text in prompt.texts if named else ():
        for name, count in text.conditions:
            given[name].append((-count, named.get(text.sha256, ELLIPSIS)))
    return {name: _row([letter for _, letter in sorted(found)]) for name, found in given.items() if found}


def _row(found: list[str]) -> str:
    known = [letter for letter in found if letter != ELLIPSIS][:_SHOWN]
    return "".join(known) + (ELLIPSIS if len(known) < len(found) else "")
