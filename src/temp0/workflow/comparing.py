"""Stored runs, or groups of them, side by side; or two files of scored items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from temp0.core.items import Items, ItemsPairing, Scored, items_pairing
from temp0.core.likeness import Matrix, matrix
from temp0.core.pairing import Pairing, Side, pairing, side, told_side
from temp0.core.plan import Message
from temp0.core.run import Completion
from temp0.errors import LogFileError, UnknownRunError, UsageError
from temp0.report import items_json, items_screen, matrix_json, matrix_screen, pairing_json, pairing_screen
from temp0.store import Store
from temp0.store.reading import no_collection
from temp0.workflow.foreign.log import Answer
from temp0.workflow.importing import Logs, read_logs
from temp0.workflow.judging import judged_run
from temp0.workflow.keeping import open_store

__all__ = [
    "ItemsPairing",
    "Matrix",
    "Pairing",
    "compared",
    "files_of",
    "items_json",
    "items_screen",
    "matrix_json",
    "matrix_screen",
    "paired",
    "paired_items",
    "pairing_json",
    "pairing_screen",
]


MOST_SIDES = 26


def paired(a: str, b: str, path: Path | None) -> Pairing:
    """The two sides that `a` and `b` name, each a stored run or several with commas between, and what changed.

    Raises `UnknownRunError`, `StoreError`, and `UsageError` for a run named twice on one side.
    """
    with open_store(path) as store:
        return pairing(_side(a, store), _side(b, store))


def compared(names: Sequence[str], path: Path | None) -> Matrix:
    """Every pair of the sides, each named as in `paired`; raises what that does, and UsageError for too many."""
    if len(names) > MOST_SIDES:
        raise UsageError(f"{len(names)} sides to compare; at most {MOST_SIDES} have a letter")
    with open_store(path) as store:
        return matrix([_side(name, store) for name in names])


def _side(name: str, store: Store) -> Side:
    """One run, read prompt by prompt, or several in memory."""
    ids = [_resolved(one.strip(), store) for one in name.split(",")]
    if twice := next((one for one in ids if ids.count(one) > 1), None):
        raise UsageError(f"run {twice} is named twice in {name!r}: its blocks would count twice")
    if len(ids) > 1:
        return side([store.load(one) for one in ids])
    judged = judged_run(store, ids[0])
    with no_collection(), store.book(ids[0]) as book:
        front = book.preface()
        return told_side([front.run], judged, front, book.chapters())


def _resolved(name: str, store: Store) -> str:
    try:
        return store.resolve(name)
    except UnknownRunError:
        if not Path(name).is_file():
            raise
        raise UsageError(
            f"{name} is a file, and no stored run: files of scored items are compared where the two sides name nothing "
            "else; temp0 import makes a run of it that can be compared with others"
        ) from None


def paired_items(a: str, b: str, *, seed: int = 0) -> tuple[ItemsPairing, tuple[str, ...]]:
    """The scored items of files of other tools compared, each side one file or several with commas between, and notes.

    Raises LogFileError for files that cannot be read, that have no scores or other ones, or whose items are not the
    same.
    """
    logs_a, logs_b = (read_logs(files_of(name) or [Path(name)]) for name in (a, b))
    items_a, items_b = _items(a, logs_a), _items(b, logs_b)
    if logs_a.scored_by != logs_b.scored_by:
        raise LogFileError(
            f"{a} is scored by {logs_a.scored_by}, and {b} by {logs_b.scored_by}: other scores, other tasks"
        )
    for name, only in ((a, sorted(items_a.keys() - items_b.keys())), (b, sorted(items_b.keys() - items_a.keys()))):
        if only:
            raise LogFileError(
                f"{len(only):,} of the items of {name} are not in the other file, such as {only[0]!r}: a score over "
                "other items says nothing of the setting"
            )
    found = items_pairing(items_a, items_b, seed=seed)
    if found is None:
        raise LogFileError(f"no item has a score in both {a} and {b}")
    asked_a, asked_b = _asked(logs_a), _asked(logs_b)
    reworded = tuple(name for name in items_a if name in asked_a and asked_b.get(name, asked_a[name]) != asked_a[name])
    notes = (f"{name}: {note}" for name, logs in ((a, logs_a), (b, logs_b)) for note in logs.notes)
    return replace(found, reworded=reworded, scored_by=logs_a.scored_by), tuple(notes)


def files_of(side: str) -> list[Path] | None:
    """The files that a side names, with commas between; `None` where it does not name files alone."""
    paths = [Path(side)] if Path(side).is_file() else [Path(one.strip()) for one in side.split(",")]
    return paths if all(path.is_file() for path in paths) else None


def _items(side: str, logs: Logs) -> Items:
    """The answers to each item. One that nobody answered is there without any, so that it is not taken for missing."""
    found: dict[str, list[Scored]] = {}
    for answer in logs.answers:
        own = found.setdefault(_item(answer), [])
        if isinstance(answer.outcome, Completion):
            own.append(Scored(text=answer.outcome.text, score=answer.score, parsed=answer.parsed))
    if not any(one.score is not None for own in found.values() for one in own):
        raise LogFileError(f"{side} has no scored answers")
    return found


def _item(answer: Answer) -> str:
    """The name of an item, or the words that it asks in."""
    return "\n".join(turn.content for turn in answer.messages) if answer.prompt is None else answer.prompt


def _asked(logs: Logs) -> dict[str, tuple[Message, ...]]:
    return {_item(answer): answer.messages for answer in reversed(logs.answers) if answer.messages}
