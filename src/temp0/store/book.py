"""One stored run, as it stood at one moment, cut into its preface and its chapters.

Equal to what `core.chapter` makes of the same run in memory, without ever holding more than the attempts of one
prompt and a few words about each of the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain
from pathlib import Path

from sqlalchemy import Connection

from temp0.core.chapter import Chapter, Preface
from temp0.core.company import Pace, paces
from temp0.core.plan import Prompt
from temp0.core.run import Attempt, Run
from temp0.core.text import from_utf8
from temp0.store import reading
from temp0.store.fault import plain_errors
from temp0.store.reading import Shelf
from temp0.store.survey import SURVEYED, Survey, survey

_ANSWERS = reading.query("id", "text", "created")


class Book:
    """What `Store.book` opens, to be read while that context lasts. Its methods raise StoreError."""

    def __init__(self, connection: Connection, number: int, path: Path) -> None:
        self._connection = connection
        self._number = number
        self._path = path

    def preface(self) -> Preface:
        """What must be known of the whole run before one of its prompts can be judged."""
        with plain_errors(self._path):
            return Preface(
                run=self._run,
                requests=len(self._survey.asked),
                shared_ids=self._shared_ids(),
                paces=self._paces(),
            )

    def chapters(self, which: slice = slice(None)) -> Iterator[Chapter]:
        """One chapter for each prompt (or for some of them), in the plan's order, each read when it is asked for."""
        with plain_errors(self._path):
            return map(self._chapter, self._run.plan.prompts[which])

    @cached_property
    def _run(self) -> Run:
        return reading.header(self._connection, self._number)

    @cached_property
    def _survey(self) -> Survey:
        return survey(reading.rows(self._connection, reading.query(*SURVEYED), self._number))

    def _chapter(self, prompt: Prompt) -> Chapter:
        with plain_errors(self._path):
            shelf, asked = self._shelf(), self._survey.asked
            judged = shelf.judged(prompt.id)
            return Chapter(
                prompt=prompt,
                judged=judged,
                fillers=shelf.at(self._filler_orders(judged)),
                predecessors={
                    attempt.order: asked[attempt.predecessor]
                    for attempt in judged
                    if attempt.predecessor is not None and attempt.predecessor in asked
                },
            )

    def _filler_orders(self, judged: Iterable[Attempt]) -> list[int]:
        beside = self._survey.fillers
        return sorted({order for block in {one.block for one in judged} for order in beside.get(block, ())})

    def _shared_ids(self) -> frozenset[str]:
        """Of the ids that came more than once, those that did not come with one text and one time of creation."""
        repeated = self._survey.repeated
        if not repeated:
            return frozenset()
        first: dict[bytes, tuple[bytes, bytes | None]] = {}
        shared = set()
        for answer_id, text, created in chain.from_iterable(reading.rows(self._connection, _ANSWERS, self._number)):
            if answer_id in repeated and first.setdefault(answer_id, (text, created)) != (text, created):
                shared.add(answer_id)
        return frozenset(map(from_utf8, shared))

    def _paces(self) -> dict[str, Pace]:
        """The pace of every prompt where fillers of other prompts keep company, and nothing elsewhere."""
        plan = self._run.plan
        if not any(condition.company > 1 and condition.filler == "mixed" for condition in plan.conditions):
            return {}
        alone = frozenset(condition.name for condition in plan.conditions if condition.company == 1)
        return {
            name: pace
            for prompt in plan.prompts
            for name, pace in paces(self._shelf().judged(prompt.id), alone).items()
        }

    def _shelf(self) -> Shelf:
        """A new one for each prompt, so that no more is remembered than the texts of one."""
        return Shelf(self._connection, self._number)
