"""Cause `observer`: asking for logprobs changes the answer."""

from __future__ import annotations

from collections.abc import Iterator

from temp0.core.analysis import ConditionAnalysis
from temp0.core.cause.evidence import Evidence, PromptEvidence
from temp0.core.cause.finding import Finding, Outcome, named, pooled
from temp0.core.cause.wording import counted, tested
from temp0.core.comparison import Stratum
from temp0.core.estimate import ALPHA


def observer(evidence: Evidence) -> Outcome:
    """Conditions that differ in nothing but logprobs: plain attempts identical, and those with logprobs differ.

    The test is over all prompts: one over those that happen to be identical would find what it chose them by.
    """
    strata: dict[str, list[Stratum]] = {}
    seen: dict[str, tuple[ConditionAnalysis, ConditionAnalysis]] = {}
    is_asked = False
    for one in evidence.prompts:
        for plain, asked in _pairs(one):
            is_asked = True
            if part := one.stratum({plain.name: 0, asked.name: 1}):
                strata.setdefault(one.prompt.id, []).append(part)
            is_steady = plain.distinct.text == 1 and plain.completions > 1
            if is_steady and one.texts_of(asked) - one.texts_of(plain):
                seen.setdefault(one.prompt.id, (plain, asked))
    if not is_asked:
        return Outcome(untested="logprobs were not both asked for and left out; --logprobs both does that")
    test = pooled(strata, seed=evidence.plan.seed)
    if test is None or not seen or test.speaks_against:
        return Outcome(test=test)
    firm = named(strata, seed=evidence.plan.seed) if test.p <= ALPHA else ()
    prompts = tuple(prompt for prompt in firm if prompt in seen) or tuple(seen)
    plain, asked = seen.get(prompts[0]) or next(iter(seen.values()))
    return Outcome(
        test=test,
        finding=Finding(
            cause="observer",
            evidence=f"{plain.name} always one text ({plain.completions} of {plain.completions}), {asked.name} "
            f"{counted(asked.distinct.text, 'text')} in {asked.completions}, not all that one, in prompt {prompts[0]}"
            f"{_others(prompts)}; {tested(test)}",
            remedy="judge by the plain attempts, as this verdict does",
            prompts=prompts,
            n=test.n,
            proof="test",
        ),
    )


def _pairs(one: PromptEvidence) -> Iterator[tuple[ConditionAnalysis, ConditionAnalysis]]:
    answered = [condition for condition in one.prompt.conditions if condition.completions]
    for plain in answered:
        for asked in answered:
            apart = plain.condition.factors_apart(asked.condition)
            if apart == ("logprobs",) and asked.condition.logprobs:
                yield plain, asked


def _others(prompts: tuple[str, ...]) -> str:
    return f" and {counted(len(prompts) - 1, 'more prompt')} like it" if len(prompts) > 1 else ""
