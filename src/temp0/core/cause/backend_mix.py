"""Cause `backend-mix`: texts line up with which machine, build or route answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from temp0.core.cause.evidence import Evidence, Labelled, PromptEvidence
from temp0.core.cause.finding import Finding, Outcome, Strata, named, pooled_by_label, strongest
from temp0.core.cause.wording import SHOWN, groups, tested
from temp0.core.estimate import ALPHA

_REMEDY = (
    "pin one backend and ask again: a model version instead of an alias, a provider or region fixed (OpenRouter: "
    "provider.order with allow_fallbacks false), or one replica asked directly, past its load balancer"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sorted:
    """The attempts of a prompt under one condition by a label; `where` is empty for attempts alone.

    `lines_up` says that nothing but the label is needed to tell their texts.
    """

    labelled: Labelled
    where: str
    lines_up: bool


_ByPrompt = Mapping[str, Sequence[_Sorted]]


def backend_mix(evidence: Evidence) -> Outcome:
    """Fingerprint, model and replica headers against texts, over attempts alone, or over those in company.

    Values seen at least twice; for each label one test pooled over prompts, Holm over the labels. A label that never
    changes is no evidence that there is one backend, and one that changed once while texts went on tells the time. In
    company, where load decides who answers, the label must leave nothing to company: each value one text, alone as
    well; the attempts of one block and one value may share a computation, and count once.
    """
    by_label = {**_alone(evidence.prompts), **_in_company(evidence.prompts)}
    strata = {key: _strata(by_prompt) for key, by_prompt in by_label.items()}
    tests = pooled_by_label(strata, seed=evidence.plan.seed)
    signs = [key for key in tests if not key[1] or _lined_up(by_label[key])]
    found = strongest(tests, among=signs)
    if found is None:
        return Outcome(untested=_untested(evidence.prompts))
    (label, in_company), test = found
    by_prompt = by_label[label, in_company]
    lined = _lined_up(by_prompt)
    if test.speaks_against or (not lined and test.p > ALPHA):
        return Outcome(test=test)
    own = strata[label, in_company]
    firm = named(own, seed=evidence.plan.seed) if test.p <= ALPHA else ()
    prompts = (tuple(name for name in firm if name in lined or not in_company) or lined) or tuple(own)
    return Outcome(
        test=test,
        finding=Finding(
            cause="backend-mix",
            evidence=f"{_told(by_prompt[prompts[0]], prompts[0], label)}; {tested(test)}",
            remedy=_REMEDY,
            prompts=prompts,
            n=test.n,
            proof="test",
        ),
    )


def _alone(prompts: Sequence[PromptEvidence]) -> dict[tuple[str, bool], _ByPrompt]:
    found: dict[tuple[str, bool], dict[str, list[_Sorted]]] = {}
    for one in prompts:
        for single in one.singles:
            for name, labelled in single.replicas.items():
                if name not in single.times:
                    sort = _Sorted(labelled=labelled, where="", lines_up=labelled.lines_up)
                    found.setdefault((name, False), {}).setdefault(one.prompt.id, []).append(sort)
    return {**found}


def _in_company(prompts: Sequence[PromptEvidence]) -> dict[tuple[str, bool], _ByPrompt]:
    found: dict[tuple[str, bool], dict[str, list[_Sorted]]] = {}
    for one in prompts:
        for pool in one.pools:
            for name, labelled in pool.replicas.items():
                where = f" ({pool.condition.name})"
                sort = _Sorted(labelled=labelled, where=where, lines_up=name in pool.machines)
                found.setdefault((name, True), {}).setdefault(one.prompt.id, []).append(sort)
    return {**found}


def _strata(by_prompt: _ByPrompt) -> Strata:
    parts = {name: [one.labelled.stratum for one in own] for name, own in by_prompt.items()}
    return {name: [part for part in own if part is not None] for name, own in parts.items() if any(own)}


def _lined_up(by_prompt: _ByPrompt) -> tuple[str, ...]:
    return tuple(name for name, own in by_prompt.items() if any(one.lines_up for one in own))


def _told(own: Sequence[_Sorted], prompt: str, label: str) -> str:
    shown = next((one for one in own if one.lines_up), own[0])
    told = groups(shown.labelled)
    return f"texts line up with {label}: in prompt {prompt}{shown.where} {told}; {_within(shown.labelled)}"


def _within(labelled: Labelled) -> str:
    varying = [group.value for group in labelled.groups if group.texts > 1]
    return f"within {', '.join(varying[:SHOWN])} texts vary, too" if varying else "within each no variation was seen"


def _untested(prompts: Sequence[PromptEvidence]) -> str:
    singles = [single for one in prompts for single in one.singles]
    if not singles and any(one.pools for one in prompts):
        return "no texts of attempts alone differ, and nothing that tells backends apart explains all those in company"
    if not singles:
        return "no texts of attempts alone differ within one condition"
    if times := sorted({name for single in singles for name in single.times}):
        return f"{' and '.join(times[:SHOWN])} changed once, and texts went on beyond the change: time explains as much"
    return "no fingerprint, model or replica header told two values, each at least twice; a constant one proves nothing"
