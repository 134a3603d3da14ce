"""Progress counts judged attempts and fillers apart, in words that fit the count."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from temp0.cli.progress import Progress
from temp0.core.run import Attempt, Completion, Failure, Role


def attempt(role: Role, outcome: Completion | Failure) -> Attempt:
    return Attempt(
        order=0, prompt="p", condition="company 8", block=0, role=role, started_s=0.0, first_byte_s=None, ended_s=1.0,
        in_flight=1, predecessor=None, outcome=outcome,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("fillers", "failures", "told"),
    [
        (0, 0, "3 of 9 attempts, "),
        (1, 0, "3 of 9 attempts, 1 filler, "),
        (2, 1, "4 of 9 attempts, 2 fillers, 1 failed, "),
    ],
)
def test_a_line_says_how_many_of_each_there_were(fillers: int, failures: int, told: str) -> None:
    shown = Progress(Console(file=io.StringIO()))
    shown.begin(9)
    for one in [attempt("judged", Completion(text="a"))] * 3 + [attempt("filler", Completion(text="f"))] * fillers:
        shown.attempt(one)
    for _ in range(failures):
        shown.attempt(attempt("judged", Failure(reason="timeout", message="no answer")))
    assert shown._line().startswith(told)
