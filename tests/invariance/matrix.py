"""The matrix: every situation in which a request must have the bits that it has alone.

`differing` plays a row of it and says where bits differ. It knows nothing of what ought to be equal, so that the same
table proves the invariant mode and shows that the proof can see.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from company_situations import CONTENTS, arrival, company, content, late, leaving, lengths, logprobs, place, sampled
from memory_situations import (
    PREEMPTED,
    cold_on_demand,
    conversation,
    emptied,
    evicted,
    partly_warm,
    preempted,
    preempted_twice,
    preempted_while_reading,
    shared,
    warm,
)
from prompt_situations import LENGTH, chunk, chunk_in_company, cut, rescored
from watched import Lone, Make, Watched, differences


@dataclass(frozen=True, slots=True)
class Row:
    """A kind of situation, and every value that it is played with."""

    name: str
    play: Callable[[Make, Any], list[Watched]]
    values: Sequence[Any]


MATRIX = (
    # who else is in flight
    Row("company of", company, (*range(1, 34), 44, 45, 63, 64, 65)),
    Row("place among 33", place, range(33)),
    Row("one of four late by", late, range(1, 11)),
    Row("content of the others", content, tuple(CONTENTS)),
    Row("unequal lengths, order", lengths, range(6)),
    Row("arrival of a prompt of", arrival, (33, 64, 100, 300)),
    Row("one leaves after", leaving, range(1, 11)),
    Row("sampled among", sampled, (2, 3, 8, 17)),
    Row("logprobs asked by", logprobs, ("nobody", "we", "the others", "all")),
    # how the text is computed
    Row("chunk of", chunk, range(1, LENGTH + 2)),
    Row("cut at", cut, range(1, LENGTH)),
    Row("chunk in company", chunk_in_company, (*range(1, 18), 32, 64, 115, 116, 117)),
    Row("read instead of decoded", rescored, (24,)),
    # what the cache holds
    Row("warm prompt of", warm, (17, 31, 32, 33, 48, 49, 100)),
    Row("warm up to", partly_warm, (16, 17, 31, 32, 33, 40, 64, 69)),
    Row("conversation of turns", conversation, (3,)),
    Row("shared with a running one after", shared, (2, 3, 5, 20)),
    Row("driven out by", evicted, (1, 2)),
    Row("cold on demand", cold_on_demand, (17, 32, 50)),
    Row("emptied", emptied, (17, 32, 50)),
    Row("preempted", preempted, tuple(PREEMPTED)),
    Row("preempted while read by", preempted_while_reading, (1, 2, 3, 4)),
    Row("preempted twice", preempted_twice, tuple(PREEMPTED)),
)  # fmt: skip


def row_called(name: str) -> Row:
    return next(row for row in MATRIX if row.name == name)


def differing(row: Row, make: Make, lone: Lone) -> list[str]:
    """Every answer of a row that is not what the request has alone, with the value and the place."""
    return [f"{row.name} {value}: {what}" for value in row.values for what in differences(row.play(make, value), lone)]


def unmoved(make: Make) -> set[str]:
    """The names of the rows in which these engines answer as they do alone."""
    lone = Lone(make)
    return {row.name for row in MATRIX if not any(differences(row.play(make, value), lone) for value in row.values)}
