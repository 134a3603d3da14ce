"""Prints a digest of every row of the matrix, so that processes can be compared; run as a script."""

from __future__ import annotations

import hashlib
import json
import sys

from matrix import MATRIX, Row
from random_engine import engines
from random_model import ODD, checkpoint_of

from temp0 import kernels


def digest(row: Row) -> str:
    """Of the bits of every logit in a row, played with its middle value."""
    answers = row.play(engines(checkpoint_of(ODD)), row.values[len(row.values) // 2])
    return hashlib.sha256(b"".join(one.logits.tobytes() for one in answers if one.emissions)).hexdigest()


def digests() -> dict[str, str]:
    return {row.name: digest(row) for row in MATRIX}


if __name__ == "__main__":
    json.dump({"path": kernels.instruction_set(), "digests": digests()}, sys.stdout)
