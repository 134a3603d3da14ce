"""What must be known of all attempts of a run before one prompt of it can be read.

One pass over the rows, which keeps a few words of each attempt and no answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from temp0.core.text import from_utf8
from temp0.store.row import Decoded, Row

# The columns that a survey is made of.
SURVEYED = ("order", "prompt", "condition", "block", "role", "id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What the attempts of a run have to do with each other.

    `asked` gives the prompt and the condition of an attempt by its order, `fillers` the orders of those that were sent
    in a block, `before` the block with fillers that began just before a block, and `repeated` the orders of each
    response id, as stored, that came more than once.
    """

    asked: Mapping[int, tuple[str, str]]
    fillers: Mapping[int, Sequence[int]]
    before: Mapping[int, int]
    repeated: Mapping[bytes, Sequence[int]]


def survey(batches: Iterable[Sequence[Row]]) -> Survey:
    """The survey of a run whose attempts come, in any order, as batches of rows of the columns `SURVEYED`."""
    asked: dict[int, tuple[str, str]] = {}
    questions = Decoded(lambda told: (from_utf8(told[0]), from_utf8(told[1])))
    began: dict[int, int] = {}
    fillers: dict[int, list[int]] = {}
    first: dict[bytes, int] = {}
    repeated: dict[bytes, list[int]] = {}
    for rows in batches:
        orders, prompts, conditions, blocks, roles, ids = zip(*rows, strict=True)
        asked.update(zip(orders, questions.all(zip(prompts, conditions, strict=True)), strict=True))
        for order, block, role, answer_id in zip(orders, blocks, roles, ids, strict=True):
            if began.setdefault(block, order) > order:
                began[block] = order
            if role == "filler":
                fillers.setdefault(block, []).append(order)
            if answer_id is not None and (earlier := first.setdefault(answer_id, order)) != order:
                repeated.setdefault(answer_id, [earlier]).append(order)
    in_time = pairwise(sorted(began, key=began.__getitem__) if fillers else ())
    before = {block: earlier for earlier, block in in_time if earlier in fillers}
    return Survey(asked=asked, fillers=fillers, before=before, repeated=repeated)
