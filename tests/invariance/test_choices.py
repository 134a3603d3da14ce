"""What is chosen from the logits: the first of equals when greedy, the same text when seeded, in every situation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from matrix import MATRIX, Row, differing
from prompt_situations import rescored
from random_engine import engines
from random_model import ODD, checkpoint_of, with_tied_tokens
from watched import Lone

from temp0.engine import Emission, Engine, Request
from temp0.engine.arithmetic import arithmetic

CHECKPOINT = checkpoint_of(ODD)
HALF = ODD.vocab // 2
TIED = engines(with_tied_tokens(CHECKPOINT))


class SeededEngine(Engine):
    """Answers every request as if it had been asked at temperature 0.8 with seed 7."""

    def submit(self, request: Request, on_emission: Callable[[Emission], None], **options: Any) -> int:
        return super().submit(replace(request, temperature=0.8, seed=7), on_emission, **options)


def seeded(**limits: Any) -> Engine:
    return SeededEngine(CHECKPOINT, arithmetic("invariant", threads=1), fingerprint="temp0-test", **limits)


LONE = Lone(seeded)


@pytest.mark.parametrize("row", MATRIX, ids=lambda row: row.name)
def test_the_first_of_two_equal_logits_wins(row: Row) -> None:
    """Every row of this model's head is there twice, so that every choice is between two equal logits."""
    answers = [one for value in row.values for one in row.play(TIED, value) if one.emissions]
    for greedy in [one for one in answers if one.request.temperature == 0]:
        assert max(greedy.tokens) < HALF
        for token, logits in zip(greedy.tokens, greedy.logits, strict=True):
            assert logits[token] == logits[token + HALF]


# One of them asks anew for every token, and so draws the first number of its seed again and again.
@pytest.mark.parametrize("row", [row for row in MATRIX if row.play is not rescored], ids=lambda row: row.name)
def test_a_seed_gives_the_same_text(row: Row) -> None:
    assert differing(row, seeded, LONE) == []


def test_a_seeded_text_is_not_the_greedy_one() -> None:
    request = Request(tokens=(5, 6, 7), max_tokens=12)
    assert LONE.answer(request).tokens != Lone(engines(CHECKPOINT)).answer(request).tokens
