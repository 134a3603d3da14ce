"""What changed between two sides beyond their own variation: blocks of both, held against a permutation of them.

Only blocks of the same prompt under the same condition are ever exchanged, so that neither what was asked nor how is
taken for a change of the side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from temp0.core.comparison import Stratum, kinds
from temp0.core.estimate import ALPHA, Table

Blocks = Mapping[str, Sequence[Counter[str]]]
"""The blocks of a prompt on one side by condition, each as its texts with their counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One prompt on two sides, over the conditions that both were asked under.

    `within_a`, `within_b` and `across` are the shares of pairs of blocks with the same text: two blocks of one side,
    or one of each; pairs inside a block are left out, blocks weigh equally, and conditions do. `None` where there is
    no such pair. `p` is the chance of so large a difference if both sides answered alike, `p_adjusted` by Holm over
    the prompts; `p` is 1 where all blocks, or none, are alike, and `None` where nothing can be compared.
    """

    within_a: float | None
    within_b: float | None
    across: float | None
    blocks_a: int
    blocks_b: int
    p: float | None
    p_adjusted: float | None = None

    @property
    def is_beyond_chance(self) -> bool:
        """Whether the answers changed by more than each side varies by itself."""
        return self.p_adjusted is not None and self.p_adjusted <= ALPHA


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """The blocks of one prompt under one condition on both sides: rows of `a`, then rows of `b`."""

    table: Table
    of_a: int

    @property
    def stratum(self) -> Stratum | None:
        """What can be permuted; `None` where exchanging blocks changes nothing."""
        labels = np.repeat([0, 1], [self.of_a, len(self.table) - self.of_a])
        return kinds(self.table).stratum(labels) if self.table.shape[1] > 1 else None

    @property
    def shares(self) -> tuple[float | None, float | None, float]:
        """Identity within the first side, within the second, and across."""
        shares = self.table / self.table.sum(axis=1, keepdims=True)
        a, b = shares[: self.of_a], shares[self.of_a :]
        return _within(a), _within(b), float(a.sum(axis=0) @ b.sum(axis=0) / (len(a) * len(b)))


def contrasts(a: Blocks, b: Blocks) -> tuple[Contrast, ...]:
    """The conditions with blocks on both sides, in the first one's order."""
    return tuple(_contrast(a[name], b[name]) for name in a if a[name] and b.get(name))


def change(found: Sequence[Contrast], p: float | None) -> Change:
    """The figures of one prompt, with the p value of its permutation test."""
    shares = [one.shares for one in found]
    return Change(
        within_a=_mean([one for one, _, _ in shares]),
        within_b=_mean([one for _, one, _ in shares]),
        across=_mean([one for _, _, one in shares]),
        blocks_a=sum(one.of_a for one in found),
        blocks_b=sum(len(one.table) - one.of_a for one in found),
        p=p,
    )


def _contrast(a: Sequence[Counter[str]], b: Sequence[Counter[str]]) -> Contrast:
    blocks = [*a, *b]
    column = {
        text: place for place, text in enumerate(dict.fromkeys(text for block in blocks for text in sorted(block)))
    }
    table = np.zeros((len(blocks), len(column)), dtype=np.int64)
    for row, block in enumerate(blocks):
        for text, count in block.items():
            table[row, column[text]] = count
    return Contrast(table=table, of_a=len(a))


def _within(shares: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> float | None:
    """The mean chance that two different blocks give the same text."""
    blocks = len(shares)
    if blocks < 2:
        return None
    total = shares.sum(axis=0)
    return float((total @ total - (shares**2).sum()) / (blocks * (blocks - 1)))


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
