"""What must be known of all attempts of a run before one prompt of it can be read.

One pass over the rows, which keeps a few words of each attempt and no answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from temp0.core.text import from_utf8
from temp0.store.row import Row

# The columns that a survey is made of.
SURVEYED = ("order", "prompt", "condition", "block", "role", "id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What the attempts of a run have to do with each other.

    `asked` gives the prompt and the condition of an attempt by its order, `fillers` the orders of those that were sent
    in a block or in the block before it in time, and `repeated` the response ids, as stored, that came more than once.
    """

    asked: Mapping[int, tuple[str, str]]
    fillers: Mapping[int, Sequence[int]]
    repeated: frozenset[bytes]


def survey(batches: Iterable[Sequence[Row]]) -> Survey:
    """The survey of a run whose attempts come, in any order, as batches of rows of the columns `SURVEYED`."""
    asked: dict[int, tuple[str, str]] = {}
    questions: dict[tuple[bytes, bytes], tuple[str, str]] = {}
    began: dict[int, int] = {}
    fillers: dict[int, list[int]] = {}
    ids: set[bytes] = set()
    repeated: set[bytes] = set()
    for rows in batches:
        for order, prompt, condition, block, role, answer_id in rows:
            question = prompt, condition
            if question not in questions:
                questions[question] = from_utf8(prompt), from_utf8(condition)
            asked[order] = questions[question]
            if began.get(block, order) >= order:
                began[block] = order
            if role == "filler":
                fillers.setdefault(block, []).append(order)
            if answer_id in ids:
                repeated.add(answer_id)
            elif answer_id is not None:
                ids.add(answer_id)
    return Survey(asked=asked, fillers=_beside(fillers, began), repeated=frozenset(repeated))


def _beside(fillers: Mapping[int, Sequence[int]], began: Mapping[int, int]) -> dict[int, Sequence[int]]:
    """For each block that has any, the fillers sent in it and in the one that began before it."""
    if not fillers:
        return {}
    in_time = sorted(began, key=began.__getitem__)
    beside: dict[int, Sequence[int]] = dict(fillers)
    for before, block in pairwise(in_time):
        if before in fillers:
            beside[block] = [*fillers[before], *fillers.get(block, ())]
    return beside
