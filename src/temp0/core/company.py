"""Company reached: was our request really in company, and in how much?

The server's own running count decides where there is one; else only a lower bound from speed-up is known. Company
that was not shown can still diverge, but cannot be agreed. Beside it stands our own record, which says why company
was missed: whether our requests were in flight together is a fact of ours, and no proof of what the server did.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import Literal

from temp0.core.analysis import Company
from temp0.core.plan import Condition
from temp0.core.run import Attempt, Completion, Sample

SHOWN_ABOVE = 1.5
"""A server that answers one at a time stays near 1; beyond this, requests really ran together."""

FULL_FROM = 0.75
"""The share of the company asked for that must run beside the judged attempts; below it, the load came late."""

SERIAL_FROM = 0.75
"""Twins that end at least this share of one answer's time apart are answered one after another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """What one answer to a prompt takes alone: its median time in seconds and its median length in characters."""

    alone_s: float
    length: float


def is_shown(company: Company) -> bool:
    """Whether the company asked for was reached in any measure; being alone needs no proof here."""
    return company.asked == 1 or (company.reached is not None and company.reached > SHOWN_ABOVE)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Load:
    """Our own requests in flight, by the record: on average while judged attempts ran, and at most."""

    mean: float | None
    peak: int


_LONE = _Load(mean=1.0, peak=1)


def company(
    condition: Condition,
    blocks: Mapping[int, Sequence[Attempt]],
    samples: Mapping[int, Sequence[Sample]],
    paces: Mapping[str, Pace],
) -> Company:
    """The company of one prompt under one condition: medians over its blocks, of `peak` the largest.

    `blocks` holds the attempts that ran while each block's judged ones did, fillers included, `samples` the
    server's counts by block, and `paces` what is known of each prompt alone.
    """
    if condition.company == 0:
        return Company(asked=0, reached=None, measured_by=None)
    counts = _counts(blocks, samples)
    reached, measured_by = _reached(condition, blocks, counts, paces)
    loads = [_load(block) for block in blocks.values()]
    means = [load.mean for load in loads if load.mean is not None]
    found = Company(
        asked=condition.company,
        reached=reached,
        measured_by=measured_by,
        in_flight=median(means) if means else None,
        peak=max((load.peak for load in loads), default=None),
    )
    if is_shown(found) or reached is None:
        is_serial = False
    elif measured_by == "server":
        is_serial = max(map(max, counts)) <= SHOWN_ABOVE
    else:
        is_serial = condition.filler == "same" and _is_sequential(blocks.values(), paces)
    return replace(found, shortfall=_shortfall(found, is_serial=is_serial))


def _reached(
    condition: Condition,
    blocks: Mapping[int, Sequence[Attempt]],
    counts: Sequence[Sequence[float]],
    paces: Mapping[str, Pace],
) -> tuple[float | None, Literal["server", "speed-up"] | None]:
    """The company reached by the server's own counts, by the speed-up where it gives none, and which of the two."""
    if counts:
        return median(map(median, counts)), "server"
    if condition.company == 1:
        return (1.0, "speed-up") if blocks else (None, None)
    bounds = [bound for block in blocks.values() if (bound := _speed_up(block, paces)) is not None]
    return (min(median(bounds), condition.company), "speed-up") if bounds else (None, None)


def running_alone(blocks: Mapping[int, Sequence[Attempt]], samples: Mapping[int, Sequence[Sample]]) -> float | None:
    """The most that the server counted as running while attempts of these blocks, all alone, ran; `None` without.

    The first count of a block is left out where there are others, since one that lags behind still holds the block
    before. More than 1 is a stranger's request.
    """
    return max((max(counts[1:] or counts) for counts in _counts(blocks, samples)), default=None)


def _counts(blocks: Mapping[int, Sequence[Attempt]], samples: Mapping[int, Sequence[Sample]]) -> list[list[float]]:
    """The server's counts taken while judged attempts ran, for each block that has any."""
    found = []
    for index, block in blocks.items() if samples else ():
        if taken := samples.get(index):
            start, end = _span(block)
            if seen := [sample.running for sample in taken if start <= sample.at_s <= end]:
                found.append(seen)
    return found


def _load(block: Sequence[Attempt]) -> _Load:
    """How many of ours were in flight from the first judged attempt's start to the last one's end.

    The peak is the larger of two witnesses: the overlap of the recorded times, and the number in flight as an
    attempt left, which also counts requests of blocks that are not at hand.
    """
    if len(block) == 1 and block[0].in_flight == 1:
        return _LONE
    start, end = _span(block)
    beside = [one for one in block if one.started_s <= end and one.ended_s >= start]
    busy_s = sum(
        (end if one.ended_s > end else one.ended_s) - (start if one.started_s < start else one.started_s)
        for one in beside
    )
    return _Load(
        mean=busy_s / (end - start) if end > start else None,
        peak=max(_overlap(beside), *(one.in_flight for one in beside if one.started_s >= start)),
    )


def _overlap(attempts: Sequence[Attempt]) -> int:
    """The most attempts that were in flight at one moment; one that ended as another started was not beside it."""
    starts = sorted(attempt.started_s for attempt in attempts)
    ends = sorted(attempt.ended_s for attempt in attempts)
    return max(begun - bisect_right(ends, start) for begun, start in enumerate(starts, start=1))


def _shortfall(found: Company, *, is_serial: bool) -> Literal["serial", "pool", "late"] | None:
    """Why company was not reached in full, as far as our own record tells.

    A count below what was asked while our record holds it all (100 of 128) gets no name: a client's pool and the
    slots of a server look alike from here.
    """
    if found.asked == 1 or found.in_flight is None or found.peak is None:
        return None
    if is_serial and found.in_flight > SHOWN_ABOVE:
        return "serial"
    if found.peak < found.asked:
        return "pool"
    return "late" if found.in_flight < FULL_FROM * found.asked else None


def _is_sequential(blocks: Iterable[Sequence[Attempt]], paces: Mapping[str, Pace]) -> bool:
    """Whether twins that ran together ended one answer's time apart, as they do where one is answered at a time.

    A server that batches without getting faster has no speed-up either, but its twins end together.
    """
    ratios = [ratio for block in blocks if (ratio := _spacing(block, paces)) is not None]
    return bool(ratios) and median(ratios) >= SERIAL_FROM


def _spacing(block: Sequence[Attempt], paces: Mapping[str, Pace]) -> float | None:
    """The median time between the ends of judged twins, each over what the later one takes alone."""
    twins = sorted((one for one in block if one.role == "judged"), key=lambda one: (one.ended_s, one.order))
    ratios = [
        (later.ended_s - earlier.ended_s) / takes_s
        for earlier, later in pairwise(twins)
        if later.started_s < earlier.ended_s and (takes_s := _alone_s(later, paces))
    ]
    return median(ratios) if ratios else None


def _speed_up(block: Sequence[Attempt], paces: Mapping[str, Pace]) -> float | None:
    """A lower bound of the company: the time that the work of a block takes alone, over the time of the block."""
    start, end = _span(block)
    work = sum(_work_s(attempt, start, end, paces) for attempt in block)
    return work / (end - start) if work and end > start else None


def _work_s(attempt: Attempt, start: float, end: float, paces: Mapping[str, Pace]) -> float:
    """How long what was done of an attempt between `start` and `end` would surely take alone.

    Nothing for one that ended later: a server that answers one at a time may not have begun it.
    """
    took = attempt.ended_s - attempt.started_s
    if not took > 0 or not start < attempt.ended_s <= end:
        return 0.0
    inside = attempt.ended_s - max(start, attempt.started_s)
    return _alone_s(attempt, paces) * inside / took


def _alone_s(attempt: Attempt, paces: Mapping[str, Pace]) -> float:
    """How long an attempt would surely take alone; 0 for a failure, or where that was not measured.

    A filler cut short is worth its share of the whole text, less than it costs, since reading the prompt then counts
    nothing.
    """
    pace = paces.get(attempt.prompt)
    if pace is None or not isinstance(attempt.outcome, Completion):
        return 0.0
    share = min(1.0, len(attempt.outcome.text) / pace.length) if pace.length else 1.0
    return pace.alone_s * share


def _span(block: Sequence[Attempt]) -> tuple[float, float]:
    judged = [attempt for attempt in block if attempt.role == "judged"]
    return min(attempt.started_s for attempt in judged), max(attempt.ended_s for attempt in judged)


def paces(attempts: Sequence[Attempt], alone: frozenset[str]) -> dict[str, Pace]:
    """The pace of each prompt, over its completions under the conditions named in `alone`."""
    seen: dict[str, list[tuple[float, int]]] = {}
    lonely = [one for one in attempts if one.condition in alone and one.role == "judged"]
    for attempt in lonely:
        answer = attempt.outcome
        if isinstance(answer, Completion):
            seen.setdefault(attempt.prompt, []).append((attempt.ended_s - attempt.started_s, len(answer.text)))
    return {
        prompt: Pace(alone_s=median(took for took, _ in pairs), length=median(length for _, length in pairs))
        for prompt, pairs in seen.items()
    }
