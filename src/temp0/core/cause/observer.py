"""Cause `observer`: asking for logprobs, or for the answer as a stream, changes the answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from temp0.core.analysis import ConditionAnalysis
from temp0.core.cause.evidence import Evidence, PromptEvidence
from temp0.core.cause.finding import Finding, Outcome, named, pooled, strongest
from temp0.core.cause.wording import counted, tested
from temp0.core.comparison import Stratum
from temp0.core.estimate import ALPHA

Way = Literal["logprobs", "stream"]
"""A way of asking that should change nothing; the first in order of two that are equally sure is told."""
WAYS: tuple[Way, ...] = ("logprobs", "stream")
_REMEDIES: dict[Way, str] = {
    "logprobs": "judge by the answers that were asked for without logprobs, as this verdict does",
    "stream": "compare streamed answers with streamed ones and whole ones with whole ones, as this verdict does, and "
    "ask as your own code does (--stream on or off); then look at what stands between, which puts streams together "
    "from pieces and may lose white space or characters",
}
_NOT_ASKED = "answers with and without logprobs were not both asked for; --logprobs both does that"
_NEITHER_ASKED = (
    "answers were not asked for both with and without logprobs, nor both streamed and whole; --logprobs both and "
    "--stream both do that"
)
_Pair = tuple[ConditionAnalysis, ConditionAnalysis]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """What one way of asking showed: the strata of each prompt, and the pair of conditions that shows the sign."""

    strata: dict[str, list[Stratum]] = field(default_factory=dict)
    signs: dict[str, _Pair] = field(default_factory=dict)


def observer(evidence: Evidence) -> Outcome:
    """Conditions that differ in nothing but logprobs, or nothing but streaming: plain answers identical, others not.

    Each way has a test over all prompts: one over those that happen to be identical would find what it chose them by.
    """
    seen = {way: found for way in WAYS if (found := _seen(evidence, way)) is not None}
    untested = None if "logprobs" in seen else _NOT_ASKED if "stream" in seen else _NEITHER_ASKED
    seed = evidence.plan.seed
    tests = {way: test for way, one in seen.items() if (test := pooled(one.strata, seed=seed)) is not None}
    strong = strongest(tests, among=[way for way in tests if seen[way].signs]) or strongest(tests)
    if strong is None:
        return Outcome(untested=untested)
    way, test = strong
    signs = seen[way].signs
    if not signs or test.speaks_against:
        return Outcome(test=test, untested=untested)
    firm = named(seen[way].strata, seed=seed) if test.p <= ALPHA else ()
    prompts = tuple(prompt for prompt in firm if prompt in signs) or tuple(signs)
    return Outcome(
        test=test,
        finding=Finding(
            cause="observer",
            evidence=f"{_told(prompts, *signs[prompts[0]])}; {tested(test)}",
            remedy=_REMEDIES[way],
            prompts=prompts,
            n=test.n,
            proof="test",
        ),
    )


def _seen(evidence: Evidence, way: Way) -> _Seen | None:
    """What the pairs that differ in this way alone show; `None` where there are none."""
    seen, is_asked = _Seen(), False
    for one in evidence.prompts:
        for plain, asked in _pairs(one, way):
            is_asked = True
            if part := one.stratum({plain.name: 0, asked.name: 1}):
                seen.strata.setdefault(one.prompt.id, []).append(part)
            is_steady = plain.distinct.text == 1 and plain.completions > 1
            if is_steady and one.texts_of(asked) - one.texts_of(plain):
                seen.signs.setdefault(one.prompt.id, (plain, asked))
    return seen if is_asked else None


def _pairs(one: PromptEvidence, way: Way) -> Iterator[_Pair]:
    answered = [condition for condition in one.prompt.conditions if condition.completions]
    for plain in answered:
        for asked in answered:
            if plain.condition.factors_apart(asked.condition) == (way,) and getattr(asked.condition, way):
                yield plain, asked


def _told(prompts: tuple[str, ...], plain: ConditionAnalysis, asked: ConditionAnalysis) -> str:
    more = f" and {counted(len(prompts) - 1, 'more prompt')} like it" if len(prompts) > 1 else ""
    other = "always another" if asked.distinct.text == 1 else f"{asked.distinct.text} texts, not only that one,"
    return (
        f"in prompt {prompts[0]}{more}, {plain.name}: one text in all {plain.completions}; "
        f"{asked.name}: {other} in {asked.completions}"
    )
