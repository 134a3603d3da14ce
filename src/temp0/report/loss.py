"""How many judged requests do not count, and why, as a sentence each for those that failed and those excluded.

Nothing is said where all of them count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from temp0.core.analysis import Analysis, Tally
from temp0.report.figure import every, some, times
from temp0.report.visible import beginning

_LONGEST = 60


def losses(analysis: Analysis) -> tuple[str, ...]:
    """`43 of 160 judged requests failed (http-500) and were left out.`, and the same of excluded answers."""
    conditions = [one for prompt in analysis.prompts for one in prompt.conditions]
    asked = sum(one.attempts for one in conditions)
    failed = _reasons(tally for one in conditions for tally in one.failures)
    excluded = _reasons(tally for one in conditions for tally in one.excluded)
    told = []
    if lost := failed.total():
        were = "was" if lost == 1 else "were"
        told.append(f"{_share(lost, asked)} failed ({_commonest(failed)}) and {were} left out.")
    if lost := excluded.total():
        told.append(f"{_share(lost, asked)} got an answer that does not count ({_commonest(excluded)}).")
    return tuple(told)


def _reasons(tallies: Iterable[Tally]) -> Counter[str]:
    counts = Counter[str]()
    for tally in tallies:
        counts[tally.reason] += tally.count
    return counts


def _share(lost: int, asked: int) -> str:
    if lost < asked:
        return f"{lost:,} of {some(asked, 'judged request')}"
    return every(asked, "judged request").capitalize()


def _commonest(reasons: Counter[str]) -> str:
    reason, count = reasons.most_common(1)[0]
    shown = beginning(reason, _LONGEST)
    return shown if len(reasons) == 1 else f"most often {shown}, {times(count)}"
