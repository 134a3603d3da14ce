"""No bit of any logit depends on the situation: the matrix, exhaustively on random models in invariant mode."""

from __future__ import annotations

from pathlib import Path

import pytest
from matrix import MATRIX, Row, differing
from random_engine import engines
from random_model import EVEN, ODD, checkpoint_of
from watched import Lone

MODELS = {
    "even": engines(checkpoint_of(EVEN)),
    "odd": engines(checkpoint_of(ODD)),
    "odd, fp32 activations": engines(checkpoint_of(ODD), activations="fp32"),
}
LONE = {name: Lone(make) for name, make in MODELS.items()}


@pytest.mark.parametrize("row", MATRIX, ids=lambda row: row.name)
@pytest.mark.parametrize("model", MODELS)
def test_every_bit_is_the_one_it_is_alone(model: str, row: Row) -> None:
    assert differing(row, MODELS[model], LONE[model]) == []


@pytest.mark.parametrize("row", MATRIX, ids=lambda row: row.name)
def test_fp32_weights_give_the_bits_of_bf16_weights(row: Row) -> None:
    wide = engines(checkpoint_of(ODD), weight_dtype="fp32")
    assert differing(row, wide, LONE["odd"]) == []


def test_the_page_on_invariance_counts_the_rows_as_they_are() -> None:
    page = (Path(__file__).parents[2] / "docs" / "invariance.md").read_text("utf-8")
    assert f"Its matrix has {len(MATRIX)} kinds of situation" in " ".join(page.split())


def test_the_models_tell_texts_apart() -> None:
    """Logits that hardly depended on the text would be the same in any situation."""
    for lone in LONE.values():
        answers = {tuple(lone.answer(one.request).tokens) for one in MATRIX[0].play(MODELS["even"], 33)}
        assert len(answers) == 33
