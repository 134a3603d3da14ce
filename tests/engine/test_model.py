"""The forward pass against plain float64 arithmetic, by tolerance; never by bits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from float64_model import QWEN2, QWEN3, SETTINGS, reference_logits, stock, tiny_checkpoint
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from temp0.engine.arithmetic import arithmetic
from temp0.engine.builtin import builtin_weights
from temp0.engine.checkpoint import Settings
from temp0.engine.gguf_file import read_gguf
from temp0.engine.kv_cache import KvCache
from temp0.engine.model import Batch, Model
from temp0.errors import UsageError

CHECKPOINT = tiny_checkpoint()
TOKENS = np.random.default_rng(1).integers(0, SETTINGS.vocab, 90).tolist()
EXPECTED = reference_logits(CHECKPOINT, TOKENS)
# Logits here are of size 1; fp32 sums of 48 terms through 2 layers stay far below this.
CLOSE = 2e-5


def tiny_model(*, activations: str = "fp32") -> tuple[Model, KvCache]:
    model = Model(CHECKPOINT, stock(activations=activations), rows=200, wanted=200)
    return model, KvCache(SETTINGS, tokens=800, slots=5)


def rows_of(slot: int, tokens: Sequence[int], *, start: int = 0) -> Batch:
    """A batch of one request's rows, all of them wanted."""
    count = len(tokens)
    return Batch(
        tokens=np.array(tokens, np.int32),
        positions=np.arange(start, start + count, dtype=np.int32),
        slots=np.full(count, slot, np.int32),
        wanted=np.arange(count),
    )


def joined(batches: Sequence[Batch]) -> Batch:
    return Batch(
        tokens=np.concatenate([batch.tokens for batch in batches]),
        positions=np.concatenate([batch.positions for batch in batches]),
        slots=np.concatenate([batch.slots for batch in batches]),
        wanted=np.arange(sum(len(batch.tokens) for batch in batches)),
    )


def logits_in_pieces(pieces: Sequence[int]) -> NDArray[np.float32]:
    """Logits of all of TOKENS, fed in pieces that end at these positions and at the end."""
    model, cache = tiny_model()
    slot = cache.hold(len(TOKENS))
    ends = sorted({*pieces, len(TOKENS)} - {0})
    starts = [0, *ends[:-1]]
    return np.concatenate(
        [
            model.forward(rows_of(slot, TOKENS[start:end], start=start), cache).copy()
            for start, end in zip(starts, ends, strict=True)
        ]
    )


def test_logits_are_close_to_plain_float64_arithmetic() -> None:
    np.testing.assert_allclose(logits_in_pieces([]), EXPECTED, rtol=0, atol=CLOSE)


@pytest.mark.parametrize("size", [QWEN2, QWEN3], ids=["qwen2", "qwen3"])
def test_biases_and_norms_of_heads_are_close_to_plain_float64_arithmetic(size: Settings) -> None:
    checkpoint = tiny_checkpoint(size)
    cache = KvCache(size, tokens=800, slots=5)
    for name in ("stock", "invariant"):
        model = Model(checkpoint, arithmetic(name, activations="fp32", threads=1), rows=200, wanted=200)
        logits = model.forward(rows_of(cache.hold(len(TOKENS)), TOKENS), cache)
        expected = reference_logits(checkpoint, TOKENS)
        np.testing.assert_allclose(logits, expected, rtol=0, atol=CLOSE)
        assert np.abs(expected - EXPECTED).max() > 1000 * CLOSE


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(1, len(TOKENS) - 1), max_size=6))
def test_a_prompt_read_in_chunks_of_any_cut_has_the_same_logits(cuts: list[int]) -> None:
    np.testing.assert_allclose(logits_in_pieces(cuts), EXPECTED, rtol=0, atol=CLOSE)


def test_decoding_one_by_one_has_the_logits_of_one_pass() -> None:
    np.testing.assert_allclose(logits_in_pieces(range(len(TOKENS))), EXPECTED, rtol=0, atol=CLOSE)


def test_requests_in_one_batch_do_not_see_each_other() -> None:
    model, cache = tiny_model()
    texts = [TOKENS[:50], TOKENS[20:21], TOKENS[40:83]]
    slots = [cache.hold(100) for _ in texts]
    batch = joined([rows_of(slot, text) for slot, text in zip(slots, texts, strict=True)])
    expected = np.concatenate([reference_logits(CHECKPOINT, text) for text in texts])
    np.testing.assert_allclose(model.forward(batch, cache), expected, rtol=0, atol=CLOSE)


def test_pages_used_before_by_another_request_leave_no_trace() -> None:
    model, cache = tiny_model()
    slot = cache.hold(len(TOKENS))
    model.forward(rows_of(slot, TOKENS[::-1]), cache)
    cache.release(slot)
    slot = cache.hold(len(TOKENS))
    np.testing.assert_allclose(model.forward(rows_of(slot, TOKENS), cache), EXPECTED, rtol=0, atol=CLOSE)


def test_only_the_wanted_rows_have_logits() -> None:
    model, cache = tiny_model()
    rows = rows_of(cache.hold(len(TOKENS)), TOKENS)
    some = Batch(tokens=rows.tokens, positions=rows.positions, slots=rows.slots, wanted=np.array([3, 89]))
    np.testing.assert_allclose(model.forward(some, cache), EXPECTED[[3, 89]], rtol=0, atol=CLOSE)
    none = Batch(tokens=rows.tokens, positions=rows.positions, slots=rows.slots, wanted=np.array([], np.intp))
    assert model.forward(none, cache).shape == (0, SETTINGS.vocab)


def test_bf16_activations_stay_near_the_exact_logits_and_are_not_the_fp32_ones() -> None:
    model, cache = tiny_model(activations="bf16")
    logits = model.forward(rows_of(cache.hold(len(TOKENS)), TOKENS), cache)
    error = np.abs(logits - EXPECTED)
    assert 100 * CLOSE < error.max() < 0.2
    assert error.mean() < 0.02


@pytest.mark.parametrize("rows", [1, 2, 7, 48, 49, 130])
@pytest.mark.parametrize(("outputs", "inputs"), [(24, 40), (40, 24), (330, 40)])
def test_every_layout_of_a_product_is_close_to_float64(rows: int, outputs: int, inputs: int) -> None:
    noise = np.random.default_rng(rows)
    x = noise.standard_normal((rows, inputs), np.float32)
    weight = noise.standard_normal((outputs, inputs), np.float32)
    out = np.full((rows, outputs), np.nan, np.float32)
    stock().linear(weight)(x, out)
    np.testing.assert_allclose(out, x.astype(np.float64) @ weight.T.astype(np.float64), rtol=0, atol=1e-4)


def test_the_cache_holds_bf16_numbers_where_activations_are_bf16() -> None:
    for activations, is_rounded in (("bf16", True), ("fp32", False)):
        model, cache = tiny_model(activations=activations)
        model.forward(rows_of(cache.hold(len(TOKENS)), TOKENS), cache)
        for pool in (cache.keys, cache.values):
            assert pool.any()
            assert (not (pool.view(np.uint32) & 0xFFFF).any()) is is_rounded


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"name": "exact"}, "arithmetic is 'exact', expected one of: stock"),
        ({"name": "stock", "activations": "fp16"}, "activations is 'fp16', expected one of: bf16, fp32"),
        ({"name": "stock", "threads": 0}, "threads is 0, expected 1 to 1024"),
        ({"name": "invariant", "threads": 5000}, "threads is 5000, expected 1 to 1024"),
    ],
)
def test_an_arithmetic_that_does_not_exist_is_refused(arguments: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        arithmetic(**arguments)  # type: ignore[arg-type]


@pytest.mark.model
def test_the_built_in_model_is_close_to_plain_float64_arithmetic() -> None:
    checkpoint = read_gguf(builtin_weights())
    tokens = [1, 4093, 198, 1780, 314, 260, 3575, 282, 4649, 47, 2, 198, 1, 520, 9531, 198]
    expected = reference_logits(checkpoint, tokens)
    model = Model(checkpoint, stock(), rows=16, wanted=16)
    cache = KvCache(checkpoint.settings, tokens=32, slots=1)
    logits = model.forward(rows_of(cache.hold(16), tokens), cache)
    # Logits reach 30 here and pass 30 layers.
    np.testing.assert_allclose(logits, expected, rtol=0, atol=5e-3)
