"""A text has the same logits at every position, whether it is scored in one pass, in pieces or token by token."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pytest
from company_situations import prompt
from numpy.typing import NDArray
from planted import OrderByCount
from random_model import EVEN, ODD, checkpoint_of

from temp0.engine.arithmetic import Arithmetic, arithmetic
from temp0.engine.checkpoint import Settings
from temp0.engine.kv_cache import KvCache
from temp0.engine.model import Batch, Model

LENGTH = 150
TEXT = prompt(LENGTH, seed=3)
MODELS = [(EVEN, "bf16"), (ODD, "bf16"), (ODD, "fp32")]


class Scorer:
    """A model with room for a few texts, which gives the bits of the logits of every row."""

    def __init__(self, settings: Settings, arithmetic: Arithmetic) -> None:
        self._model = Model(checkpoint_of(settings), arithmetic, rows=4 * LENGTH, wanted=4 * LENGTH)
        self._settings = settings

    def in_pieces(self, cuts: Iterable[int]) -> NDArray[np.uint32]:
        """Logits [LENGTH, vocab] of TEXT, read in pieces that end at these positions and at its end."""
        cache = KvCache(self._settings, tokens=4 * LENGTH, slots=1)
        slot = cache.hold(LENGTH)
        pieces = [piece.tolist() for piece in np.split(np.arange(LENGTH), list(cuts)) if len(piece)]
        return np.concatenate([self._pass(cache, {slot: piece}) for piece in pieces])

    def among(self, lengths: Sequence[int]) -> NDArray[np.uint32]:
        """The same of TEXT in one pass behind other texts of these lengths."""
        cache = KvCache(self._settings, tokens=8 * LENGTH, slots=8)
        others = {cache.hold(length): range(length) for length in lengths}
        return self._pass(cache, {**others, cache.hold(LENGTH): range(LENGTH)})[-LENGTH:]

    def _pass(self, cache: KvCache, positions: dict[int, Sequence[int]]) -> NDArray[np.uint32]:
        """One pass over those positions of TEXT in each slot."""
        rows = np.concatenate([np.array(each, np.int32) for each in positions.values()])
        batch = Batch(
            tokens=np.array(TEXT, np.int32)[rows],
            positions=rows,
            slots=np.repeat(np.array(list(positions), np.int32), [len(each) for each in positions.values()]),
            wanted=np.arange(len(rows)),
        )
        return self._model.forward(batch, cache).view(np.uint32).copy()


@pytest.fixture(params=MODELS, ids=["even", "odd", "odd, fp32 activations"])
def scorer(request: pytest.FixtureRequest) -> Scorer:
    settings, activations = request.param
    return Scorer(settings, arithmetic("invariant", activations=activations, threads=1))


def test_token_by_token_every_position_has_the_bits_of_one_pass(scorer: Scorer) -> None:
    assert (scorer.in_pieces(range(1, LENGTH)) == scorer.in_pieces([])).all()


def test_every_cut_in_two_gives_every_position_the_bits_of_one_pass(scorer: Scorer) -> None:
    whole = scorer.in_pieces([])
    assert [cut for cut in range(1, LENGTH) if (scorer.in_pieces([cut]) != whole).any()] == []


def test_pieces_of_every_size_give_every_position_the_bits_of_one_pass(scorer: Scorer) -> None:
    whole = scorer.in_pieces([])
    assert [size for size in range(2, 40) if (scorer.in_pieces(range(size, LENGTH, size)) != whole).any()] == []


@pytest.mark.parametrize("lengths", [[1], [1, 2, 3, 4, 5], [LENGTH], [7, 64, 100]], ids=str)
def test_other_texts_in_the_same_pass_change_no_position(scorer: Scorer, lengths: list[int]) -> None:
    assert (scorer.among(lengths) == scorer.in_pieces([])).all()


def test_a_kernel_for_single_rows_is_seen() -> None:
    scorer = Scorer(ODD, OrderByCount(most=1))
    assert (scorer.in_pieces(range(1, LENGTH)) != scorer.in_pieces([])).any(axis=1).all()
