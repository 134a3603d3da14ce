"""What trying a cause gives: a finding, a test or the reason why it could not be tested.

A test counts against the others even where it found nothing, so that many causes do not make a false one likely.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from operator import itemgetter
from typing import Literal, TypeVar

from temp0.core.comparison import DRAWS, Statistic, Stratum, across, cautious_p, holm
from temp0.core.estimate import ALPHA

Name = TypeVar("Name", bound=Hashable)

OFTEN = 0.25
"""Above this p, a sign that a test could have proved is no sign."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PooledTest:
    """A pooled test over `n` blocks; `least` is a bound below which its p could not have fallen."""

    p: float
    least: float
    n: int

    @property
    def speaks_against(self) -> bool:
        """Whether what looks like a sign is what chance would often give, in a test that could have told."""
        return self.can_tell and self.p > OFTEN

    @property
    def can_tell(self) -> bool:
        """Whether any outcome could have been significant: a test that never could counts against no other."""
        return self.least <= ALPHA


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A sign of a cause. `proof` says what stands between it and being found: nothing, its p, or more than that."""

    cause: str
    evidence: str
    remedy: str
    prompts: tuple[str, ...]
    n: int
    proof: Literal["rule", "test", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What trying one cause gave; `untested` says why it could neither be found nor ruled out."""

    finding: Finding | None = None
    test: PooledTest | None = None
    untested: str | None = None


NOTHING = Outcome()


Strata = Mapping[str, Sequence[Stratum]]
"""The strata of each prompt that has any, by its id."""


def pooled(strata: Strata, *, seed: int, statistic: Statistic = across) -> PooledTest | None:
    """One test over all prompts, permuting within each; `None` where there is nothing to permute."""
    parts = [part for own in strata.values() for part in own]
    p = cautious_p(parts, seed=seed, statistic=statistic)
    if p is None:
        return None
    return PooledTest(p=p, least=prod(part.least_p for part in parts), n=sum(part.blocks for part in parts))


def pooled_by_label(strata: Mapping[Name, Strata], *, seed: int) -> dict[Name, PooledTest]:
    """The test of each label that has one. Labels that sort all blocks alike share it, as headers of one machine do."""
    known: dict[Hashable, PooledTest | None] = {}
    tests: dict[Name, PooledTest] = {}
    for label, by_prompt in strata.items():
        parts = [(prompt, part) for prompt, own in by_prompt.items() for part in own]
        tables = tuple((prompt, part.counts.tobytes(), part.similar.tobytes()) for prompt, part in parts)
        if tables not in known:
            known[tables] = pooled(by_prompt, seed=seed)
        if (test := known[tables]) is not None:
            tests[label] = test
    return tests


def named(strata: Strata, *, seed: int, statistic: Statistic = across) -> tuple[str, ...]:
    """The prompts for which a test stands by itself: Holm over those whose p could reach 5 % at all (Tarone, 1990).

    Nothing is sampled for so many prompts that no sampled p could be small enough for one of them.
    """
    able = {name: own for name, own in strata.items() if own and prod(part.least_p for part in own) <= ALPHA}
    draws = DRAWS if len(able) <= ALPHA * (DRAWS + 1) else 0
    adjusted = holm([cautious_p(own, seed=seed, statistic=statistic, draws=draws) for own in able.values()])
    return tuple(name for name, p in zip(able, adjusted, strict=True) if p is not None and p <= ALPHA)


def strongest(
    tests: Mapping[Name, PooledTest], *, among: Container[Name] | None = None
) -> tuple[Name, PooledTest] | None:
    """The test of several with the smallest p, adjusted by Holm over those that could tell anything; with its name.

    `among` limits which may be given, and changes no p.
    """
    able = {name: test for name, test in tests.items() if test.can_tell} or dict(tests)
    adjusted = zip(holm([test.p for test in able.values()]), able, strict=True)
    found = [(p, name) for p, name in adjusted if p is not None and (among is None or name in among)]
    if not found:
        return None
    p, name = min(found, key=itemgetter(0))
    return name, PooledTest(p=p, least=able[name].least, n=able[name].n)
