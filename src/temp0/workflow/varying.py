"""Which conditions a plan has: the levels of each factor, crossed, or one factor at a time away from a base.

The base is made of the first level of each factor. An attempt alone has no filler, so that no condition comes twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

from temp0.core.plan import Cache, Condition, Filler
from temp0.errors import UsageError

Switch = Literal["off", "on", "both"]
FillerChoice = Literal["same", "mixed", "both"]
CacheChoice = Literal["as-found", "cold", "warm", "both"]

SWITCHES: dict[Switch, tuple[bool, ...]] = {"off": (False,), "on": (True,), "both": (False, True)}
FILLERS: dict[FillerChoice, tuple[Filler, ...]] = {"same": ("same",), "mixed": ("mixed",), "both": ("same", "mixed")}
CACHES: dict[CacheChoice, tuple[Cache, ...]] = {
    "as-found": ("as-found",),
    "cold": ("cold",),
    "warm": ("warm",),
    "both": ("cold", "warm"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Levels:
    """The levels that each factor has in a plan, the first of each being the base."""

    company: tuple[int, ...] = (1, 8)
    filler: tuple[Filler, ...] = ("same",)
    cache: tuple[Cache, ...] = ("as-found",)
    logprobs: tuple[bool, ...] = (False,)
    stream: tuple[bool, ...] = (False,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What somebody said of each factor, checked; `None` leaves it open. `alone` counts attempts alone."""

    company: int | Sequence[int] | None = None
    filler: FillerChoice | None = None
    cache: CacheChoice | None = None
    logprobs: Switch | None = None
    stream: Switch | None = None
    alone: int | None = None

    def __post_init__(self) -> None:
        """Refuse what names no level."""
        if self.company is not None and not isinstance(self.company, int) and not tuple(self.company):
            raise UsageError("company names no number of requests in flight, expected for example 1,8")
        for level in self._company:
            check_count("company", level)
        if self.alone is not None:
            check_count("alone", self.alone)
        _check_choice("filler", self.filler, tuple(FILLERS))
        _check_choice("cache", self.cache, tuple(CACHES))
        _check_choice("logprobs", self.logprobs, tuple(SWITCHES))
        _check_choice("stream", self.stream, tuple(SWITCHES))

    @property
    def factors(self) -> frozenset[str]:
        """The factors that something was said of."""
        return frozenset(
            name for name in ("company", "filler", "cache", "logprobs", "stream") if getattr(self, name) is not None
        )

    def over(self, levels: Levels) -> Levels:
        """The levels with those that were said in place of theirs."""
        return Levels(
            company=self._company or levels.company,
            filler=levels.filler if self.filler is None else FILLERS[self.filler],
            cache=levels.cache if self.cache is None else CACHES[self.cache],
            logprobs=levels.logprobs if self.logprobs is None else SWITCHES[self.logprobs],
            stream=levels.stream if self.stream is None else SWITCHES[self.stream],
        )

    @property
    def _company(self) -> tuple[int, ...]:
        if self.company is None or isinstance(self.company, int):
            return () if self.company is None else (self.company,)
        return tuple(self.company)


def crossed(levels: Levels) -> tuple[Condition, ...]:
    """Every combination of the levels.

    >>> [condition.name for condition in crossed(Levels(filler=("same", "mixed")))]
    ['alone', 'company 8', 'company 8 mixed']
    """
    combinations = product(levels.company, levels.filler, levels.cache, levels.logprobs, levels.stream)
    return _each_once(_condition(*combination) for combination in combinations)


def one_at_a_time(levels: Levels) -> tuple[Condition, ...]:
    """The base, each other level of each factor by itself, and the largest company with other logprobs.

    Mixed fillers need company, so they come with the largest one. That one with logprobs shows what a fork in
    company is made of, and differs in one factor from others on either side.

    >>> [condition.name for condition in one_at_a_time(Levels(company=(1, 4), logprobs=(False, True)))]
    ['alone', 'company 4', 'alone, logprobs', 'company 4, logprobs']
    """
    return _each_once(_away_from_base(levels))


def _away_from_base(levels: Levels) -> Iterator[Condition]:
    company, filler, most = levels.company[0], levels.filler[0], max(levels.company)
    cache, logprobs, stream = levels.cache[0], levels.logprobs[0], levels.stream[0]
    yield from (_condition(k, filler, cache, logprobs, stream) for k in levels.company)
    yield from (_condition(most, other, cache, logprobs, stream) for other in levels.filler)
    yield from (_condition(company, filler, other, logprobs, stream) for other in levels.cache)
    for on in levels.logprobs:
        yield from (_condition(k, filler, cache, on, stream) for k in (company, most))
    yield from (_condition(company, filler, cache, logprobs, on) for on in levels.stream)


def _condition(company: int, filler: Filler, cache: Cache, logprobs: bool, stream: bool) -> Condition:
    kept = filler if company > 1 else "same"
    return Condition(company=company, filler=kept, cache=cache, logprobs=logprobs, stream=stream)


def counted(
    conditions: Iterable[Condition], *, alone: int | None = None, mixed: int | None = None
) -> tuple[Condition, ...]:
    """The conditions with their own numbers of attempts: those alone, and those among mixed fillers."""
    return tuple(
        replace(condition, n=alone if condition.company == 1 else mixed if condition.filler == "mixed" else None)
        for condition in conditions
    )


def check_count(name: str, value: object) -> None:
    """Raise `UsageError` unless `value` is a whole number of at least 1."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise UsageError(f"{name} is {value!r}, expected a whole number of at least 1")


def _check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    if value is not None and value not in choices:
        raise UsageError(f"{name} is {value!r}, expected one of: {', '.join(choices)}")


def _each_once(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    return tuple(dict.fromkeys(conditions))
