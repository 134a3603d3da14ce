"""Company reached: was our request really in company, and in how much?

The server's own running count decides where there is one; else only a lower bound from speed-up is known. Company
that was not shown can still diverge, but cannot be agreed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from temp0.core.analysis import Company
from temp0.core.plan import Condition
from temp0.core.run import Attempt, Completion, Sample

SHOWN_ABOVE = 1.5
"""A server that answers one at a time stays near 1; beyond this, requests really ran together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """What one answer to a prompt takes alone: its median time in seconds and its median length in characters."""

    alone_s: float
    length: float


def is_shown(company: Company) -> bool:
    """Whether the company asked for was reached in any measure; being alone needs no proof here."""
    return company.asked == 1 or (company.reached is not None and company.reached > SHOWN_ABOVE)


def company(
    condition: Condition,
    blocks: Mapping[int, Sequence[Attempt]],
    samples: Mapping[int, Sequence[Sample]],
    paces: Mapping[str, Pace],
) -> Company:
    """The company of one prompt under one condition: the median over its blocks.

    `blocks` holds the attempts that ran while each block's judged ones did, fillers included, `samples` the
    server's counts by block, and `paces` what is known of each prompt alone.
    """
    counts = [
        count for index, block in blocks.items() if (count := _server_count(block, samples.get(index, ()))) is not None
    ]
    if counts:
        return Company(asked=condition.company, reached=median(counts), measured_by="server")
    if condition.company == 1:
        return Company(asked=1, reached=1.0 if blocks else None, measured_by="speed-up" if blocks else None)
    bounds = [bound for block in blocks.values() if (bound := _speed_up(block, paces)) is not None]
    if not bounds:
        return Company(asked=condition.company, reached=None, measured_by=None)
    return Company(asked=condition.company, reached=min(median(bounds), condition.company), measured_by="speed-up")


def _server_count(block: Sequence[Attempt], samples: Sequence[Sample]) -> float | None:
    """The median of the server's counts taken while a judged attempt of the block ran."""
    start, end = _span(block)
    seen = [sample.running for sample in samples if start <= sample.at_s <= end]
    return median(seen) if seen else None


def _speed_up(block: Sequence[Attempt], paces: Mapping[str, Pace]) -> float | None:
    """A lower bound of the company: the time that the work of a block takes alone, over the time of the block."""
    start, end = _span(block)
    work = sum(_work_s(attempt, start, end, paces) for attempt in block)
    return work / (end - start) if work and end > start else None


def _work_s(attempt: Attempt, start: float, end: float, paces: Mapping[str, Pace]) -> float:
    """How long what was done of an attempt between `start` and `end` would surely take alone.

    Nothing for one that ended later: a server that answers one at a time may not have begun it. A filler cut short
    is worth its share of the whole text, less than it costs, since reading the prompt then counts nothing.
    """
    pace = paces.get(attempt.prompt)
    took = attempt.ended_s - attempt.started_s
    if pace is None or not start < attempt.ended_s <= end or not isinstance(attempt.outcome, Completion):
        return 0.0
    share = min(1.0, len(attempt.outcome.text) / pace.length) if pace.length else 1.0
    inside = attempt.ended_s - max(start, attempt.started_s)
    return pace.alone_s * share * inside / took


def _span(block: Sequence[Attempt]) -> tuple[float, float]:
    judged = [attempt for attempt in block if attempt.role == "judged"]
    return min(attempt.started_s for attempt in judged), max(attempt.ended_s for attempt in judged)


def paces(attempts: Sequence[Attempt], alone: frozenset[str]) -> dict[str, Pace]:
    """The pace of each prompt, over its completions under the conditions named in `alone`."""
    seen: dict[str, list[tuple[float, int]]] = {}
    for attempt in attempts:
        if attempt.role == "judged" and attempt.condition in alone and isinstance(attempt.outcome, Completion):
            took = attempt.ended_s - attempt.started_s
            seen.setdefault(attempt.prompt, []).append((took, len(attempt.outcome.text)))
    return {
        prompt: Pace(alone_s=median(took for took, _ in pairs), length=median(length for _, length in pairs))
        for prompt, pairs in seen.items()
    }


def with_neighbours(blocks: Mapping[int, Sequence[Attempt]]) -> dict[int, Sequence[Attempt]]:
    """Each block with the fillers of the block before it, which may still keep it company as it begins."""
    in_time = sorted(blocks, key=lambda index: blocks[index][0].order)
    together = {index: list(blocks[index]) for index in in_time}
    for before, index in pairwise(in_time):
        together[index] += [attempt for attempt in blocks[before] if attempt.role == "filler"]
    return dict(together)
