"""How a report ends: what the run cannot tell, and the commands that show it again.

Only limits that touch what was measured are told, and only commands that can help are offered.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Sequence

from temp0.core.analysis import Analysis, ConditionAnalysis, Fork, Verdict
from temp0.core.company import is_shown

_NOT_BY_ASKING_ON = frozenset({"refused", "http-401", "http-403", "http-404"})
"""Failures that asking on cannot mend: no server there, or none that answers us."""


def limits(analysis: Analysis) -> tuple[str, ...]:
    """What this run cannot tell, as sentences."""
    answered = [one for prompt in analysis.prompts for one in prompt.conditions if one.completions]
    return tuple(sentence for sees, sentence in _LIMITS if sees(analysis, answered))


def advice(analysis: Analysis) -> str | None:
    """What to do first where nothing could be measured and going on would not help."""
    return "See to the failure, then ask again." if _is_hopeless(analysis) else None


def again(analysis: Analysis, *, store: str | None = None) -> tuple[tuple[str, str], ...]:
    """Commands that show this run again or go on from it, each with what it does.

    `store` is the path of the store that keeps the run, where it is not the usual one.
    """
    run, kept = analysis.run, f" --store {shlex.quote(store)}" if store is not None else ""
    commands = [
        (f"temp0 show {run}{kept}", "this analysis again"),
        (f"temp0 report {run} -o report.html{kept}", "as a page"),
    ]
    if not analysis.finished and not _is_hopeless(analysis):
        commands.insert(0, (f"temp0 probe --resume {run}{kept}", "finishes the run"))
    return tuple(commands)


def _is_hopeless(analysis: Analysis) -> bool:
    conditions = [condition for prompt in analysis.prompts for condition in prompt.conditions]
    reasons = {tally.reason for condition in conditions for tally in condition.failures}
    return analysis.exit_code == 3 and bool(reasons & _NOT_BY_ASKING_ON)


Seen = Callable[[Analysis, Sequence[ConditionAnalysis]], bool]


def _has_agreed(analysis: Analysis, _: Sequence[ConditionAnalysis]) -> bool:
    return any(prompt.verdict is Verdict.AGREED for prompt in analysis.prompts)


def _has_alone(_: Analysis, answered: Sequence[ConditionAnalysis]) -> bool:
    return any(one.condition.company == 1 for one in answered)


def _has_bound_only(_: Analysis, answered: Sequence[ConditionAnalysis]) -> bool:
    in_company = (one.company for one in answered if one.condition.company > 1)
    return any(is_shown(company) and company.measured_by == "speed-up" for company in in_company)


def _has_unmeasured_margin(analysis: Analysis, _: Sequence[ConditionAnalysis]) -> bool:
    return any(fork.margin.value is None for fork in _first_forks(analysis))


def _first_forks(analysis: Analysis) -> Iterable[Fork]:
    return (prompt.tree.fork for prompt in analysis.prompts if prompt.tree and prompt.tree.fork)


_LIMITS: tuple[tuple[Seen, str], ...] = (
    (_has_agreed, "Agreement is bounded, never proved: other prompts, loads and days were not asked."),
    (_has_alone, "Alone means that nothing else of ours was in flight; strangers' requests cannot be seen from here."),
    (_has_bound_only, "Company known from speed-up is only a lower bound; the server gave no count of its own."),
    (_has_unmeasured_margin, "How nearly two tokens were tied at a fork is unknown where a margin is not given."),
)
