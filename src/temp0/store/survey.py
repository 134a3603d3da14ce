"""What must be known of all attempts of a run before one prompt of it can be read.

One pass over the rows, which keeps a few words of each attempt and no answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, pairwise

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
    orders: list[int] = []
    blocks: list[int] = []
    ids: list[bytes | None] = []
    fillers: dict[int, list[int]] = {}
    for rows in batches:
        own_orders, prompts, conditions, own_blocks, roles, own_ids = zip(*rows, strict=True)
        asked.update(zip(own_orders, questions.all(zip(prompts, conditions, strict=True)), strict=True))
        for order, block in compress(zip(own_orders, own_blocks, strict=True), map("filler".__eq__, roles)):
            fillers.setdefault(block, []).append(order)
        orders += own_orders
        blocks += own_blocks
        ids += own_ids
    return Survey(
        asked=asked, fillers=fillers, before=_before(orders, blocks, fillers), repeated=_repeated(orders, ids)
    )


def _before(orders: Sequence[int], blocks: Sequence[int], fillers: Collection[int]) -> dict[int, int]:
    """The block with fillers that began just before each block."""
    if not fillers:
        return {}
    in_time = dict.fromkeys(blocks[place] for place in sorted(range(len(orders)), key=orders.__getitem__))
    return {block: earlier for earlier, block in pairwise(in_time) if earlier in fillers}


def _repeated(orders: Sequence[int], ids: Sequence[bytes | None]) -> dict[bytes, list[int]]:
    """The orders of each id that came more than once."""
    names = {name for name, count in Counter(ids).items() if count > 1 and name is not None}
    repeated: dict[bytes, list[int]] = {}
    for order, name in zip(orders, ids, strict=True) if names else ():
        if name in names:
            repeated.setdefault(name, []).append(order)
    return repeated
