"""How the work is carried out changes no bit: not the threads, not the instruction set, not the process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import matrix_digest
import pytest
from matrix import row_called
from random_engine import engines
from random_model import WIDE, checkpoint_of
from watched import Lone, differences

from temp0 import kernels

# The rows whose batches are large enough to be split, with few of their values.
SPLIT = {
    "company of": (1, 3, 8, 17),
    "unequal lengths, order": (0,),
    "chunk of": (1, 33, 100),
    "read instead of decoded": (6,),
    "conversation of turns": (2,),
    "preempted": ("greedy", "sampled"),
}
CHECKPOINT = checkpoint_of(WIDE)
LONE = Lone(engines(CHECKPOINT, threads=1))


@pytest.fixture(autouse=True)
def same_threads_afterwards() -> Iterator[None]:
    before = kernels.threads()
    yield
    kernels.set_threads(before)


@pytest.mark.parametrize("name", SPLIT)
@pytest.mark.parametrize("threads", [2, 3, 4])
def test_the_number_of_threads_changes_no_bit(threads: int, name: str) -> None:
    make, row = engines(CHECKPOINT, threads=threads), row_called(name)
    seen = [one for value in SPLIT[name] for one in row.play(make, value)]
    assert kernels.threads() == threads
    assert differences(seen, LONE) == []


def process(**environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, Path(matrix_digest.__file__)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def digests() -> dict[str, str]:
    return matrix_digest.digests()


@pytest.mark.parametrize("path", ["portable", "avx2", "avx512", "amx"])
def test_every_instruction_set_gives_the_same_bits(path: str, digests: dict[str, str]) -> None:
    seen = process(TEMP0_ISA=path)
    if "this processor or build does not have" in seen.stderr:
        pytest.skip(f"this processor has no {path}")
    assert json.loads(seen.stdout) == {"path": path, "digests": digests}


def test_two_processes_give_the_same_bits(digests: dict[str, str]) -> None:
    first, second = (json.loads(process().stdout) for _ in range(2))
    assert first == second == {"path": kernels.instruction_set(), "digests": digests}
