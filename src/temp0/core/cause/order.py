"""Cause `order`: the text depends on what was asked before, changes once and stays, or drifts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from temp0.core.cause.evidence import EVERY_SECOND, Evidence, Labelled, PromptEvidence, Singles
from temp0.core.cause.finding import Finding, Outcome, PooledTest, Strata, named, pooled, strongest
from temp0.core.cause.wording import groups, tested
from temp0.core.comparison import Stratum, across, change
from temp0.core.estimate import ALPHA

_TIME = "time"
_REMEDY_OF_TIME = (
    "something changed while we asked (a deploy, a restart, a reload, a cache that filled): compare runs of different "
    "days with temp0 compare, and pin the version"
)
_REMEDY_OF_PLACE = (
    "one request leaves something behind for the next (state, a cache, a queue of replicas taken in turn): ask one "
    "replica with its caches off, and measure again with another --seed, which orders the blocks anew"
)


def order(evidence: Evidence) -> Outcome:
    """Attempts alone against the prompt and condition asked before, the turn, and time; Holm over these.

    Over time a CUSUM of counts that a single change and a drift both raise; the first attempt of each prompt is left
    out, since what sets it apart is the state of a cache.
    """
    by_prompt = {one.prompt.id: one for one in evidence.prompts if one.singles}
    places = list(dict.fromkeys(name for one in by_prompt.values() for single in one.singles for name in single.places))
    strata: dict[str, Strata] = {name: _strata(by_prompt, name) for name in [*places, _TIME]}
    tests: dict[str, PooledTest] = {}
    for name, own in strata.items():
        statistic = change if name == _TIME else across
        if (test := pooled(own, seed=evidence.plan.seed, statistic=statistic)) is not None:
            tests[name] = test
    found = strongest(tests)
    if found is None:
        return Outcome(
            untested="no texts of attempts alone differ within one condition"
            if not by_prompt
            else "too few attempts alone"
        )
    label, test = found
    if test.p > ALPHA:
        return Outcome(test=test)
    statistic = change if label == _TIME else across
    prompts = named(strata[label], seed=evidence.plan.seed, statistic=statistic) or _likely(by_prompt, strata, label)
    told = _changed(by_prompt[prompts[0]]) if label == _TIME else _lined_up(by_prompt[prompts[0]], label)
    return Outcome(
        test=test,
        finding=Finding(
            cause="order",
            evidence=f"{told}; {tested(test)}",
            remedy=_REMEDY_OF_TIME if label == _TIME else _REMEDY_OF_PLACE,
            prompts=prompts,
            n=test.n,
            proof="test",
        ),
    )


def looked_at(evidence: Evidence) -> Evidence:
    """The same without what `order` does not look at, a quarter as large, to be sent to another process."""
    return replace(
        evidence,
        prompts=tuple(
            replace(
                one,
                prompt=replace(one.prompt, texts=(), conditions=(), comparisons=(), tree=None),
                kinds=None,
                condition_of=None,
                singles=tuple(replace(single, replicas={}, cached=None, first=None) for single in one.singles),
                pools=(),
            )
            for one in evidence.prompts
            if one.singles
        ),
    )


def _likely(by_prompt: Mapping[str, PromptEvidence], strata: Mapping[str, Strata], label: str) -> tuple[str, ...]:
    """Where no prompt stands by itself: those that show it most plainly, else all that were tested."""
    plain = [
        name
        for name in strata[label]
        for single in by_prompt[name].singles
        if (
            single.change.before is not None
            if label == _TIME
            else label in single.places and single.places[label].lines_up
        )
    ]
    return tuple(dict.fromkeys(plain)) or tuple(strata[label])


def _strata(by_prompt: Mapping[str, PromptEvidence], label: str) -> Strata:
    strata = {
        name: [
            part
            for single in one.singles
            if (part := single.change.timeline if label == _TIME else _part(single, label)) is not None
        ]
        for name, one in by_prompt.items()
    }
    return {name: own for name, own in strata.items() if own}


def _part(single: Singles, label: str) -> Stratum | None:
    labelled = single.places.get(label)
    return labelled.stratum if labelled else None


def _changed(one: PromptEvidence) -> str:
    for single in one.singles:
        if single.change.before is not None:
            return (
                f"the answer to prompt {one.prompt.id} changed once and stayed: its first one aside, "
                f"{single.change.before:,} of one text, then {single.change.after:,} of another"
            )
    return f"how often prompt {one.prompt.id} gets each of its texts drifts with time"


def _lined_up(one: PromptEvidence, label: str) -> str:
    labelled: Labelled = next(single.places[label] for single in one.singles if label in single.places)
    hangs_on = "changes with" if label == EVERY_SECOND else "depends on"
    return f"the answer to prompt {one.prompt.id} {hangs_on} {label}: {groups(labelled)}"
