"""Two stored runs side by side."""

from __future__ import annotations

from pathlib import Path

from temp0.core.pairing import Pairing, pairing
from temp0.report import pairing_json, pairing_screen
from temp0.workflow.keeping import open_store

__all__ = ["Pairing", "paired", "pairing_json", "pairing_screen"]


def paired(a: str, b: str, path: Path | None) -> Pairing:
    """The stored runs that `a` and `b` name, paired. Raises `UnknownRunError` and `StoreError`."""
    with open_store(path) as store:
        return pairing(store.load(store.resolve(a)), store.load(store.resolve(b)))
