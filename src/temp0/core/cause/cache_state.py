"""Cause `cache-state`: the text depends on whether the prompt was in the server's prefix cache."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from temp0.core.analysis import ConditionAnalysis
from temp0.core.cause.evidence import Evidence, Labelled, PromptEvidence, Singles
from temp0.core.cause.finding import Finding, Outcome, PooledTest, named, pooled
from temp0.core.cause.wording import counted, groups, tested
from temp0.core.comparison import Stratum, holm
from temp0.core.estimate import ALPHA
from temp0.core.text import sha256

_REMEDY = (
    "turn the prefix cache off for answers that must repeat (vLLM --no-enable-prefix-caching, SGLang "
    "--disable-radix-cache, llama.cpp cache_prompt false, temp0 serve --no-prefix-cache), or use an engine whose "
    "answers do not depend on it (temp0 serve --arithmetic invariant); then measure again: temp0 probe URL --ask cache"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Route:
    """One way to see an effect of the cache: its strata, the prompts that show it, whether a flush reproduced it."""

    test: PooledTest | None
    prompts: tuple[str, ...]
    named: tuple[str, ...]
    told: str
    is_reproduced: bool


def cache_state(evidence: Evidence) -> Outcome:
    """Cold equals cold, warm equals warm and cold differs from warm; or the first answer differs from all later ones.

    Asked cold and warm, a test between the two. Asked as found, texts against the cached tokens that the server told,
    or the first attempt of a prompt against its later ones, pooled over prompts; that is found only where emptying
    the cache gave the first text again, and else suspected.
    """
    routes = [route for route in (_by_condition(evidence), _by_place(evidence)) if route is not None]
    tests = [route.test for route in routes if route.test is not None]
    if not routes:
        return Outcome(untested=_untested(evidence))
    adjusted = iter(holm([test.p for test in tests]))
    test = None
    for route in routes:
        p = next(adjusted) if route.test else None
        if p is not None and route.test and (test is None or p < test.p):
            test = PooledTest(p=p, least=route.test.least, n=route.test.n)
    signs = [route for route in routes if route.prompts and not (route.test and route.test.speaks_against)]
    if not signs:
        return Outcome(test=test)
    best = next((route for route in signs if route.is_reproduced), signs[0])
    return Outcome(
        test=test,
        finding=Finding(
            cause="cache-state",
            evidence=f"{best.told}; {tested(best.test) if best.test else 'no test can grade that'}",
            remedy=_REMEDY,
            prompts=best.named or best.prompts,
            n=best.test.n if best.test else len(best.prompts),
            proof="test" if best.is_reproduced else "none",
        ),
    )


def _by_condition(evidence: Evidence) -> _Route | None:
    """Conditions that differ in nothing but cold and warm."""
    strata: dict[str, list[Stratum]] = {}
    clean: dict[str, tuple[ConditionAnalysis, ConditionAnalysis]] = {}
    is_asked, by_logprobs = False, set()
    for one in evidence.prompts:
        for cold, warm in _pairs(one):
            is_asked = True
            if part := one.stratum({cold.name: 0, warm.name: 1}):
                strata.setdefault(one.prompt.id, []).append(part)
            if one.texts_of(cold) != one.texts_of(warm) and cold.distinct.text == 1 == warm.distinct.text:
                clean.setdefault(one.prompt.id, (cold, warm))
            if _logprobs_differ(one, cold, warm):
                by_logprobs.add(one.prompt.id)
    if not is_asked:
        return None
    test = pooled(strata, seed=evidence.plan.seed)
    firm = named(strata, seed=evidence.plan.seed) if test and test.p <= ALPHA else ()
    is_steady = any(min(cold.completions, warm.completions) > 1 for cold, warm in clean.values())
    return _Route(
        test=test,
        prompts=tuple(clean),
        named=tuple(name for name in firm if name in clean),
        told=_told(evidence, clean, firm, len(by_logprobs)),
        is_reproduced=is_steady and not any(_is_lukewarm(cold) for cold, _ in clean.values()),
    )


def _pairs(one: PromptEvidence) -> Iterator[tuple[ConditionAnalysis, ConditionAnalysis]]:
    answered = [condition for condition in one.prompt.conditions if condition.completions]
    for cold in answered:
        for warm in answered:
            is_pair = (cold.condition.cache, warm.condition.cache) == ("cold", "warm")
            if is_pair and cold.condition.factors_apart(warm.condition) == ("cache",):
                yield cold, warm


def _is_lukewarm(cold: ConditionAnalysis) -> bool:
    """Whether the server told cached tokens in a condition that should have been cold."""
    return cold.cached_tokens is not None and cold.cached_tokens.max > 0


def _logprobs_differ(one: PromptEvidence, cold: ConditionAnalysis, warm: ConditionAnalysis) -> bool:
    pair = next((pair for pair in one.prompt.comparisons if {pair.a, pair.b} == {cold.name, warm.name}), None)
    return pair is not None and pair.first_difference.logprobs is not None


def _told(
    evidence: Evidence,
    clean: Mapping[str, tuple[ConditionAnalysis, ConditionAnalysis]],
    firm: Collection[str],
    by_logprobs: int,
) -> str:
    if not clean:
        return "cold and warm differ in no prompt"
    surely = [name for name in clean if name in firm]
    first = next(iter(surely or clean))
    cold, warm = clean[first]
    asked = len(evidence.prompts)
    deeper = f", its logprobs in {by_logprobs:,}" if by_logprobs else ""
    lukewarm = "; the server told cached tokens in what should have been cold" if _is_lukewarm(cold) else ""
    by_themselves = f" (in {len(surely):,} of them beyond chance)" if 0 < len(surely) < len(clean) else ""
    where = f" in {len(clean):,} of {counted(asked, 'prompt')}{by_themselves}{deeper}" if asked > 1 else ""
    return (
        f"the text differs between cold and warm{where}: in prompt "
        f"{first} cold always one text ({cold.completions} of {cold.completions}), warm always another "
        f"({warm.completions} of {warm.completions}){lukewarm}"
    )


def _by_place(evidence: Evidence) -> _Route | None:
    """Attempts alone, asked as found: by the cached tokens that the server told, else the first against the later."""
    found: dict[str, list[tuple[Singles, Labelled]]] = {}
    for one in evidence.prompts:
        for single in one.singles:
            if single.condition.cache == "as-found" and (labelled := single.cached or single.first) is not None:
                found.setdefault(one.prompt.id, []).append((single, labelled))
    if not found:
        return None
    strata = {
        name: [labelled.stratum for _, labelled in own if labelled.stratum is not None] for name, own in found.items()
    }
    test = pooled(strata, seed=evidence.plan.seed)
    lined = {name: labelled for name, own in found.items() for _, labelled in own if labelled.lines_up}
    firm = named(strata, seed=evidence.plan.seed) if test and test.p <= ALPHA else ()
    shown = [name for name in firm if name in lined] or list(lined)
    first = next(iter(shown), None)
    more = f" and {counted(len(shown) - 1, 'more prompt')} like it" if len(shown) > 1 else ""
    told = "" if first is None else f"in prompt {first}{more} {_what(found[first], lined[first])}"
    return _Route(
        test=test,
        prompts=tuple(lined),
        named=tuple(name for name in shown if name in firm),
        told=told + _again(evidence, lined),
        is_reproduced=any(_recurs(labelled) for labelled in lined.values()) or bool(_flushed(evidence, lined)),
    )


def _what(own: Sequence[tuple[Singles, Labelled]], labelled: Labelled) -> str:
    by_tokens = any(labelled is single.cached for single, _ in own)
    if by_tokens:
        return f"the text depends on how many prompt tokens came from the cache: {groups(labelled)}"
    later = sum(group.attempts for group in labelled.groups if group.value != "first")
    return f"the first answer is one text and {'the later one' if later == 1 else f'all {later:,} later ones'} another"


def _recurs(labelled: Labelled) -> bool:
    """Whether every state of the cache came at least twice, so that one odd answer cannot be all there is to it."""
    return all(group.attempts > 1 for group in labelled.groups)


def _flushed(evidence: Evidence, lined: Mapping[str, Labelled]) -> tuple[str, ...]:
    """The prompts whose first text came again, and alone, in a cold condition."""
    return tuple(
        one.prompt.id
        for one in evidence.prompts
        if one.prompt.id in lined
        for cold in one.prompt.conditions
        if cold.condition.cache == "cold" and cold.completions > 1 and cold.distinct.text == 1
        if sha256(_first_text(lined[one.prompt.id])) in one.texts_of(cold)
    )


def _first_text(labelled: Labelled) -> str:
    """The text of the coldest state: that of the first attempt, or of the fewest cached tokens."""
    first = [group for group in labelled.groups if group.value == "first"]
    coldest = first or sorted(labelled.groups, key=lambda group: int(group.value) if group.value.isdecimal() else 0)
    return coldest[0].modal


def _again(evidence: Evidence, lined: Mapping[str, Labelled]) -> str:
    if not lined:
        return ""
    again = _flushed(evidence, lined)
    if again:
        return f"; emptying the cache gave the first text again in {counted(len(again), 'prompt')}"
    return "" if any(map(_recurs, lined.values())) else "; not reproduced by emptying the cache"


def _untested(evidence: Evidence) -> str:
    asked = {condition.cache for condition in evidence.plan.conditions}
    if asked == {"as-found"}:
        return "the cache was asked as found only, and no first answer differs; --ask cache asks cold and warm"
    return "cold and warm were not both asked, all else equal"
