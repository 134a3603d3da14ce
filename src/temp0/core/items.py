"""Scored items repeated under two settings: which flipped, and whether a change of the score is more than noise.

Two noises are kept apart. Repeats of one item differ by themselves, which permuting within items measures; and another
choice of items would give another score, which changing the sign of items' differences measures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import comb, prod
from statistics import fmean, median

import numpy as np
from numpy.typing import NDArray

from temp0.core.analysis import Length
from temp0.core.estimate import ALPHA

DRAWS, FEWEST_DRAWS, AT_ONCE = 9_999, 999, 50_000_000
"""The most draws, and the fewest where they would need more random numbers than the last of these."""
STEP = 100
EXACT_LIMIT = 10_000
"""Sums up to which changes of sign are enumerated rather than drawn."""
SEEN_AT = 2.8
"""Standard errors from which a change is found at 5 % at least four times of five: 1.96 + 0.84 of a normal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """One answer to an item with its score; of most tasks 1 is right and 0 wrong.

    `parsed` is what was read out of the answer to score it, where that is known. `score` is `None` where the item's one
    score stands with another of its answers.
    """

    text: str
    score: float | None
    parsed: str | None = None


Items = Mapping[str, Sequence[Scored]]
"""The answers to each item, by the item's id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One setting over all items.

    `score` is the mean over items of each item's mean. `lowest` and `highest` are what the score would be if of each
    item the worst, or the best, of its answers had been the only one. `repeats` is the smallest number of answers to an
    item that was repeated, and 1 where none was. `same_text` is TARr@N, `same_parsed` TARa@N, and `same_score` the same
    by score (Atil et al., arXiv 2408.04667): the share of repeated items whose answers are all equal, N being
    `repeats`; of an item with more answers, the chance that N of them are. `None` where nothing was repeated, or not
    every answer was parsed or scored.
    """

    score: float
    lowest: float
    highest: float
    repeats: int
    same_text: float | None
    same_parsed: float | None
    same_score: float | None
    length: Length


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemsPairing:
    """Both settings over the same items.

    `up` and `down` are items whose mean score rose or fell, the surest first; `left_out` those without a score in one
    of them. `difference` is b minus a, `error` its standard error over the items. `p_items` is the chance of so large a
    difference if each item were as likely to change the other way; `p_repeats` that of so large differences of items if
    both settings answered alike, and `None` where nothing was repeated. `reworded` are items that the two settings
    were asked in other words, and `scored_by` names the score, where that is known.
    """

    items: int
    a: Side
    b: Side
    up: tuple[str, ...]
    down: tuple[str, ...]
    left_out: tuple[str, ...]
    difference: float
    error: float
    p_items: float
    p_repeats: float | None
    reworded: tuple[str, ...] = ()
    scored_by: str | None = None

    @property
    def is_beyond_noise(self) -> bool:
        """Whether the score changed by more than the choice of items explains."""
        return self.p_items <= ALPHA

    @property
    def detectable(self) -> float | None:
        """The change that so many items with such differences would show four times of five; `None` without any."""
        return SEEN_AT * self.error or None


def items_pairing(a: Items, b: Items, *, seed: int = 0) -> ItemsPairing | None:
    """Compare two settings over the items that have a score in both, `None` where there are none.

    `p_items` changes signs of the items' differences (Fisher's randomisation test for pairs, exact where few items
    changed), `p_repeats` permutes an item's answers between the settings. Misleads where items are no sample of
    anything, or were chosen because they changed.
    """
    means_a, means_b = _means(a), _means(b)
    common = [name for name in means_a if name in means_b]
    if not common:
        return None
    a, b = ({name: own[name] for name in common} for own in (a, b))
    changes = np.array([means_b[name] - means_a[name] for name in common])
    ranked = sorted(zip(common, changes, strict=True), key=lambda one: (-abs(one[1]), one[0]))
    return ItemsPairing(
        items=len(common),
        a=_side(a),
        b=_side(b),
        up=tuple(name for name, change in ranked if change > 0),
        down=tuple(name for name, change in ranked if change < 0),
        left_out=tuple(name for name in means_a | means_b if name not in a),
        difference=float(changes.mean()),
        error=float(changes.std(ddof=1) / np.sqrt(len(changes))) if len(changes) > 1 else 0.0,
        p_items=_p_items(changes, seed),
        p_repeats=_p_repeats(a, b, seed),
    )


def _scores(answers: Sequence[Scored]) -> list[float]:
    return [one.score for one in answers if one.score is not None]


def _means(items: Items) -> dict[str, float]:
    return {name: fmean(scores) for name, answers in items.items() if (scores := _scores(answers))}


def _side(items: Items) -> Side:
    lengths = [len(one.text) for answers in items.values() for one in answers]
    repeated = [answers for answers in items.values() if len(answers) > 1]
    repeats = min(map(len, repeated), default=1)
    return Side(
        score=fmean(_means(items).values()),
        lowest=fmean(min(_scores(answers)) for answers in items.values()),
        highest=fmean(max(_scores(answers)) for answers in items.values()),
        repeats=repeats,
        same_text=_alike(repeated, repeats, lambda one: one.text),
        same_parsed=_alike(repeated, repeats, lambda one: one.parsed),
        same_score=_alike(repeated, repeats, lambda one: one.score),
        length=Length(min=min(lengths), median=median(lengths), max=max(lengths)),
    )


def _alike(repeated: Sequence[Sequence[Scored]], n: int, by: Callable[[Scored], object]) -> float | None:
    """The mean chance that so many of an item's answers are all equal; `None` where one is unknown."""
    if not repeated or any(by(one) is None for answers in repeated for one in answers):
        return None
    return fmean(
        sum(comb(count, n) for count in Counter(map(by, answers)).values()) / comb(len(answers), n)
        for answers in repeated
    )


def _p_items(changes: NDArray[np.float64], seed: int) -> float:
    """The chance of so large a sum if each change were as likely to have the other sign.

    Changes of one size are counted together, since of m of them a binomial number rises.
    """
    from scipy.stats import binom  # half a second to import, which no other verb need wait

    sizes, counts = np.unique(np.abs(changes[changes != 0]).round(12), return_counts=True)
    seen = abs(changes.sum()) - 1e-9
    if prod((counts + 1).tolist()) <= EXACT_LIMIT:
        sums, chances = np.zeros(1), np.ones(1)
        for size, count in zip(sizes, counts, strict=True):
            ups = np.arange(count + 1)
            sums = np.add.outer(sums, size * (2 * ups - count)).ravel()
            chances = np.outer(chances, binom.pmf(ups, count, 0.5)).ravel()
        return float(min(1.0, chances[np.abs(sums) >= seen].sum()))
    noise = np.random.default_rng(seed)
    draws = max(FEWEST_DRAWS, min(DRAWS, AT_ONCE // len(sizes)))
    hits = 0
    for start in range(0, draws, STEP):
        ups = noise.binomial(counts, 0.5, size=(min(STEP, draws - start), len(sizes)))
        hits += int((np.abs((2 * ups - counts) @ sizes) >= seen).sum())
    return (1 + hits) / (1 + draws)


def _p_repeats(a: Items, b: Items, seed: int) -> float | None:
    """The chance of so large a sum of squared differences if answers were dealt out between the settings by chance."""
    if all(len(_scores(a[name])) < 2 and len(_scores(b[name])) < 2 for name in a):
        return None
    dealt = Counter((len(_scores(a[name])), tuple(sorted(_scores(a[name]) + _scores(b[name])))) for name in a)
    seen = sum((fmean(_scores(a[name])) - fmean(_scores(b[name]))) ** 2 for name in a)
    many = sum(len(scores) * items for (_, scores), items in dealt.items() if len(set(scores)) > 2)
    draws = max(FEWEST_DRAWS, min(DRAWS, AT_ONCE // max(many, 1)))
    noise = np.random.default_rng(seed)
    drawn = np.zeros(draws)
    for (size, scores), items in sorted(dealt.items()):
        drawn += _dealt(size, np.array(scores), items, draws, noise)
    return float((1 + np.sum(drawn >= seen - 1e-9)) / (1 + draws))


def _dealt(
    size: int, scores: NDArray[np.float64], items: int, draws: int, noise: np.random.Generator
) -> NDArray[np.float64]:
    """Squared differences of the means when scores are dealt out by chance, `size` to one side, summed over items."""
    low, high = scores[0], scores[-1]
    if low == high:
        return np.zeros(draws)
    if np.isin(scores, (low, high)).all():
        from scipy.stats import hypergeom  # as above

        ways = np.arange(size + 1)
        chances = hypergeom(len(scores), int((scores == high).sum()), size).pmf(ways)
        first = low + (high - low) * ways / size
        second = (scores.sum() - first * size) / (len(scores) - size)
        squares: NDArray[np.float64] = noise.multinomial(items, chances / chances.sum(), draws) @ (first - second) ** 2
        return squares
    total = np.zeros(draws)
    for _ in range(items):
        one = noise.permuted(np.broadcast_to(scores, (draws, len(scores))), axis=1)
        total += (one[:, :size].mean(axis=1) - one[:, size:].mean(axis=1)) ** 2
    return total
