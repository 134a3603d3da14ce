"""One stored run, as it stood at one moment, cut into its preface and its chapters.

Judged like what `core.chapter` makes of the same run in memory, without ever holding more than the attempts of one
prompt, extracted, and a few words about each of the others.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from pathlib import Path

from sqlalchemy import Connection

from temp0.core.chapter import Chapter, Preface
from temp0.core.company import Pace, paces
from temp0.core.plan import Prompt
from temp0.core.register import Predecessors
from temp0.core.run import Attempt, Run
from temp0.core.text import from_utf8
from temp0.store.extract import Extract
from temp0.store.fault import plain_errors
from temp0.store.reading import header, of_orders, query, rows
from temp0.store.survey import SURVEYED, Survey, survey

_ANSWERS = of_orders("id", "text", "created")
_AT_ONCE = 1_000


class Book:
    """What `Store.book` opens, to be read while that context lasts. Its methods raise StoreError."""

    def __init__(self, connection: Connection, number: int, path: Path) -> None:
        self._connection = connection
        self._number = number
        self._path = path

    def preface(self) -> Preface:
        """What must be known of the whole run before one of its prompts can be judged."""
        with plain_errors(self._path):
            _, shared = self._ids
            return Preface(
                run=self._run,
                requests=len(self._survey.register.orders),
                shared_ids=frozenset(map(from_utf8, shared)),
                paces=self._paces(),
            )

    def chapters(self, which: slice = slice(None)) -> Iterator[Chapter]:
        """One chapter for each prompt (or for some of them), in the plan's order, each read when it is asked for."""
        with plain_errors(self._path):
            return map(self._chapter, self._run.plan.prompts[which])

    @cached_property
    def _run(self) -> Run:
        return header(self._connection, self._number)

    @cached_property
    def _survey(self) -> Survey:
        return survey(rows(self._connection, query(*SURVEYED), self._number))

    def _chapter(self, prompt: Prompt) -> Chapter:
        with plain_errors(self._path):
            extract = self._extract()
            judged = extract.judged(prompt.id)
            return Chapter(
                prompt=prompt,
                judged=judged,
                fillers=extract.at(self._filler_orders(prompt, judged)),
                predecessors=Predecessors(judged, self._survey.register),
            )

    def _filler_orders(self, prompt: Prompt, judged: Iterable[Attempt]) -> list[int]:
        about, fillers, before = self._survey.about, self._survey.fillers, self._survey.before
        blocks = dict.fromkeys((one.block, one.condition) for one in judged)
        found = {order for block, _ in blocks for order in fillers.get(block, ())}
        for block, condition in blocks:
            if earlier := fillers.get(before.get(block, block)):
                is_alone = condition in self._alone
                found.update(order for order in earlier if not is_alone or about[order] == prompt.id)
        return sorted(found)

    @cached_property
    def _ids(self) -> tuple[Collection[bytes], Collection[bytes]]:
        """Of the ids that came more than once, those of one text and one time of creation, and those of several."""
        first: dict[bytes, tuple[bytes, bytes | None]] = {}
        shared: dict[bytes, int] = {}
        repeated = [(order, name) for name, orders in self._survey.repeated.items() for order in orders]
        for start in range(0, len(repeated), _AT_ONCE):
            known = set(shared.values())
            unsure = [order for order, name in repeated[start : start + _AT_ONCE] if name not in known]
            doubtful = json.dumps(unsure, allow_nan=False)
            for answers in rows(self._connection, _ANSWERS, self._number, doubtful):
                for id_, text, created in answers:
                    if first.setdefault(id_, (text, created)) != (text, created):
                        shared[id_] = hash(id_)
        return first.keys() - shared.keys(), shared.keys()

    def _paces(self) -> dict[str, Pace]:
        """The pace of every prompt where fillers of other prompts keep company, and nothing elsewhere."""
        plan = self._run.plan
        if not any(condition.company > 1 and condition.filler == "mixed" for condition in plan.conditions):
            return {}
        return {
            name: pace
            for prompt in plan.prompts
            for name, pace in paces(self._extract().judged(prompt.id), self._alone).items()
        }

    @cached_property
    def _alone(self) -> frozenset[str]:
        return frozenset(condition.name for condition in self._run.plan.conditions if condition.company == 1)

    def _extract(self) -> Extract:
        """A new one for each prompt, so that no more is remembered than the texts of one."""
        naming, _ = self._ids
        return Extract(self._connection, self._number, naming)
