"""Stored runs: where they are kept, which there are, and one of them judged afresh."""

from __future__ import annotations

import os
from pathlib import Path

from temp0.core.analysis import Analysis
from temp0.store import RunSummary, Store, default_path
from temp0.workflow.judging import judged_run

__all__ = ["RunSummary", "Store", "judged", "open_store", "runs"]


def open_store(path: Path | None) -> Store:
    """The store in the file named, else in the user's data folder. Raises `StoreError`."""
    return Store.open(path or default_path(os.environ))


def judged(run: str, path: Path | None) -> Analysis:
    """The analysis of the stored run whose id begins with `run`, or of the `last` one, read prompt by prompt."""
    with open_store(path) as store:
        return judged_run(store, store.resolve(run))


def runs(path: Path | None) -> tuple[RunSummary, ...]:
    """All stored runs, the newest first."""
    with open_store(path) as store:
        return store.runs()
