"""One chapter of a run, sorted for judging: by condition and block, without the completions that do not count."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from operator import attrgetter
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

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


Weighed = Sequence[tuple[Completion, int]]
"""Distinct answers, each with how often it came; answers that are not one object may stand apart though equal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known of one prompt before any opinion.

    `judged` and `counted` are by condition, `counted` without failures and replays, and `answers` are those of the
    counted attempts; `replays` says what shows each of them. `table` counts each text (a column, by hash) in each block
    (a row) that gave a completion; `rows_of` tells by condition the rows of its counted attempts, and `condition_of`
    the place of each row's condition in the plan. `kinds` sorts the rows where there is more than one text.
    """

    plan: Plan
    chapter: Chapter
    judged: Mapping[str, Sequence[Attempt]]
    counted: Mapping[str, Sequence[Attempt]]
    answers: Mapping[str, Weighed]
    replays: Mapping[int, str]
    table: Table
    rows_of: Mapping[str, NDArray[np.int64]]
    condition_of: NDArray[np.int64]
    kinds: Kinds | None
    paces: Mapping[str, Pace]

    @property
    def everything(self) -> Weighed:
        """All answers that count."""
        return [one for own in self.answers.values() for one in own]

    def rows(self, condition: str) -> Table:
        """The rows of one condition."""
        rows = self.rows_of.get(condition)
        return self.table[:0] if rows is None else self.table[rows.min() : rows.max() + 1]

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
    in_order = sorted((*chapter.judged, *own), key=attrgetter("order")) if own else chapter.judged
    replayed = replays(in_order, shared_ids=front.shared_ids, head=front.run)
    judged = grouped((attempt.condition, attempt) for attempt in chapter.judged)
    counted = {
        name: kept
        for name, attempts in judged.items()
        if (kept := [one for one in attempts if isinstance(one.outcome, Completion) and one.order not in replayed])
    }
    answers = {name: weighed(completions(attempts)) for name, attempts in counted.items()}
    names = [condition.name for condition in plan.conditions]
    table, rows_of = _table(names, counted, answers)
    alone = frozenset(condition.name for condition in plan.conditions if condition.company == 1)
    return Facts(
        plan=plan,
        chapter=chapter,
        judged=judged,
        counted=counted,
        answers=answers,
        replays=replayed,
        table=table,
        rows_of=rows_of,
        condition_of=_condition_of(names, rows_of),
        kinds=kinds(table) if table.shape[1] > 1 else None,
        paces={**front.paces, **paces(chapter.judged, alone)},
    )


def _table(
    names: Sequence[str], counted: Mapping[str, Sequence[Attempt]], answers: Mapping[str, Weighed]
) -> tuple[Table, dict[str, NDArray[np.int64]]]:
    """The table of texts in blocks, and the row of each counted attempt; rows by condition, then by block."""
    texts = sorted({answer.text for own in answers.values() for answer, _ in own}, key=sha256)
    column_of_text = {text: column for column, text in enumerate(texts)}
    column_of = {id(answer): column_of_text[answer.text] for own in answers.values() for answer, _ in own}
    rows_of: dict[str, NDArray[np.int64]] = {}
    blocks = 0
    for name in sorted(counted, key=names.index):
        own, places = np.unique([attempt.block for attempt in counted[name]], return_inverse=True)
        rows_of[name] = blocks + places
        blocks += len(own)
    table = np.zeros((blocks, len(texts)), dtype=np.int64)
    for name, rows in rows_of.items():
        columns = np.array([column_of[id(attempt.outcome)] for attempt in counted[name]])
        np.add.at(table, (rows, columns), 1)
    return table, rows_of


def _condition_of(names: Sequence[str], rows_of: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.repeat(
        [names.index(name) for name in rows_of], [int(rows.max() - rows.min()) + 1 for rows in rows_of.values()]
    ).astype(np.int64)


def weighed(answers: Sequence[Completion]) -> Weighed:
    """Distinct answers in the order in which they first came, each with how often it did; none is compared."""
    known = {id(answer): answer for answer in answers}
    return [(known[key], count) for key, count in Counter(map(id, answers)).items()]


def one_by_one(answers: Weighed) -> Iterator[Completion]:
    """Every answer as often as it came."""
    return chain.from_iterable(repeat(answer, count) for answer, count in answers)


def completions(attempts: Iterable[Attempt]) -> list[Completion]:
    """The completions among the outcomes of attempts."""
    return [attempt.outcome for attempt in attempts if isinstance(attempt.outcome, Completion)]


def grouped(pairs: Iterable[tuple[Key, Item]]) -> dict[Key, list[Item]]:
    """Items by key, keys and items in the order in which they come."""
    groups = defaultdict[Key, list[Item]](list)
    for key, item in pairs:
        groups[key].append(item)
    return dict(groups)
