"""Do answers line up with a label beyond chance? Permutation tests over blocks, on tables of counts.

A label is whatever may set blocks apart: their condition, the replica that answered, the prompt asked before, the
time. Blocks are permuted, since attempts of one block may share one computation. Blocks that hold the same texts in
the same shares are of one kind, so that permuting blocks is drawing a table of labels by kinds with its margins fixed,
and costs the same for ten blocks as for a million.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import exp, lgamma
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from temp0.core.estimate import Table

EXACT_LIMIT = 1_000
"""Tables up to which a single stratum is enumerated rather than sampled."""
DRAWS, FEWEST_DRAWS, DRAWS_IN_ALL = 4_999, 199, 200_000
"""The most draws of tables: fewer where there are many strata, each of which costs a table at every draw."""
BATCH = 200
ENOUGH = 30
"""Hits after which sampling stops: the p value is far from small by then (Besag and Clifford, 1991)."""
FEW_EACH = 7
"""Blocks for each of many labels up to which drawing them one by one is faster than drawing a count for each label."""
TOLERANCE = 1e-9

Tables = NDArray[np.float64]
Statistic = Callable[["Stratum", Tables], NDArray[np.float64]]


@dataclass(frozen=True, kw_only=True)
class Stratum:
    """The blocks of one prompt: `counts` by label (rows) and kind of block (columns).

    `similar` is the chance that an attempt of a block of one kind has the same text as one of another kind.
    `attempts` is the same with attempts in place of blocks, where blocks hold more than one.
    """

    counts: NDArray[np.int64]
    similar: NDArray[np.float64]
    attempts: Stratum | None = None

    @cached_property
    def labels(self) -> NDArray[np.int64]:
        """How many blocks each label has."""
        total: NDArray[np.int64] = self.counts.sum(axis=1)
        return total

    @cached_property
    def kinds(self) -> NDArray[np.int64]:
        """How many blocks there are of each kind."""
        total: NDArray[np.int64] = self.counts.sum(axis=0)
        return total

    @property
    def blocks(self) -> int:
        """All blocks."""
        return int(self.counts.sum())

    @property
    def least_p(self) -> float:
        """A bound below which no p of this stratum can fall: one over the ways to label its blocks."""
        ways = lgamma(self.blocks + 1) - sum(lgamma(int(count) + 1) for count in self.labels)
        return exp(-ways)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kinds:
    """Blocks sorted into kinds: `of` gives the kind of each block and `sizes` its attempts, in the order of the rows.

    `shares` has the share of each repeated text (columns) in each kind (rows).
    """

    of: NDArray[np.int64]
    sizes: NDArray[np.int64]
    shares: NDArray[np.float64]

    @property
    def similar(self) -> NDArray[np.float64]:
        """The chance that attempts of two kinds of block have the same text."""
        alike: NDArray[np.float64] = self.shares @ self.shares.T
        return alike

    def rows(self, chosen: NDArray[np.int64]) -> Kinds:
        """Only some of the blocks."""
        return Kinds(of=self.of[chosen], sizes=self.sizes[chosen], shares=self.shares)

    def stratum(self, labels: NDArray[np.int64]) -> Stratum | None:
        """The blocks by label (0, 1, ...; -1 leaves a block out); `None` where permuting could change nothing."""
        used = labels >= 0
        counts = np.zeros((int(labels.max(initial=-1)) + 1, len(self.shares)), dtype=np.int64)
        np.add.at(counts, (labels[used], self.of[used]), 1)
        by_block = stratum(counts[counts.sum(axis=1) > 0], self.similar)
        if by_block is None or self.sizes[used].max() == 1:
            return by_block
        return replace(by_block, attempts=self._attempts(labels[used], used))

    def _attempts(self, labels: NDArray[np.int64], used: NDArray[np.bool_]) -> Stratum | None:
        """The same labels over attempts; texts that are seen in one block alone are together the last column."""
        sizes = self.sizes[used]
        repeated = np.rint(self.shares[self.of[used]] * sizes[:, None]).astype(np.int64)
        counts = np.zeros((int(labels.max()) + 1, self.shares.shape[1] + 1), dtype=np.int64)
        told = np.column_stack([repeated, sizes - repeated.sum(axis=1)])
        for label in range(len(counts)):
            counts[label] = told[labels == label].sum(axis=0)
        similar = np.diag([1.0] * self.shares.shape[1] + [0.0])
        return stratum(counts[counts.sum(axis=1) > 0], similar)


def kinds(table: Table) -> Kinds:
    """The kinds of the blocks of a table. A text seen in one block alone makes no two blocks alike, and is left out."""
    sizes = table.sum(axis=1)
    repeated = (table / sizes[:, None])[:, (table > 0).sum(axis=0) > 1]
    shares, of = np.unique(repeated, axis=0, return_inverse=True)
    return Kinds(of=of.reshape(-1), sizes=sizes, shares=shares)


def stratum(counts: NDArray[np.int64], similar: NDArray[np.float64]) -> Stratum | None:
    """A stratum without empty kinds; `None` with fewer than two labels, or where all blocks are alike or none is."""
    present = np.flatnonzero(counts.sum(axis=0))
    counts, similar = counts[:, present], similar[np.ix_(present, present)]
    if len(counts) < 2:
        return None
    alike = similar[~np.eye(len(present), dtype=np.bool_)].tolist()
    alike += similar.diagonal()[counts.sum(axis=0) > 1].tolist()
    if not alike or max(alike) - min(alike) < TOLERANCE:
        return None
    return Stratum(counts=counts, similar=similar)


def across(part: Stratum, tables: Tables) -> NDArray[np.float64]:
    """Minus the mean identity of blocks under different labels: large where answers line up with the labels.

    `tables` has shape (draws, labels, kinds). Each block weighs the same, and pairs inside a block play no part.
    Identity within labels is the rest of a constant total, so that testing one tests both.
    """
    labels = part.labels
    pairs = (labels.sum() ** 2 - (labels**2).sum()) / 2
    whole = part.kinds @ part.similar @ part.kinds
    within = np.einsum("dlk,dlk->d", tables @ part.similar, tables)
    shares: NDArray[np.float64] = -(whole - within) / 2 / pairs
    return shares


def apart(part: Stratum, tables: Tables) -> NDArray[np.float64]:
    """The mean over labels of identity within, minus identity across: each label weighs the same.

    A side of many texts then does not hide that the other side has one of its own, as it can in the sum of `across`.
    A label with one attempt has no pair, and counts 0.
    """
    labels = part.labels
    own = np.einsum("dlk,dlk->dl", tables @ part.similar, tables) - tables @ part.similar.diagonal()
    pairs = np.maximum(labels * (labels - 1), 1)
    gap: NDArray[np.float64] = (own / pairs).mean(axis=1) + across(part, tables)
    return gap


def change(part: Stratum, tables: Tables) -> NDArray[np.float64]:
    """The largest departure, over time, of the texts so far from their share of the whole.

    Labels are stretches of time, in their order. It is the max over t of the sum over kinds of
    (C_t - f_t m)^2 / (f_t (1 - f_t) n), with C_t the kind's count up to t, f_t the share of blocks up to t and m the
    kind's total: a CUSUM of counts (Brown, Durbin and Evans, 1975), which a step and a slow
    drift both raise. Misleads where the labels are not in the order of time.
    """
    blocks = part.blocks
    so_far = np.cumsum(part.labels)[:-1] / blocks
    gone = np.cumsum(tables[:, :-1], axis=1)
    gone -= so_far[:, None] * part.kinds
    scaled = np.einsum("dlk,dlk->dl", gone, gone) / (so_far * (1 - so_far) * blocks)
    largest: NDArray[np.float64] = scaled.max(axis=1)
    return largest


def p_value(strata: Sequence[Stratum], *, seed: int, statistic: Statistic = across, draws: int = DRAWS) -> float | None:
    """The chance of a statistic at least so large, pooled over strata, if labels made no difference.

    `None` without strata, and where `draws` is 0 and nothing could be enumerated. Labels are permuted within each
    stratum. One stratum of two labels is enumerated up to 1,000 tables, each weighed by its (multivariate
    hypergeometric) probability; else tables are drawn with their margins fixed (as multivariate hypergeometric counts
    where labels or kinds are two, else after Patefield, 1981), at most 4,999 times (199 with a thousand strata) and
    until 30 were as large, and p = (1 + hits) / (1 + draws) (Phipson and Smyth, 2010). Misleads where blocks are few:
    p cannot fall below one over the ways to label them.

    >>> four_against_two = stratum(np.array([[4, 0], [0, 2]]), np.eye(2))
    >>> round(p_value([four_against_two], seed=0), 4)
    0.0667
    """
    if not strata:
        return None
    observed = _pooled(strata, [part.counts[None].astype(np.float64) for part in strata], statistic)[0] - TOLERANCE
    if len(strata) == 1 and (exact := _enumerated(strata[0])) is not None:
        tables, weights = exact
        return float(min(1.0, weights[statistic(strata[0], tables) >= observed].sum()))
    if not draws:
        return None
    random = np.random.default_rng(seed)
    drawings = [_drawing(part, random) for part in strata]
    most = max(FEWEST_DRAWS, min(draws, DRAWS_IN_ALL // len(strata)))
    hits = drawn = 0
    while drawn < most and hits < ENOUGH:
        size = min(max(BATCH, drawn), most - drawn)
        tables_of = (drawing(size) for drawing in drawings)
        hits += int((_pooled(strata, tables_of, statistic) >= observed).sum())
        drawn += size
    return (1 + hits) / (1 + drawn)


def cautious_p(
    strata: Sequence[Stratum], *, seed: int, statistic: Statistic = across, draws: int = DRAWS
) -> float | None:
    """The larger p of two permutations, of blocks and of attempts.

    The first is right where attempts of a block share one computation. Where they do not, a block of eight has eight
    chances to hold a rare text that a block of one has not, so that sides with blocks of other sizes look unlike.
    """
    by_block = p_value(strata, seed=seed, statistic=statistic, draws=draws)
    if by_block is None or not any(part.attempts for part in strata):
        return by_block
    attempts = [part.attempts or part for part in strata]
    by_attempt = p_value(attempts, seed=seed, statistic=apart if statistic is across else statistic, draws=draws)
    return None if by_attempt is None else max(by_block, by_attempt)


def _drawing(part: Stratum, random: np.random.Generator) -> Callable[[int], Tables]:
    """What draws so many random tables with the margins of a stratum."""
    labels, margins = part.labels, part.kinds
    if len(labels) > 2 and len(margins) > 2:
        from scipy.stats import random_table  # takes half a second to import, and is seldom needed

        table = random_table(labels, margins)
        return lambda size: table.rvs(size=size, random_state=random).astype(np.float64)
    pair, others, axis = (labels, margins, 1) if len(labels) == 2 else (margins, labels, 2)
    method: Literal["count", "marginals"] = "count" if min(pair) <= FEW_EACH * len(others) else "marginals"

    def drawn(size: int) -> Tables:
        firsts = random.multivariate_hypergeometric(others, int(pair[0]), size=size, method=method)
        return np.stack([firsts, others - firsts], axis=axis).astype(np.float64)

    return drawn


def _pooled(strata: Sequence[Stratum], tables_of: Iterable[Tables], statistic: Statistic) -> NDArray[np.float64]:
    total: NDArray[np.float64] = np.sum(
        [statistic(part, tables) for part, tables in zip(strata, tables_of, strict=True)], axis=0
    )
    return total


def _enumerated(part: Stratum) -> tuple[Tables, NDArray[np.float64]] | None:
    """Every table of two labels with these margins, and its probability; `None` where they are too many."""
    if len(part.labels) != 2:
        return None
    wanted, left = int(part.labels[0]), part.blocks
    if _tables(part.kinds.tolist(), wanted) > EXACT_LIMIT:
        return None
    firsts, held = np.zeros((1, 0), dtype=np.int64), np.zeros(1, dtype=np.int64)
    for total in part.kinds.tolist():
        left -= total
        least, most = np.maximum(0, wanted - held - left), np.minimum(total, wanted - held)
        ways = most - least + 1
        taken = np.arange(ways.sum()) + np.repeat(least - np.cumsum(ways) + ways, ways)
        firsts, held = np.column_stack([np.repeat(firsts, ways, axis=0), taken]), np.repeat(held, ways) + taken
    seconds = part.kinds - firsts
    logs = -(gammaln(firsts + 1) + gammaln(seconds + 1)).sum(axis=1)
    weights = np.exp(logs - logs.max())
    return np.stack([firsts, seconds], axis=1).astype(np.float64), weights / weights.sum()


def _tables(kinds: Sequence[int], wanted: int) -> float:
    """How many tables of two labels there are with these margins: the coefficient of a product of polynomials."""
    ways = np.ones(1)
    for total in kinds:
        ways = np.convolve(ways, np.ones(total + 1))[: wanted + 1]
    return float(ways[wanted])


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
