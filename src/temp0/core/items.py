"""Scored items repeated under two settings: which flipped, and whether a change of the score is more than noise.

Two noises are kept apart. Repeats of one item differ by themselves, which permuting within items measures; and another
choice of items would give another score, which changing the sign of items' differences measures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

import numpy as np
from numpy.typing import NDArray
from scipy.stats import permutation_test

from temp0.core.analysis import Length
from temp0.core.estimate import ALPHA

DRAWS = 9_999


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """One answer to an item with its score; of most tasks 1 is right and 0 wrong."""

    text: str
    score: float


Items = Mapping[str, Sequence[Scored]]
"""The answers to each item, by the item's id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One setting over all items.

    `score` is the mean over items of each item's mean. `lowest` and `highest` are what the score would be if of each
    item the worst, or the best, of its answers had been the only one; `repeats` is the smallest number of answers.
    `same_text` is TARr@N and `same_score` TARa@N by score: the share of items whose answers are all equal (Atil et al.,
    arXiv 2408.04667); both are `None` for one answer each.
    """

    score: float
    lowest: float
    highest: float
    repeats: int
    same_text: float | None
    same_score: float | None
    length: Length


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemsPairing:
    """Both settings over the same items.

    `up` and `down` are items whose mean score rose or fell, the surest first. `difference` is b minus a, `error` its
    standard error over the items. `p_items` is the chance of so large a difference if each item were as likely to
    change the other way; `p_repeats` that of so large differences of items if both settings answered alike, and `None`
    where nothing was repeated.
    """

    items: int
    a: Side
    b: Side
    up: tuple[str, ...]
    down: tuple[str, ...]
    difference: float
    error: float
    p_items: float
    p_repeats: float | None

    @property
    def is_beyond_noise(self) -> bool:
        """Whether the score changed by more than the choice of items explains."""
        return self.p_items <= ALPHA


def items_pairing(a: Items, b: Items, *, seed: int = 0) -> ItemsPairing:
    """Compare two settings; both must have the same items, and each item an answer in both.

    `p_items` changes signs of the items' differences (Fisher's randomisation test for pairs, exact where few items
    changed), `p_repeats` permutes an item's answers between the settings. Misleads where items are no sample of
    anything, or were chosen because they changed.
    """
    means_a, means_b = _means(a), _means(b)
    changes = np.array([means_b[name] - means_a[name] for name in a])
    ranked = sorted(zip(a, changes, strict=True), key=lambda one: (-abs(one[1]), one[0]))
    return ItemsPairing(
        items=len(a),
        a=_side(a),
        b=_side(b),
        up=tuple(name for name, change in ranked if change > 0),
        down=tuple(name for name, change in ranked if change < 0),
        difference=float(changes.mean()),
        error=float(changes.std(ddof=1) / np.sqrt(len(changes))) if len(changes) > 1 else 0.0,
        p_items=_p_items(changes, seed),
        p_repeats=_p_repeats(a, b, seed),
    )


def _means(items: Items) -> dict[str, float]:
    return {name: fmean(one.score for one in answers) for name, answers in items.items()}


def _side(items: Items) -> Side:
    repeats = min(len(answers) for answers in items.values())
    lengths = [len(one.text) for answers in items.values() for one in answers]
    return Side(
        score=fmean(_means(items).values()),
        lowest=fmean(min(one.score for one in answers) for answers in items.values()),
        highest=fmean(max(one.score for one in answers) for answers in items.values()),
        repeats=repeats,
        same_text=_alike(items, lambda one: one.text) if repeats > 1 else None,
        same_score=_alike(items, lambda one: one.score) if repeats > 1 else None,
        length=Length(min=min(lengths), median=median(lengths), max=max(lengths)),
    )


def _alike(items: Items, by: Callable[[Scored], object]) -> float:
    return fmean(len({by(one) for one in answers}) == 1 for answers in items.values())


def _p_items(changes: NDArray[np.float64], seed: int) -> float:
    changed = changes[changes != 0]
    if len(changed) < 2:
        return 1.0
    found = permutation_test(
        (changed,),
        lambda sample, axis: np.sum(sample, axis=axis),
        permutation_type="samples",
        n_resamples=DRAWS,
        vectorized=True,
        rng=np.random.default_rng(seed),
    )
    return float(found.pvalue)


def _p_repeats(a: Items, b: Items, seed: int) -> float | None:
    """The chance of so large a sum of squared differences if answers were dealt out between the settings by chance."""
    if all(len(a[name]) < 2 and len(b[name]) < 2 for name in a):
        return None
    noise = np.random.default_rng(seed)
    seen, drawn = 0.0, np.zeros(DRAWS)
    for name in a:
        pooled = np.array([one.score for one in (*a[name], *b[name])])
        size = len(a[name])
        seen += (pooled[:size].mean() - pooled[size:].mean()) ** 2
        if len(set(pooled.tolist())) > 1:
            dealt = noise.permuted(np.broadcast_to(pooled, (DRAWS, len(pooled))), axis=1)
            drawn += (dealt[:, :size].mean(axis=1) - dealt[:, size:].mean(axis=1)) ** 2
    return float((1 + np.sum(drawn >= seen - 1e-12)) / (1 + DRAWS))
