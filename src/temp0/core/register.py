"""All attempts of a run in the order in which they were sent: three numbers of each, so that a long run needs little.

What was asked before an attempt, and which block began before a block, is read off here, wherever the run is kept.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from temp0.core.run import Attempt

Question = tuple[str, str]
"""The prompt and the condition of an attempt."""


@dataclass(frozen=True, kw_only=True)
class Register:
    """The orders of all attempts, ascending, and of each its block and its question, as a place in `named`."""

    orders: NDArray[np.int64]
    blocks: NDArray[np.int64]
    questions: NDArray[np.int64]
    named: Sequence[Question]

    def asked(self, orders: Sequence[int]) -> list[Question | None]:
        """What the attempts of these orders asked; `None` for one that the run does not have."""
        if not len(self.orders):
            return [None] * len(orders)
        wanted = np.asarray(orders, dtype=np.int64)
        places = np.minimum(np.searchsorted(self.orders, wanted), len(self.orders) - 1)
        known = (self.orders[places] == wanted).tolist()
        told = self.questions[places].tolist()
        return [self.named[question] if is_known else None for question, is_known in zip(told, known, strict=True)]

    def earlier(self, chosen: Collection[int]) -> dict[int, int]:
        """The block that began just before a block, where that is one of the chosen."""
        if not chosen:
            return {}
        in_time = dict.fromkeys(self.blocks.tolist())
        return {block: before for before, block in pairwise(in_time) if before in chosen}


def register(
    orders: Sequence[int], blocks: Sequence[int], questions: Sequence[int], named: Sequence[Question]
) -> Register:
    """The register of attempts that come in any order, each of three columns with one number of each attempt."""
    sent = np.asarray(orders, dtype=np.int64)
    in_order = np.argsort(sent, kind="stable")
    return Register(
        orders=sent[in_order],
        blocks=np.asarray(blocks, dtype=np.int64)[in_order],
        questions=np.asarray(questions, dtype=np.int64)[in_order],
        named=named,
    )


def again(values: Sequence[int]) -> list[int]:
    """The places of the values that come more than once.

    >>> again([7, 3, 7, 5])
    [0, 2]
    """
    given = np.asarray(values, dtype=np.int64)
    in_order = np.argsort(given, kind="stable")
    is_next_same = np.diff(given[in_order]) == 0
    is_same = np.append(is_next_same, False) | np.append(False, is_next_same)
    return sorted(in_order[is_same[: len(given)]].tolist())


class Predecessors(Mapping[int, Question]):
    """What was asked just before each of some attempts of a run, by their orders: looked up only if somebody asks."""

    def __init__(self, attempts: Sequence[Attempt], known: Register) -> None:
        self._attempts = attempts
        self._register = known

    @cached_property
    def _found(self) -> dict[int, Question]:
        before = {one.order: one.predecessor for one in self._attempts if one.predecessor is not None}
        told = self._register.asked(list(before.values()))
        return {order: question for order, question in zip(before, told, strict=True) if question is not None}

    def __getitem__(self, order: int) -> Question:
        return self._found[order]

    def __iter__(self) -> Iterator[int]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)
