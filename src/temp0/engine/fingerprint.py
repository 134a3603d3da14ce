"""An engine's name for whoever compares answers: under another one, other bits may follow.

It is made of what decides them: the model's files, how it adds and rounds, and the versions of temp0 and of the
orders in which its kernels add.
"""

from __future__ import annotations

import hashlib
from importlib.metadata import version
from pathlib import Path

from temp0 import kernels
from temp0.engine.weights import identifying_files


def fingerprint_of(weights: Path, *, arithmetic: str, activations: str) -> str:
    """The fingerprint, such as `temp0-0123456789ab`; the files are read whole. ModelError where one is missing."""
    digest = hashlib.sha256()
    for path in identifying_files(weights):
        with path.open("rb") as file:
            hashlib.file_digest(file, lambda: digest)
    digest.update(f"{arithmetic} {activations} {version('temp0')} {kernels.ORDERS}".encode())
    return f"temp0-{digest.hexdigest()[:12]}"
