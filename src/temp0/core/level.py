"""Levels of equality: how many completions differ at each, and where they first do.

Completions are reduced once to the distinct values they hold, and everything is said of those: a thousand equal
answers cost little more than one. A level is measured over the completions that tell enough for it, and is `None`
where none does.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from temp0.core.analysis import Distinct, Positions
from temp0.core.run import Alternative, Completion, Token, ToolCall
from temp0.core.text import folded

FLOAT_SIZE = 8

Spelling = tuple[bytes, ...]
"""The bytes of each token."""
Calls = tuple[ToolCall, ...]
Ranking = tuple[bytes, Spelling]
"""The alternatives of one token in a form that does not depend on how the server listed them: see `_ranking`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Levels:
    """The distinct values that completions hold at each level; `|` takes two groups of completions together.

    `tokens` holds those of completions with tokens, `logprobs` those where every token has a logprob (as the bytes
    of its float64 values), `top_logprobs` those where every token has alternatives, too. An answer without any token
    shows no logprob, so it counts among `tokens` only. `reasoning` and `tool_calls` have an entry for an answer without
    any, too, where another has some.
    """

    texts: frozenset[str]
    folded: frozenset[str]
    reasoning: frozenset[str]
    tool_calls: frozenset[Calls]
    tokens: frozenset[Spelling]
    logprobs: frozenset[tuple[Spelling, bytes]]
    top_logprobs: frozenset[tuple[Spelling, bytes, tuple[Ranking, ...]]]

    def __or__(self, other: Levels) -> Levels:
        return Levels(
            texts=self.texts | other.texts,
            folded=self.folded | other.folded,
            reasoning=self.reasoning | other.reasoning,
            tool_calls=self.tool_calls | other.tool_calls,
            tokens=self.tokens | other.tokens,
            logprobs=self.logprobs | other.logprobs,
            top_logprobs=self.top_logprobs | other.top_logprobs,
        )

    @property
    def distinct(self) -> Distinct:
        """How many distinct completions there are at each level."""
        return Distinct(
            text=len(self.texts),
            tokens=len(self.tokens) or None,
            logprobs=len(self.logprobs) or None,
            top_logprobs=len(self.top_logprobs) or None,
            folded=len(self.folded),
            reasoning=len(self.reasoning) if any(self.reasoning) else None,
            tool_calls=len(self.tool_calls) if any(self.tool_calls) else None,
            tool_calls_folded=len(set(map(_folded_calls, self.tool_calls))) if any(self.tool_calls) else None,
        )

    @property
    def first_difference(self) -> Positions:
        """The first position at each level where not all completions are equal; a prefix differs at its end.

        >>> levels([Completion(text="one"), Completion(text="on")]).first_difference.text
        2
        """
        return Positions(
            text=_parting(self.texts),
            tokens=_parting(self.tokens),
            logprobs=_logprob_parting(self.logprobs),
            top_logprobs=_top_logprob_parting(self.top_logprobs),
        )


def levels(completions: Iterable[Completion]) -> Levels:
    """The distinct values of completions. Tokens that are one object are read once."""
    texts, reasoning, calls = set(), set(), set()
    told: dict[int, tuple[Token, ...]] = {}
    for completion in completions:
        texts.add(completion.text)
        reasoning.add(completion.reasoning or "")
        calls.add(completion.tool_calls)
        if completion.tokens is not None:
            told[id(completion.tokens)] = completion.tokens
    spellings, logprobs, tops = set(), set(), set()
    for tokens in told.values():
        spelling = tuple([token.bytes for token in tokens])
        spellings.add(spelling)
        chosen = [token.logprob for token in tokens if token.logprob is not None]
        if tokens and len(chosen) == len(tokens):
            bits = _bits(chosen)
            logprobs.add((spelling, bits))
            if all(token.top for token in tokens):
                tops.add((spelling, bits, tuple([_ranking(token.top) for token in tokens])))
    return Levels(
        texts=frozenset(texts),
        folded=frozenset(map(folded, texts)),
        reasoning=frozenset(reasoning),
        tool_calls=frozenset(calls),
        tokens=frozenset(spellings),
        logprobs=frozenset(logprobs),
        top_logprobs=frozenset(tops),
    )


def _folded_calls(calls: Calls) -> tuple[tuple[str, str], ...]:
    """Calls with their arguments as canonical JSON: keys sorted, no blanks; as told where they are no JSON."""
    return tuple((call.name, _canonical(call.arguments)) for call in calls)


def _canonical(arguments: str) -> str:
    try:
        return json.dumps(json.loads(arguments), sort_keys=True, separators=(",", ":"))
    except (ValueError, RecursionError):
        return arguments


def shared_length(one: Sequence[object], other: Sequence[object]) -> int:
    """How many items two sequences of one type share from their start, found by halving.

    >>> shared_length("interval", "internal"), shared_length((1, 2), (1, 2, 3))
    (5, 2)
    """
    equal, unequal = 0, min(len(one), len(other))
    if one[:unequal] == other[:unequal]:
        return unequal
    while unequal - equal > 1:
        middle = (equal + unequal) // 2
        if one[equal:middle] == other[equal:middle]:
            equal = middle
        else:
            unequal = middle
    return equal


def _bits(values: Sequence[float]) -> bytes:
    """Floats as their bytes, so that 0.0 and -0.0 differ: other bits are another computation."""
    return struct.pack(f"<{len(values)}d", *values)


def _ranking(top: Sequence[Alternative]) -> Ranking:
    """What a list of alternatives says, however it is ordered: every logprob's bits, and whose the higher ones are.

    Which of two tied tokens stands first is not part of it, nor which of several tied at the end of the list still
    found a place: a server may sort and cut its ties otherwise from one answer to the next without having computed
    anything else.
    """
    ordered = sorted([(-one.logprob, one.bytes, one.logprob) for one in top])
    lowest = ordered[-1][0]
    return (
        _bits([logprob for _, _, logprob in ordered]),
        tuple([data for negative, data, _ in ordered if negative < lowest]),
    )


def _parting(values: frozenset[str] | frozenset[Spelling]) -> int | None:
    return _shared(values) if len(values) > 1 else None


def _logprob_parting(values: frozenset[tuple[Spelling, bytes]]) -> int | None:
    return min(_shared_logprobs(values)) if len(values) > 1 else None


def _top_logprob_parting(values: frozenset[tuple[Spelling, bytes, tuple[Ranking, ...]]]) -> int | None:
    if len(values) < 2:
        return None
    chosen = [(spelling, bits) for spelling, bits, _ in values]
    return min(*_shared_logprobs(chosen), _shared([rankings for _, _, rankings in values]))


def _shared_logprobs(values: Collection[tuple[Spelling, bytes]]) -> tuple[int, int]:
    return _shared([spelling for spelling, _ in values]), _shared([bits for _, bits in values]) // FLOAT_SIZE


def _shared(sequences: Collection[str] | Collection[bytes] | Collection[tuple[object, ...]]) -> int:
    """How many items all sequences share: as many as the smallest and the largest, since the others lie between."""
    smallest, largest = min(sequences), max(sequences)
    return shared_length(smallest, largest)
