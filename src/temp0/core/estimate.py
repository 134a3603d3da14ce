"""Estimates of one condition: agreement and variant rate, each with its interval.

Every n counts blocks, since attempts of one block may share one computation. No interval has zero width.
A table of counts has one row for each block and one column for each distinct text.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, stdtrit

from temp0.core.analysis import Estimate

Table = NDArray[np.int64]

ALPHA = 0.05
DRAWS = 2_000
BOOTSTRAP_UP_TO = 200
"""Blocks up to which the bootstrap is computed beside the jackknife, and the variance of pairs added to it."""
POOL_ALPHA = 0.03
"""The level of Student's t where blocks hold several attempts: their identities are skewed, and 0.05 covers 92 %."""
FEW_POOLS = 3
"""So few blocks of several attempts show next to nothing of how they vary: they count as pairs and no more."""


def identity(counts: NDArray[np.int64]) -> float:
    """The share of pairs of completions that are identical, from the count of each distinct text.

    Sum of c(c-1) over n(n-1). Needs at least two completions.

    >>> identity(np.array([9, 1]))
    0.8
    """
    n = int(counts.sum())
    return float((counts * (counts - 1)).sum() / (n * (n - 1)))


def agreement(table: Table, *, seed: int = 0) -> Estimate | None:
    """Pairwise identity with its 95 % interval; `None` below two completions.

    All equal: a one-sided bound. If a share m of answers is modal, n equal blocks have a chance m^n, so
    m >= 0.05^(1/n), and agreement is at least m^2 = 0.05^(2/n). Otherwise the wider of two at either end: a
    percentile bootstrap over blocks, in which the pairs between two copies of one block are left out (they are
    equal by construction), and the jackknife over blocks with Student's t (Tukey, 1958), because the bootstrap
    alone is too narrow below about ten blocks. Above 200 blocks the two agree, and the jackknife, which has a closed
    form, stands alone. Where blocks hold several attempts it is taken at 97 %, and up to three such blocks have the
    exact interval of one pair. The lower end also leaves room for a text that n blocks had a chance of 2.5 % not to
    show, which would lower agreement by the factor 0.025^(1/n). Misleads where variants are rarer than one in a few
    blocks.

    >>> round(agreement(np.array([[1], [1], [1], [1], [1], [1], [1], [1], [1], [1]])).low, 3)
    0.549
    """
    totals = table.sum(axis=0)
    if totals.sum() < 2:
        return None
    n = len(table)
    value = identity(totals)
    if n == 1:
        return Estimate(value=value, low=None, high=None, n=n, sides=2)
    if value == 1:
        return Estimate(value=value, low=ALPHA ** (2 / n), high=1.0, n=n, sides=1)
    intervals = [
        (value, value),
        (value * (ALPHA / 2) ** (1 / n), value),
        _jackknife(table),
        *([_bootstrap(table, seed)] if n <= BOOTSTRAP_UP_TO else []),
    ]
    low, high = min(low for low, _ in intervals), max(high for _, high in intervals)
    if low == high or (n <= FEW_POOLS and n < totals.sum()):
        widest = _clopper_pearson(value, n // 2)
        low, high = min(low, widest[0]), max(high, widest[1])
    return Estimate(value=value, low=low, high=high, n=n, sides=2)


def _bootstrap(table: Table, seed: int) -> tuple[float, float]:
    """Percentiles of identity over resampled blocks; closed form, so no pair is ever visited.

    With block weights w and texts' weighted counts W = w.table, the pairs between different blocks are
    (|W|^2 - sum of w^2 |row|^2) / 2, and those inside blocks sum to w.(|row|^2 - row total) / 2.
    """
    blocks = len(table)
    weights, counts = _weights(blocks, seed), table.astype(np.float64)  # whole numbers, so still exact
    sizes = counts.sum(axis=1)
    squares = (counts**2).sum(axis=1)
    twice = weights**2
    equal = ((weights @ counts) ** 2).sum(axis=1) - twice @ squares + weights @ (squares - sizes)
    pairs = (weights @ sizes) ** 2 - twice @ sizes**2 + weights @ (sizes**2 - sizes)
    shares = equal[pairs > 0] / pairs[pairs > 0]
    low, high = np.quantile(shares, [ALPHA / 2, 1 - ALPHA / 2])
    return float(low), float(high)


@lru_cache(maxsize=64)  # conditions of one run have blocks of few different numbers
def _weights(blocks: int, seed: int) -> NDArray[np.float64]:
    """How often each block was drawn, for every draw of the bootstrap."""
    drawn = np.random.default_rng(seed).multinomial(blocks, np.full(blocks, 1 / blocks), size=DRAWS)
    return drawn.astype(np.float64)


def _jackknife(table: Table) -> tuple[float, float]:
    """Mean and spread of what each block contributes, widened by Student's t with blocks - 1 degrees of freedom.

    To its variance comes the second term of a mean over pairs (Hoeffding, 1948), which few blocks show badly.
    """
    blocks = len(table)
    rests = table.sum(axis=0) - table
    sizes = rests.sum(axis=1)
    if sizes.min() < 2:
        return 0.0, 1.0
    whole = identity(table.sum(axis=0))
    without = (rests * (rests - 1)).sum(axis=1) / (sizes * (sizes - 1))
    contributions = blocks * whole - (blocks - 1) * without
    variance = contributions.var(ddof=1) / blocks + (_of_pairs(table) if blocks <= BOOTSTRAP_UP_TO else 0.0)
    alpha = POOL_ALPHA if blocks < table.sum() else ALPHA
    half = float(_student(blocks - 1, alpha) * np.sqrt(variance))
    return max(0.0, whole - half), min(1.0, whole + half)


def _of_pairs(table: Table) -> float:
    """The part of the variance of identity that the spread of the identities of pairs of blocks makes.

    One pair more is assumed, as alike as the attempts inside a block are: without it, blocks of which no two are alike
    would seem to vary in nothing.
    """
    blocks, sizes = len(table), table.sum(axis=1)
    shares = table / sizes[:, None]
    own, inside = (shares**2).sum(axis=1), _inside(table)
    pairs, total = blocks * (blocks - 1) / 2, ((shares.sum(axis=0) ** 2).sum() - own.sum()) / 2
    squares = (((shares.T @ shares) ** 2).sum() - (own**2).sum()) / 2
    spread = (squares + inside**2) / (pairs + 1) - ((total + inside) / (pairs + 1)) ** 2
    attempts = sizes.sum()
    across = (attempts**2 - (sizes**2).sum()) / (attempts * (attempts - 1))
    return float(max(0.0, spread) / pairs * across**2)


def _inside(table: Table) -> float:
    """The mean identity of attempts inside a block; 1 where no block has two."""
    pools = table[table.sum(axis=1) > 1]
    sizes = pools.sum(axis=1)
    return float(((pools * (pools - 1)).sum(axis=1) / (sizes * (sizes - 1))).mean()) if len(pools) else 1.0


@lru_cache(maxsize=1024)
def _student(freedom: int, alpha: float) -> float:
    """The two-sided quantile of Student's t."""
    return float(stdtrit(freedom, 1 - alpha / 2))


def _clopper_pearson(share: float, n: int) -> tuple[float, float]:
    """The two-sided exact interval of a share seen in n independent pairs (Clopper and Pearson, 1934)."""
    hits = share * n
    low = betaincinv(hits, n - hits + 1, ALPHA / 2) if hits > 0 else 0.0
    high = betaincinv(hits + 1, n - hits, 1 - ALPHA / 2) if hits < n else 1.0
    return float(low), float(high)


def variant_rate_upper(table: Table) -> float | None:
    """The one-sided 95 % Clopper-Pearson bound of the share of blocks that hold a text unlike the modal one.

    At least 0.5 where the data cannot tell which of two texts is the modal one. `None` for fewer than two blocks, and
    unless the mode holds more than half of the completions: a mode chosen
    from the data covers badly otherwise.

    >>> round(variant_rate_upper(np.ones((10, 1), dtype=np.int64)), 3)
    0.259
    """
    totals = table.sum(axis=0)
    n = len(table)
    if n < 2 or 2 * totals.max(initial=0) <= totals.sum():
        return None
    modal = int(totals.argmax())
    variants = int((table.sum(axis=1) > table[:, modal]).sum())
    if variants == n:
        return 1.0
    bound, wider = _upper_bounds(variants, n)
    return 0.5 if variants and bound < 0.5 <= wider else bound


@lru_cache(maxsize=1024)
def _upper_bounds(variants: int, n: int) -> tuple[float, float]:
    """What a share seen in so many of n blocks is at most, one-sided 95 % and 97.5 %."""
    bound, wider = betaincinv(variants + 1, n - variants, [1 - ALPHA, 1 - ALPHA / 2])
    return float(bound), float(wider)


def modal_share(table: Table) -> float | None:
    """The share of completions that have the commonest text; `None` without completions."""
    totals = table.sum(axis=0)
    return float(totals.max() / totals.sum()) if totals.sum() else None
