"""Where the store is when nobody says: a function of the environment, which creates nothing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import platformdirs

VARIABLE = "TEMP0_STORE"


def default_path(environ: Mapping[str, str] | None = None) -> Path:
    """The path in `TEMP0_STORE`, or else `temp0/runs.db` in the platform's folder for user data.

    Only the `environ` that is handed over is asked for `TEMP0_STORE`; an empty value counts as unset.
    """
    chosen = (environ or {}).get(VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    return Path(platformdirs.user_data_path("temp0", appauthor=False)) / "runs.db"
