"""Tries every cause in the stated order, and weighs their tests against each other.

`found` is what a rule without chance shows, or a rule together with a p that stays at most 0.05 after Holm over all
causes whose tests could tell anything; the rest of the signs are `suspected`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from temp0.core.analysis import Cause, Untested
from temp0.core.cause.backend_mix import backend_mix
from temp0.core.cause.cache_state import cache_state
from temp0.core.cause.company import company
from temp0.core.cause.evidence import Evidence
from temp0.core.cause.finding import Finding, Outcome
from temp0.core.cause.finish import finish
from temp0.core.cause.no_visible_output import no_visible_output
from temp0.core.cause.not_measured import not_measured
from temp0.core.cause.observer import observer
from temp0.core.cause.order import order
from temp0.core.cause.response_cache import response_cache
from temp0.core.cause.sampling import sampling
from temp0.core.cause.short_window import short_window
from temp0.core.cause.stranger import run_to_run, unseen_company
from temp0.core.comparison import holm
from temp0.core.estimate import ALPHA

CAUSES: Mapping[str, Callable[[Evidence], Outcome]] = {
    "not-measured": not_measured,
    "response-cache": response_cache,
    "sampling": sampling,
    "no-visible-output": no_visible_output,
    "short-window": short_window,
    "finish": finish,
    "backend-mix": backend_mix,
    "cache-state": cache_state,
    "order": order,
    "company": company,
    "observer": observer,
}
"""The causes in the order in which they are tried."""

LAST_CAUSES: Mapping[str, Callable[[Evidence, frozenset[str]], Outcome]] = {
    "unseen-company": unseen_company,
    "run-to-run": run_to_run,
}
"""What stands for a prompt only where nothing before it was found; each is given the prompts that are explained."""

RIVALS = frozenset({"sampling", "cache-state"})
"""Causes that explain answers differing alone in full, and that some records can only make suspected."""

NOTES = frozenset({"not-measured", "response-cache", "no-visible-output", "short-window", "finish"})
"""Causes that say what could not be seen; they never explain a difference between what counts."""


Elsewhere = Mapping[str, Callable[[], Outcome]]
"""Causes that are tried somewhere else meanwhile, by name, and what waits for what came of it."""

NOWHERE: Elsewhere = {}


def inquiry(evidence: Evidence, elsewhere: Elsewhere) -> tuple[tuple[Cause, ...], tuple[Untested, ...]]:
    """Every cause that is found or suspected, in the stated order, and those that could not be tested."""
    here = {name: tried(evidence) for name, tried in CAUSES.items() if name not in elsewhere}
    outcomes = {name: here[name] if name in here else elsewhere[name]() for name in CAUSES}
    able = [name for name, outcome in outcomes.items() if outcome.test and outcome.test.can_tell]
    ps = [test.p for name in able if (test := outcomes[name].test)]
    adjusted = dict(zip(able, holm(ps), strict=True))
    causes = [_cause(outcome, adjusted.get(name)) for name, outcome in outcomes.items() if outcome.finding]
    explained = frozenset(
        prompt
        for cause in causes
        if cause.certainty == "found" and cause.cause not in NOTES
        for prompt in cause.prompts
    )
    last = {name: tried(evidence, explained) for name, tried in LAST_CAUSES.items()}
    rivals = [cause for cause in causes if cause.certainty == "suspected" and cause.cause in RIVALS]
    causes += [_beside(_cause(outcome, None), rivals) for outcome in last.values() if outcome.finding]
    untested = [Untested(cause=name, reason=one.untested) for name, one in outcomes.items() if one.untested]
    return tuple(causes), tuple(untested)


TOLD_BY_TEXTS = NOTES | {"sampling"}
"""Causes that answers alone can show, whoever asked for them and however."""


def of_record(causes: Sequence[Cause], untested: Sequence[Untested]) -> tuple[tuple[Cause, ...], tuple[Untested, ...]]:
    """What stands of an inquiry into answers that another tool recorded: nobody knows what they were asked among."""
    others = [name for name in (*CAUSES, *LAST_CAUSES) if name not in TOLD_BY_TEXTS]
    unknown = [Untested(cause=name, reason="the imported files do not tell how they were asked") for name in others]
    kept = [one for one in untested if one.cause in TOLD_BY_TEXTS]
    return tuple(cause for cause in causes if cause.cause in TOLD_BY_TEXTS), (*kept, *unknown)


def _beside(last: Cause, rivals: Sequence[Cause]) -> Cause:
    """A last cause is only suspected where a rival is suspected for every prompt that it stands for."""
    covered = {prompt for rival in rivals for prompt in rival.prompts}
    if not set(last.prompts) <= covered:
        return last
    names = " or ".join(rival.cause for rival in rivals)
    return replace(last, certainty="suspected", evidence=f"{last.evidence}; unless it is {names}, suspected above")


def _cause(outcome: Outcome, adjusted: float | None) -> Cause:
    finding, test = outcome.finding, outcome.test
    assert finding is not None
    is_tested = finding.proof != "rule" and test is not None
    return Cause(
        cause=finding.cause,
        certainty="found" if _is_found(finding, adjusted) else "suspected",
        evidence=finding.evidence,
        remedy=finding.remedy,
        prompts=finding.prompts,
        n=finding.n,
        p=test.p if is_tested and test else None,
        p_adjusted=(test.p if adjusted is None else adjusted) if is_tested and test else None,
    )


def _is_found(finding: Finding, adjusted: float | None) -> bool:
    return finding.proof == "rule" or (finding.proof == "test" and adjusted is not None and adjusted <= ALPHA)
