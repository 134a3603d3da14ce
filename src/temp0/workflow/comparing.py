"""Stored runs, or groups of them, side by side; or two files of scored items."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from temp0.core.items import Items, ItemsPairing, Scored, items_pairing
from temp0.core.likeness import Matrix, matrix
from temp0.core.pairing import Pairing, Side, pairing, side
from temp0.core.run import Completion
from temp0.errors import LogFileError, UnknownRunError, UsageError
from temp0.report import items_json, items_screen, matrix_json, matrix_screen, pairing_json, pairing_screen
from temp0.store import Store
from temp0.workflow.importing import read_log
from temp0.workflow.keeping import open_store

__all__ = [
    "ItemsPairing",
    "Matrix",
    "Pairing",
    "compared",
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
    ids = [_resolved(one.strip(), store) for one in name.split(",")]
    if twice := next((one for one in ids if ids.count(one) > 1), None):
        raise UsageError(f"run {twice} is named twice in {name!r}: its blocks would count twice")
    return side([store.load(one) for one in ids])


def _resolved(name: str, store: Store) -> str:
    try:
        return store.resolve(name)
    except UnknownRunError:
        if not Path(name).is_file():
            raise
        raise UsageError(
            f"{name} is a file, and no stored run: two files of scored items are compared with each other; "
            "temp0 import makes a run of it that can be compared with others"
        ) from None


def paired_items(a: Path, b: Path, *, seed: int = 0) -> ItemsPairing:
    """The scored items of two files of other tools, compared.

    Raises LogFileError for files that cannot be read, that have no scores, or whose items are not the same.
    """
    items_a, items_b = _items(a), _items(b)
    for path, only in ((a, sorted(items_a.keys() - items_b.keys())), (b, sorted(items_b.keys() - items_a.keys()))):
        if only:
            raise LogFileError(
                f"{len(only)} of the items of {path} are not in the other file, such as {only[0]!r}: a score over "
                "other items says nothing of the setting"
            )
    return items_pairing(items_a, items_b, seed=seed)


def _items(path: Path) -> Items:
    found: dict[str, list[Scored]] = {}
    for answer in read_log(path).answers:
        if answer.score is not None and isinstance(answer.outcome, Completion):
            found.setdefault(answer.prompt, []).append(Scored(text=answer.outcome.text, score=answer.score))
    if not found:
        raise LogFileError(f"{path} has no scored answers")
    return found
