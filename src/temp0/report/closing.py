"""How a report ends: what the run cannot tell, and the commands that show it again.

Only limits that touch what was measured are told, and only commands that can help are offered.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Sequence

from temp0.core.analysis import Analysis, ConditionAnalysis, Verdict
from temp0.core.company import is_shown
from temp0.report.command import can_be_asked
from temp0.report.doubt import doubt
from temp0.report.explanation import is_settled
from temp0.report.naming import listed

_NOT_BY_ASKING_ON = frozenset({"refused", "http-401", "http-403", "http-404"})
"""Failures that asking on cannot mend: no server there, or none that answers us."""
_NAMED = 12


def limits(analysis: Analysis, *, looked_again: bool = False) -> tuple[str, ...]:
    """What this run cannot tell, as sentences; `looked_again` where a second pass at its forks stands beside it."""
    answered = [one for prompt in analysis.prompts for one in prompt.conditions if one.completions]
    telling = [tell for tell in _LIMITS if not (looked_again and tell is _unknown_margins)]
    return tuple(sentence for tell in telling for sentence in tell(analysis, answered))


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
    if can_be_asked(analysis.address):
        commands.append((f"temp0 probe --again {run}{kept}", "asks the same anew, or another URL"))
    if analysis.verdict is Verdict.DIVERGED and can_be_asked(analysis.address):
        commands.insert(0, (f"temp0 explain {run}{kept}", "asks again at its forks"))
    if not analysis.finished and not _is_hopeless(analysis):
        commands.insert(0, (f"temp0 probe --resume {run}{kept}", "finishes the run"))
    return tuple(commands)


def _is_hopeless(analysis: Analysis) -> bool:
    conditions = [condition for prompt in analysis.prompts for condition in prompt.conditions]
    reasons = {tally.reason for condition in conditions for tally in condition.failures}
    return analysis.exit_code == 3 and bool(reasons & _NOT_BY_ASKING_ON)


Answered = Sequence[ConditionAnalysis]


def _agreement(analysis: Analysis, _: Answered) -> Iterable[str]:
    if any(prompt.verdict is Verdict.AGREED for prompt in analysis.prompts):
        yield "Agreement is bounded, never proved: other prompts, loads and days were not asked."
    if is_settled(analysis) and analysis.untested:
        yield f"Not tested, so not ruled out: {listed([one.cause for one in analysis.untested], _NAMED)}."


def _untold(analysis: Analysis, _: Answered) -> Iterable[str]:
    """What an imported run leaves open, and what that costs its verdict."""
    if analysis.untold:
        told = ", ".join(_UNTOLD[what] for what in analysis.untold)
        limit = "; so equal answers stay undecided" if "replays" in analysis.untold else ""
        yield f"The files that were imported do not tell {told}{limit}."


def _strangers(analysis: Analysis, answered: Answered) -> Iterable[str]:
    """Strangers matter where we were alone and no server counted what ran."""
    alone = [one for one in answered if one.condition.company == 1 and one.company.measured_by != "server"]
    if not alone:
        return
    if analysis.exclusive:
        yield "That nobody else used the endpoint is your word (--exclusive); it cannot be checked from here."
        return
    varied = any(one.verdict is Verdict.DIVERGED for one in alone)
    none = "; where there are none, --exclusive says so" if varied else ""
    yield f"Alone means that nothing else of ours was in flight; strangers' requests cannot be seen from here{none}."


def _lower_bound(_: Analysis, answered: Answered) -> Iterable[str]:
    in_company = (one.company for one in answered if one.condition.company > 1)
    if any(is_shown(company) and company.measured_by == "speed-up" for company in in_company):
        yield "Company known from speed-up is only a lower bound; the server gave no count of its own."


def _unknown_margins(analysis: Analysis, _: Answered) -> Iterable[str]:
    """Why margins are unknown at the first forks."""
    first = ((prompt, prompt.tree.fork.margin) for prompt in analysis.prompts if prompt.tree and prompt.tree.fork)
    reasons = dict.fromkeys(doubt(margin, prompt.conditions) for prompt, margin in first if margin.value is None)
    for reason in reasons:
        yield f"How nearly two tokens were tied is unknown at some forks{f': {reason}' if reason else ''}."


_UNTOLD = {
    "company": "what else was in flight",
    "order": "in which order and when answers came",
    "parameters": "with which parameters they were really asked for",
    "replays": "whether an answer was computed or replayed",
}
_LIMITS: tuple[Callable[[Analysis, Answered], Iterable[str]], ...] = (
    _agreement,
    _untold,
    _strangers,
    _lower_bound,
    _unknown_margins,
)
