"""Cause `backend-mix`: texts line up with which machine, build or route answered."""

from __future__ import annotations

from collections.abc import Mapping

from temp0.core.cause.evidence import Evidence, Labelled, Singles
from temp0.core.cause.finding import Finding, Outcome, Strata, named, pooled, strongest
from temp0.core.cause.wording import SHOWN, groups, tested
from temp0.core.estimate import ALPHA

_REMEDY = (
    "pin one backend and ask again: a model version instead of an alias, a provider or region fixed (OpenRouter: "
    "provider.order with allow_fallbacks false), or one replica asked directly, past its load balancer"
)


def backend_mix(evidence: Evidence) -> Outcome:
    """Fingerprint, model and replica headers against texts, over attempts alone: a pool would mix replicas.

    Values seen at least twice; for each label one test pooled over prompts, Holm over the labels. A label that never
    changes is no evidence that there is one backend.
    """
    by_prompt = {one.prompt.id: one.singles for one in evidence.prompts if one.singles}
    labels = list(dict.fromkeys(name for own in by_prompt.values() for single in own for name in single.replicas))
    strata = {name: _strata(by_prompt, name) for name in labels}
    tests = {name: test for name in labels if (test := pooled(strata[name], seed=evidence.plan.seed)) is not None}
    found = strongest(tests)
    if found is None:
        return Outcome(untested=_untested(by_prompt))
    label, test = found
    lined = _lined_up(by_prompt, label)
    if test.speaks_against or (not lined and test.p > ALPHA):
        return Outcome(test=test)
    prompts = (named(strata[label], seed=evidence.plan.seed) if test.p <= ALPHA else ()) or lined
    prompts = prompts or tuple(strata[label])
    return Outcome(
        test=test,
        finding=Finding(
            cause="backend-mix",
            evidence=f"{_told(by_prompt, prompts[0], label)}; {tested(test)}",
            remedy=_REMEDY,
            prompts=prompts,
            n=test.n,
            proof="test",
        ),
    )


def _strata(by_prompt: Mapping[str, tuple[Singles, ...]], label: str) -> Strata:
    strata = {
        name: [one.replicas[label].stratum for one in own if label in one.replicas] for name, own in by_prompt.items()
    }
    return {name: [part for part in own if part is not None] for name, own in strata.items() if any(own)}


def _lined_up(by_prompt: Mapping[str, tuple[Singles, ...]], label: str) -> tuple[str, ...]:
    return tuple(
        name
        for name, own in by_prompt.items()
        if any(label in single.replicas and single.replicas[label].lines_up for single in own)
    )


def _told(by_prompt: Mapping[str, tuple[Singles, ...]], prompt: str, label: str) -> str:
    labelled = next(one.replicas[label] for one in by_prompt[prompt] if label in one.replicas)
    return f"texts line up with {label}: in prompt {prompt} {groups(labelled)}; {_within(labelled)}"


def _within(labelled: Labelled) -> str:
    varying = [group.value for group in labelled.groups if group.texts > 1]
    return f"within {', '.join(varying[:SHOWN])} texts vary, too" if varying else "within each no variation was seen"


def _untested(by_prompt: Mapping[str, tuple[Singles, ...]]) -> str:
    if not by_prompt:
        return "no texts of attempts alone differ within one condition, and a pool mixes replicas"
    return "no fingerprint, model or replica header told two values, each at least twice; a constant one proves nothing"
