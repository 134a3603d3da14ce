"""The matrix can see: arithmetics that do vary fail it, and by which rows is known.

A fault that is planted here varies on every machine. Whether the stock library does is found out first.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from matrix import differing, row_called, unmoved
from planted import OrderByCount, OrderByPlace, PlantedArithmetic, SharedScale
from random_engine import engines, engines_with
from random_model import ODD, checkpoint_of
from watched import Lone, differences

from temp0.engine.arithmetic import arithmetic

CHECKPOINT = checkpoint_of(ODD)

# What is planted, and the rows of the matrix that cannot see it, because no batch of theirs crosses its border.
PLANTED: dict[str, tuple[Callable[[], PlantedArithmetic], set[str]]] = {
    "a kernel for vectors": (
        lambda: OrderByCount(most=1),
        {"driven out by", "warm up to"},
    ),
    "another kernel above 8 rows": (
        lambda: OrderByCount(most=8),
        {"driven out by", "logprobs asked by"},
    ),
    "another kernel above 80 rows": (
        lambda: OrderByCount(most=80),
        {"cold on demand", "emptied", "logprobs asked by", "one leaves after", "one of four late by", "preempted",
         "preempted twice", "warm up to"},
    ),
    "left-over rows of a tile": (
        OrderByPlace,
        {"cold on demand", "driven out by", "warm prompt of", "warm up to"},
    ),
    "a scale shared by all rows": (
        SharedScale,
        set(),
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_is_seen_by_all_rows_whose_batches_cross_its_border(fault: str) -> None:
    plant, escaped = PLANTED[fault]
    assert unmoved(engines_with(CHECKPOINT, plant)) == escaped


@pytest.mark.parametrize("name", ["company of", "chunk of", "preempted"])
def test_with_nothing_planted_nothing_is_seen(name: str) -> None:
    make = engines_with(CHECKPOINT, PlantedArithmetic)
    assert differing(row_called(name), make, Lone(make)) == []


def test_stock_arithmetic_fails_where_this_machines_library_varies() -> None:
    company = row_called("company of")
    sizes = [size for size in company.values if _stock_products_vary(size)]
    if not sizes:
        pytest.skip("this machine's BLAS gives a row the same bits in company of every size: nothing to be seen")
    stock = engines(CHECKPOINT, "stock", activations="fp32")
    lone = Lone(stock)
    assert any(differences(company.play(stock, size), lone) for size in sizes)


def _stock_products_vary(size: int) -> bool:
    """Whether any of `size` rows has other bits than alone in a product that the model uses by itself."""
    stock = arithmetic("stock", activations="fp32", threads=1)
    noise = np.random.default_rng(size)
    for name in ("layers.0.o", "layers.0.down", "head"):
        weight = CHECKPOINT.tensors[name]
        rows = noise.standard_normal((size, weight.shape[1]), np.float32)
        together, alone = (np.empty((size, len(weight)), np.float32) for _ in range(2))
        product = stock.linear(weight)
        product(rows, together)
        for row in range(size):
            product(rows[row : row + 1], alone[row : row + 1])
        if (together.view(np.uint32) != alone.view(np.uint32)).any():
            return True
    return False
