"""Ten thousand spoiled inputs for every reader: none raises, leaks the key, or is read otherwise in other pieces."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest
from target import FOUND, targets

INPUTS = int(os.environ.get("TEMP0_FUZZ_INPUTS", "10000"))
TARGETS = targets()
KEPT = sorted(FOUND.glob("*/*.body"))


@pytest.mark.parametrize("name", TARGETS)
def test_no_input_is_read_wrongly(name: str):
    target = TARGETS[name]
    for body, pieces in target.inputs(Random(0), INPUTS):
        assert target.wrong(body, pieces) == [], (body, pieces)


@pytest.mark.parametrize("path", KEPT, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_what_was_found_once_is_read_rightly(path: Path):
    """In one piece, and byte by byte."""
    target, body = TARGETS[path.parent.name], path.read_bytes()
    assert target.wrong(body, [body]) == []
    assert target.wrong(body, [body[place : place + 1] for place in range(len(body))]) == []
