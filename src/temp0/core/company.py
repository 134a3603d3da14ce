"""Company reached: was our request really in company, and in how much?

The server's own running count decides where there is one; else only a lower bound from speed-up is known. Company
that was not shown can still diverge, but cannot be agreed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from temp0.core.analysis import Company
from temp0.core.plan import Condition
from temp0.core.run import Attempt, Completion, Sample

SHOWN_ABOVE = 1.5
"""A server that answers one at a time stays near 1; beyond this, requests really ran together."""


def is_shown(company: Company) -> bool:
    """Whether the company asked for was reached in any measure; being alone needs no proof here."""
    return company.asked == 1 or (company.reached is not None and company.reached > SHOWN_ABOVE)


def company(
    condition: Condition,
    blocks: Mapping[int, Sequence[Attempt]],
    samples: Mapping[int, Sequence[Sample]],
    alone_s: Mapping[str, float],
) -> Company:
    """The company of one prompt under one condition.

    `blocks` holds every attempt of each block, fillers included, `samples` the server's counts by block, and
    `alone_s` the median time alone of each prompt, in seconds.
    """
    counts = [
        count for index, block in blocks.items() if (count := _server_count(block, samples.get(index, ()))) is not None
    ]
    if counts:
        return Company(asked=condition.company, reached=median(counts), measured_by="server")
    if condition.company == 1:
        return Company(asked=1, reached=1.0 if blocks else None, measured_by="speed-up" if blocks else None)
    bounds = [bound for block in blocks.values() if (bound := _speed_up(condition, block, alone_s)) is not None]
    if not bounds:
        return Company(asked=condition.company, reached=None, measured_by=None)
    return Company(asked=condition.company, reached=min(median(bounds), condition.company), measured_by="speed-up")


def _server_count(block: Sequence[Attempt], samples: Sequence[Sample]) -> float | None:
    """The median of the server's counts taken while a judged attempt of the block ran."""
    start, end = _span(block)
    seen = [sample.running for sample in samples if start <= sample.at_s <= end]
    return median(seen) if seen else None


def _speed_up(condition: Condition, block: Sequence[Attempt], alone_s: Mapping[str, float]) -> float | None:
    """A lower bound of the company: the time its attempts take alone, over the time of the block.

    Fillers of the judged prompt are shorter than it and count nothing; of other prompts they are whole, and count
    where they ended in time and the prompt's time alone is known.
    """
    start, end = _span(block)
    whole = [attempt for attempt in block if attempt.role == "judged" or condition.filler == "mixed"]
    work = sum(alone_s.get(attempt.prompt, 0.0) for attempt in whole if _is_done(attempt) and attempt.ended_s <= end)
    return work / (end - start) if work and end > start else None


def _span(block: Sequence[Attempt]) -> tuple[float, float]:
    judged = [attempt for attempt in block if attempt.role == "judged"]
    return min(attempt.started_s for attempt in judged), max(attempt.ended_s for attempt in judged)


def _is_done(attempt: Attempt) -> bool:
    return isinstance(attempt.outcome, Completion)


def median_alone_s(attempts: Sequence[Attempt], alone: frozenset[str]) -> dict[str, float]:
    """The median time alone of each prompt in seconds, over completions under the conditions named in `alone`."""
    times: dict[str, list[float]] = {}
    for attempt in attempts:
        if attempt.role == "judged" and attempt.condition in alone and _is_done(attempt):
            times.setdefault(attempt.prompt, []).append(attempt.ended_s - attempt.started_s)
    return {prompt: median(seen) for prompt, seen in times.items()}
