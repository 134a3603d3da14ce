"""Several endpoints that were asked the same: for each pair, how far their answers are alike.

Every pair is compared as two sides are; nothing is inferred from one pair for another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import fmean

from temp0.core.change import change, contrasts
from temp0.core.comparison import holm
from temp0.core.pairing import Pairing, Side, pairing


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """Two of the sides by their places: `same` of `prompts` that both answered have the same commonest text.

    `identity` is the mean over these of the share of equal pairs of blocks, one of each side; `p` is from permuting
    blocks, `p_adjusted` by Holm over the pairs. Both are `None` where nothing can be compared.
    """

    a: int
    b: int
    prompts: int
    same: int
    identity: float | None
    p: float | None
    exit_code: int
    p_adjusted: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """The sides, each one's identity within itself (`None` below two blocks), and every pair of them."""

    sides: tuple[Side, ...]
    within: tuple[float | None, ...]
    pairs: tuple[Likeness, ...]

    @property
    def exit_code(self) -> int:
        """1 some pair is unlike, 3 no pair has anything in common, 4 some pair is open, else 0."""
        codes = {pair.exit_code for pair in self.pairs}
        return 1 if 1 in codes else 3 if codes == {3} else 4 if codes & {3, 4} else 0


def matrix(sides: Sequence[Side]) -> Matrix:
    """Every pair of the sides compared."""
    pairs = [_likeness(a, b, pairing(one, other)) for (a, one), (b, other) in combinations(enumerate(sides), 2)]
    adjusted = holm([pair.p for pair in pairs])
    return Matrix(
        sides=tuple(sides),
        within=tuple(map(_within, sides)),
        pairs=tuple(replace(pair, p_adjusted=p) for pair, p in zip(pairs, adjusted, strict=True)),
    )


def _likeness(a: int, b: int, found: Pairing) -> Likeness:
    answered = [one for one in found.prompts if one.is_answered]
    shares = [one.change.across for one in answered if one.change.across is not None]
    return Likeness(
        a=a,
        b=b,
        prompts=len(answered),
        same=sum(one.fork is None for one in answered),
        identity=fmean(shares) if shares else None,
        p=found.p,
        exit_code=found.exit_code,
    )


def _within(one: Side) -> float | None:
    shares = [change(contrasts(blocks, blocks), None).within_a for blocks in one.blocks.values()]
    known = [share for share in shares if share is not None]
    return fmean(known) if known else None
