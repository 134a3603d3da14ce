"""Reads attempts with what judging looks at and nothing else, in half the time that reading all of them takes.

Left out are bodies, first bytes, headers whose names tell neither a machine nor a cache, and ids that came once or that
name no answer. What is left of answers repeats nearly always, so that equal ones are one object.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import islice, repeat
from operator import attrgetter, itemgetter

from sqlalchemy import Connection

from temp0.core.header import tells_cache, tells_machine
from temp0.core.replay import stand_still
from temp0.core.run import Attempt, Completion, Failure
from temp0.core.text import from_utf8, utf8
from temp0.store.encoding import pairs_from, usage_from
from temp0.store.reading import content, of_orders, query, rows
from temp0.store.record import records
from temp0.store.row import Decoded, Row, tool_calls
from temp0.store.tokens import unpacked

_COMMON = ("order", "prompt", "condition", "block", "role", "started_s", "ended_s", "in_flight", "predecessor")
_SAID = ("reason", "message", "status", "text", "tokens", "finish", "usage", "model", "fingerprint")
_BESIDE = ("reasoning", "tool_calls", "refusal")
_EXTRACTED = (*_COMMON, *_SAID, *_BESIDE, "id", "created", "headers")

_MADE = itemgetter(*map(_EXTRACTED.index, ("created", "started_s", "ended_s")))

JUDGED = f"{query(*_EXTRACTED)} AND prompt = ? AND role = 'judged'"
OF_ORDERS = of_orders(*_EXTRACTED)

Told = tuple[bytes, ...]
"""The names and values of the headers that tell something, in turn."""


class Extract:
    """Attempts of one run, given by their order. Of ids, only those in `naming` are kept, and when they were made.

    Times of creation are kept of a prompt's judged attempts where one stands still, since replays are told by that.
    """

    def __init__(self, connection: Connection, number: int, naming: Collection[bytes] = frozenset()) -> None:
        self._connection = connection
        self._number = number
        self._naming = naming
        find = content(connection)
        self._labels = Decoded(from_utf8)
        self._usages = Decoded(usage_from)
        self._texts = Decoded(lambda digest: from_utf8(find(digest)))
        self._tokens = Decoded(lambda digest: unpacked(find(digest)))
        self._calls = Decoded(tool_calls)
        self._outcomes = Decoded(self._outcome)
        self._names: list[bytes] = []  # of the last headers: those of one server have the same, as a rule
        self._pick = _picking([])

    def judged(self, prompt_id: str) -> tuple[Attempt, ...]:
        """The judged ones of a prompt."""
        batches = [*rows(self._connection, JUDGED, self._number, utf8(prompt_id))]
        still = stand_still([told for some in batches for told in map(_MADE, some) if told[0] is not None])
        return self._sorted(batches, keeps_created=still)

    def at(self, orders: Sequence[int]) -> tuple[Attempt, ...]:
        """Those of these orders."""
        if not orders:
            return ()
        return self._sorted(rows(self._connection, OF_ORDERS, self._number, json.dumps(orders, allow_nan=False)))

    def _sorted(self, batches: Iterable[Sequence[Row]], *, keeps_created: bool = False) -> tuple[Attempt, ...]:
        found = [attempt for some in batches for attempt in self._made(some, keeps_created=keeps_created)]
        return tuple(sorted(found, key=attrgetter("order")))

    def _made(self, some: Sequence[Row], *, keeps_created: bool) -> list[Attempt]:
        """The attempts of rows, column by column, which takes half as long as row by row."""
        columns = zip(*some, strict=True)
        order, prompt, condition, block, role, started_s, ended_s, in_flight, predecessor = islice(
            columns, len(_COMMON)
        )
        *alike, ids, created, headers = columns
        naming = self._naming
        keys = zip(
            *alike,
            [name if name in naming else None for name in ids],
            [at if keeps_created or name in naming else None for at, name in zip(created, ids, strict=True)],
            map(self._told, headers),
            strict=True,
        )
        return records(
            Attempt,
            len(some),
            order=order,
            prompt=self._labels.all(prompt),
            condition=self._labels.all(condition),
            block=block,
            role=role,
            started_s=started_s,
            first_byte_s=repeat(None),
            ended_s=ended_s,
            in_flight=in_flight,
            predecessor=predecessor,
            outcome=self._outcomes.all(keys),
            sent=repeat(None),
            received=repeat(None),
        )

    def _outcome(self, key: Row) -> Completion | Failure:
        reason, message, status, text, tokens, finish, usage, model, fingerprint, *beside = key
        if reason is not None:
            return Failure(reason=from_utf8(reason), message=self._texts[message], status=status)
        reasoning, calls, refusal, id_, created, told = beside
        return Completion(
            text=self._texts[text],
            finish=self._labels[finish],
            tokens=self._tokens[tokens],
            reasoning=self._texts[reasoning],
            usage=self._usages[usage],
            model=self._labels[model],
            fingerprint=self._labels[fingerprint],
            id=self._labels[id_],
            created=None if created is None else int(created),
            headers=tuple(zip(*[map(from_utf8, told)] * 2, strict=True)),
            tool_calls=() if calls is None else self._calls[calls],
            refusal=self._texts[refusal],
        )

    def _told(self, headers: bytes | None) -> Told:
        """What the headers of one answer tell. Without an escape, every quote begins or ends a string of theirs."""
        if headers is None:
            return ()
        if b"\\" in headers:
            pairs = [pair for pair in pairs_from(headers) if _tells(pair[0])]
            return tuple(utf8(one) for pair in pairs for one in pair)
        parts = headers.split(b'"')
        names = parts[1::4]
        if names != self._names:
            self._names = names
            self._pick = _picking([place for place, name in enumerate(names) if _tells(from_utf8(name))])
        return self._pick(parts)


def _tells(name: str) -> bool:
    return tells_machine(name) or tells_cache(name)


def _picking(places: Sequence[int]) -> Callable[[list[bytes]], Told]:
    """What takes the names and values at these places out of JSON pairs that were cut at their quotes."""
    if not places:
        return lambda _: ()
    return itemgetter(*(4 * place + offset for place in places for offset in (1, 3)))
