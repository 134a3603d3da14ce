"""One chapter of a run, sorted for judging: by condition and block, without the completions that do not count."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from temp0.core.chapter import Chapter, Preface
from temp0.core.company import Pace, paces
from temp0.core.comparison import Kinds, kinds
from temp0.core.estimate import Table
from temp0.core.plan import Condition, Plan
from temp0.core.replay import replays
from temp0.core.run import Attempt, Completion
from temp0.core.text import sha256

Key = TypeVar("Key")
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known of one prompt before any opinion.

    `judged` and `counted` are by condition, `counted` without failures and replays; `replays` says what shows each
    of them. `table` counts each text (a column, by hash) in each block (a row) that gave a completion; `row_of` and
    `condition_of` tell whose the rows are. `kinds` sorts the rows where there is more than one text.
    """

    plan: Plan
    chapter: Chapter
    judged: Mapping[str, Sequence[Attempt]]
    counted: Mapping[str, Sequence[Attempt]]
    replays: Mapping[int, str]
    hash_of: Mapping[str, str]
    table: Table
    row_of: Mapping[tuple[str, int], int]
    condition_of: Sequence[str]
    kinds: Kinds | None
    paces: Mapping[str, Pace]

    @property
    def everything(self) -> list[Completion]:
        """All completions that count, in the order in which their attempts left."""
        attempts = [attempt for own in self.counted.values() for attempt in own]
        return completions(sorted(attempts, key=lambda attempt: attempt.order))

    def rows(self, condition: str) -> Table:
        """The rows of one condition."""
        return self.table[[row for row, name in enumerate(self.condition_of) if name == condition]]

    def blocks(self, condition: Condition) -> dict[int, Sequence[Attempt]]:
        """The attempts of each block of a condition, with the fillers that ran beside its judged ones.

        Fillers of the block before may still run as a block begins; as many are in flight as its company, so that no
        more of those sent last need be looked at.
        """
        blocks: dict[int, Sequence[Attempt]] = dict(
            grouped((attempt.block, attempt) for attempt in self.judged.get(condition.name, ()))
        )
        if condition.company == 1:
            return blocks
        fillers = self.chapter.fillers
        orders = [filler.order for filler in fillers]
        own = grouped((filler.block, filler) for filler in fillers)
        for index, block in blocks.items():
            began = min(attempt.started_s for attempt in block)
            sent_before = fillers[: bisect_left(orders, block[0].order)][-condition.company :]
            late = [filler for filler in sent_before if filler.block != index and filler.ended_s > began]
            blocks[index] = [*block, *late, *own.get(index, ())]
        return blocks


def facts(front: Preface, chapter: Chapter) -> Facts:
    """A chapter, sorted."""
    plan = front.run.plan
    own = [filler for filler in chapter.fillers if filler.prompt == chapter.prompt.id]
    in_order = sorted((*chapter.judged, *own), key=lambda attempt: attempt.order) if own else chapter.judged
    replayed = replays(in_order, shared_ids=front.shared_ids)
    counted = [
        attempt
        for attempt in chapter.judged
        if isinstance(attempt.outcome, Completion) and attempt.order not in replayed
    ]
    hash_of = {text: sha256(text) for text in {one.text for one in completions(counted)}}
    place_of = {condition.name: place for place, condition in enumerate(plan.conditions)}
    blocks = sorted(
        {(attempt.condition, attempt.block) for attempt in counted}, key=lambda each: (place_of[each[0]], each[1])
    )
    row_of = {block: row for row, block in enumerate(blocks)}
    table = _table(counted, hash_of, row_of)
    alone = frozenset(condition.name for condition in plan.conditions if condition.company == 1)
    return Facts(
        plan=plan,
        chapter=chapter,
        judged=grouped((attempt.condition, attempt) for attempt in chapter.judged),
        counted=grouped((attempt.condition, attempt) for attempt in counted),
        replays=replayed,
        hash_of=hash_of,
        table=table,
        row_of=row_of,
        condition_of=[condition for condition, _ in blocks],
        kinds=kinds(table) if len(hash_of) > 1 else None,
        paces={**front.paces, **paces(chapter.judged, alone)},
    )


def _table(counted: Sequence[Attempt], hash_of: Mapping[str, str], row_of: Mapping[tuple[str, int], int]) -> Table:
    column_of = {digest: column for column, digest in enumerate(sorted(hash_of.values()))}
    column_of_text = {text: column_of[digest] for text, digest in hash_of.items()}
    rows = [row_of[attempt.condition, attempt.block] for attempt in counted]
    columns = [column_of_text[one.text] for one in completions(counted)]
    table = np.zeros((len(row_of), len(column_of)), dtype=np.int64)
    np.add.at(table, (rows, columns), 1)
    return table


def completions(attempts: Iterable[Attempt]) -> list[Completion]:
    """The completions among the outcomes of attempts."""
    return [attempt.outcome for attempt in attempts if isinstance(attempt.outcome, Completion)]


def grouped(pairs: Iterable[tuple[Key, Item]]) -> dict[Key, list[Item]]:
    """Items by key, keys and items in the order in which they come."""
    groups: dict[Key, list[Item]] = {}
    for key, item in pairs:
        groups.setdefault(key, []).append(item)
    return groups
