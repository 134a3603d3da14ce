"""Two stored runs side by side, or two files of scored items."""

from __future__ import annotations

from pathlib import Path

from temp0.core.items import Items, ItemsPairing, Scored, items_pairing
from temp0.core.pairing import Pairing, pairing
from temp0.core.run import Completion
from temp0.errors import LogFileError
from temp0.report import items_json, items_screen, pairing_json, pairing_screen
from temp0.workflow.importing import read_log
from temp0.workflow.keeping import open_store

__all__ = [
    "ItemsPairing",
    "Pairing",
    "items_json",
    "items_screen",
    "paired",
    "paired_items",
    "pairing_json",
    "pairing_screen",
]


def paired(a: str, b: str, path: Path | None) -> Pairing:
    """The stored runs that `a` and `b` name, paired. Raises `UnknownRunError` and `StoreError`."""
    with open_store(path) as store:
        return pairing(store.load(store.resolve(a)), store.load(store.resolve(b)))


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
