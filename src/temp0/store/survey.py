"""What must be known of all attempts of a run before one prompt of it can be read.

One pass over the rows, which keeps four numbers of each attempt, and its id only where that came before.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, count

from temp0.core.register import Register, again, register
from temp0.core.text import from_utf8
from temp0.store.row import Row

# The columns that a survey is made of.
SURVEYED = ("order", "block", "prompt", "condition", "role", "id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What the attempts of a run have to do with each other.

    `fillers` gives the orders of those that were sent in a block, `about` their prompts by order, `before` the block
    with fillers that began just before a block, and `repeated` the orders of each response id that came more than
    once, by the hash of the id as stored.
    """

    register: Register
    fillers: Mapping[int, Sequence[int]]
    about: Mapping[int, str]
    before: Mapping[int, int]
    repeated: Mapping[int, Sequence[int]]


def survey(batches: Iterable[Sequence[Row]]) -> Survey:
    """The survey of a run whose attempts come, in any order, as batches of rows of the columns `SURVEYED`."""
    orders, blocks, questions, names = array("q"), array("q"), array("q"), array("q")
    number_of = defaultdict[tuple[bytes, bytes], int](count().__next__)
    fillers: dict[int, list[int]] = {}
    about: dict[int, str] = {}
    for rows in batches:
        own_orders, own_blocks, prompts, conditions, roles, ids = zip(*rows, strict=True)
        orders.extend(own_orders)
        blocks.extend(own_blocks)
        questions.extend(map(number_of.__getitem__, zip(prompts, conditions, strict=True)))
        names.extend(map(hash, ids))
        is_filler = map("filler".__eq__, roles)
        for order, block, prompt in compress(zip(own_orders, own_blocks, prompts, strict=True), is_filler):
            fillers.setdefault(block, []).append(order)
            about[order] = from_utf8(prompt)
    named = [(from_utf8(prompt), from_utf8(condition)) for prompt, condition in number_of]
    known = register(orders, blocks, questions, named)
    return Survey(
        register=known, fillers=fillers, about=about, before=known.earlier(fillers), repeated=_repeated(orders, names)
    )


def _repeated(orders: Sequence[int], names: Sequence[int]) -> dict[int, list[int]]:
    """The orders of each name that came more than once, and is one."""
    repeated: dict[int, list[int]] = {}
    for place in again(names):
        if names[place] != _NONE:
            repeated.setdefault(names[place], []).append(orders[place])
    return repeated


_NONE = hash(None)
