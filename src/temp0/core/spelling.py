"""How completions were spelled in tokens, and where branches of a fork part in them.

One text may have come in more than one spelling. Branches are compared in one context only: the tokens that the
commonest spelling of the largest branch shares with each other branch.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from temp0.core.level import Spelling, shared_length
from temp0.core.run import Token


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelled:
    """One spelling of a text, and the tokens of each completion that came so."""

    spelling: Spelling
    completions: tuple[tuple[Token, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parting:
    """The first token that branches do not share (from 0), and what each branch has there, completion by completion.

    A branch that ended has nothing there.
    """

    token: int
    branches: tuple[tuple[Token, ...], ...]


def spellings(completions: Iterable[tuple[Token, ...]]) -> tuple[Spelled, ...]:
    """The spellings of completions with the same text. Tokens that are one object are read once."""
    read: dict[int, Spelling] = {}
    found: dict[Spelling, list[tuple[Token, ...]]] = {}
    for tokens in completions:
        if id(tokens) not in read:
            read[id(tokens)] = tuple([token.bytes for token in tokens])
        found.setdefault(read[id(tokens)], []).append(tokens)
    return tuple(Spelled(spelling=spelling, completions=tuple(same)) for spelling, same in found.items())


def parting(branches: Sequence[Sequence[Spelled]]) -> Parting | None:
    """Where branches, the largest first, part; `None` where one of them has no tokens.

    The commonest spelling of the first branch leads (of equally common ones the least), and each other branch follows
    it as far as any spelling of its own does.
    """
    if not all(branches):
        return None
    first, *others = branches
    lead = min(first, key=lambda one: (-len(one.completions), one.spelling)).spelling
    at = min(max(shared_length(lead, one.spelling) for one in branch) for branch in others)
    return Parting(token=at, branches=tuple(tuple(_at(branch, lead[:at])) for branch in branches))


def _at(branch: Sequence[Spelled], context: Spelling) -> Iterable[Token]:
    place = len(context)
    for one in branch:
        if one.spelling[:place] == context and place < len(one.spelling):
            yield from (tokens[place] for tokens in one.completions)
