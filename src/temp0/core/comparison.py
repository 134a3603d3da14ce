"""Two conditions of one prompt: do their answers differ beyond each side's own variation?

Blocks are permuted, never attempts: attempts of one block may share one computation.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from temp0.core.estimate import Table

EXACT_LIMIT = 20_000
DRAWS = 9_999
TOLERANCE = 1e-9


def permutation_p(a: Table, b: Table, *, seed: int = 0) -> float | None:
    """The chance of texts so unlike across two conditions if the condition made no difference.

    `a` and `b` are tables of counts over the same texts. The statistic is mean identity across the sides, small
    where they differ; identity within is the rest of a constant total, so that testing one tests both. Each block
    weighs the same and pairs inside a block are left out. Exact over all C(blocks, blocks of a) relabellings up to
    20,000, else (1 + hits) / (1 + draws) over 9,999 seeded draws (Phipson and Smyth, 2010). `None` without blocks
    on both sides. Misleads where blocks are few: p cannot fall below 1 / C, or 2 / C for equal sides.

    >>> permutation_p(np.array([[1, 0]] * 4), np.array([[0, 1]] * 2))
    0.06666666666666667
    """
    if not len(a) or not len(b):
        return None
    table = np.concatenate([a, b])
    shares = table / table.sum(axis=1, keepdims=True)
    similar = shares @ shares.T
    if similar.min() == similar.max():
        return 1.0
    observed = _across(similar, np.arange(len(table))[None, :] < len(a))[0]
    if comb(len(table), len(a)) <= EXACT_LIMIT:
        across = _across(similar, _all_sides(len(table), len(a)))
        return float(np.mean(across <= observed + TOLERANCE))
    across = _across(similar, _drawn_sides(len(table), len(a), seed))
    return float((1 + np.sum(across <= observed + TOLERANCE)) / (1 + DRAWS))


def _across(similar: NDArray[np.float64], sides: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The sum of identity between the two sides, for each labelling (a row of `sides`)."""
    chosen = sides.astype(np.float64)
    across: NDArray[np.float64] = ((chosen @ similar) * (1 - chosen)).sum(axis=1)
    return across


def _all_sides(blocks: int, size: int) -> NDArray[np.bool_]:
    chosen = np.array(list(combinations(range(blocks), size)))
    sides = np.zeros((len(chosen), blocks), dtype=np.bool_)
    sides[np.arange(len(chosen))[:, None], chosen] = True
    return sides


def _drawn_sides(blocks: int, size: int, seed: int) -> NDArray[np.bool_]:
    order = np.random.default_rng(seed).random((DRAWS, blocks)).argsort(axis=1)
    return order < size


def holm(ps: Sequence[float | None]) -> list[float | None]:
    """Holm's adjusted p values (Holm, 1979), in the order given; what was not tested stays `None`.

    >>> holm([0.01, None, 0.04, 0.03])
    [0.03, None, 0.06, 0.06]
    """
    tested = sorted((p, index) for index, p in enumerate(ps) if p is not None)
    adjusted: list[float | None] = [None] * len(ps)
    highest = 0.0
    for rank, (p, index) in enumerate(tested):
        highest = max(highest, min(1.0, p * (len(tested) - rank)))
        adjusted[index] = highest
    return adjusted
