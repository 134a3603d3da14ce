"""Checks that a dialect keeps every promise: a test that anyone can run on a dialect of their own.

It needs nothing but the dialect and recorded answers; the disorder that is read besides is seeded. On files it is run
by `python -m temp0.conformance`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from random import Random

from temp0.probe.conformance.promise import PROMISES
from temp0.probe.conformance.trial import Sample, Trial
from temp0.probe.dialect.dialect import Dialect

ROUNDS = 1000
_MOST_FAULTS = 3  # of one promise: a broken one breaks in many places


def faults(
    dialect: Dialect, samples: Sequence[Sample], *, seed: int = 0, rounds: int = ROUNDS
) -> dict[str, tuple[str, ...]]:
    """What was seen where a promise was not kept, by promise, at most three of each; none where it was kept."""
    found: dict[str, tuple[str, ...]] = {}
    for promise, check in PROMISES:
        trial = Trial(dialect=dialect, samples=samples, random=Random(seed), rounds=rounds)
        found[promise] = tuple(islice(_seen(check, trial), _MOST_FAULTS))
    return found


def _seen(check: Callable[[Trial], Iterator[str]], trial: Trial) -> Iterator[str]:
    """What a check finds; an exception is what no promise allows, and so is found too."""
    try:
        yield from check(trial)
    except Exception as error:  # noqa: BLE001 - a dialect under test may do anything
        yield f"raised {type(error).__name__}: {error}"
