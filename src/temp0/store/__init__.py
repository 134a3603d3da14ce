"""Room store: keeps runs, append-only, in one SQLite file."""

from temp0.store.location import default_path
from temp0.store.store import Store
from temp0.store.summary import RunSummary

__all__ = ["RunSummary", "Store", "default_path"]
