"""Analyses that say why: causes, levels, witnesses, margins and many conditions, set by hand on runs of a few texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import product

import analysis_samples as samples
from analysis_samples import ALONE, COMPANY, COMPANY_FOUND, UNTESTED, Maker, analyzed

from temp0.core.analysis import (
    Analysis,
    CachedTokens,
    Cause,
    Choice,
    Company,
    Comparison,
    ConditionAnalysis,
    Distribution,
    Margin,
    Positions,
    PromptAnalysis,
)
from temp0.core.plan import Condition

COLD, WARM = Condition(cache="cold"), Condition(cache="warm")
ASKED = Condition(logprobs=True)
CROWD = Condition(company=128)

SHARED = "A stale line remembers what the page has "
NEAR = Margin(
    value=0.0031,
    kind="near",
    shift=0.0127,
    distributions=(
        Distribution(
            chosen=" forgotten",
            margin=0.0031,
            choices=(
                Choice(text=" forgotten", logprob=-0.7011),
                Choice(text=" lost", logprob=-0.7042),
                Choice(text=" since", logprob=-6.1),
                Choice(text="\n", logprob=-7.25),
            ),
        ),
        Distribution(
            chosen=" lost",
            margin=0.0214,
            choices=(
                Choice(text=" lost", logprob=-0.6924),
                Choice(text=" forgotten", logprob=-0.7138),
                Choice(text="", logprob=-5.8),
            ),
        ),
    ),
)
TIED = Margin(
    value=0.0,
    kind="exact-tie",
    shift=0.0,
    distributions=(
        Distribution(
            chosen="is", margin=0.0, choices=(Choice(text="is", logprob=-1.06), Choice(text="was", logprob=-1.06))
        ),
        Distribution(
            chosen="was", margin=0.0, choices=(Choice(text="is", logprob=-1.06), Choice(text="was", logprob=-1.06))
        ),
    ),
)

CACHE_SUSPECTED = Cause(
    cause="cache-state",
    certainty="suspected",
    evidence="in prompt E the text lines up with its place: first one text in 1, later 2 texts in 29; not reproduced "
    "by emptying the cache; p = 0.067 over 30 blocks",
    remedy="turn the prefix cache off for answers that must repeat, then measure again: temp0 probe URL --ask cache",
    prompts=("E",),
    n=30,
    p=0.067,
    p_adjusted=0.067,
)
OBSERVER = Cause(
    cause="observer",
    certainty="found",
    evidence="alone always one text (20 of 20), alone, logprobs 2 texts in 20, not all that one, in prompt haiku; "
    "p = 0.0031 over 40 blocks",
    remedy="judge by the plain attempts, as this verdict does",
    prompts=("haiku",),
    n=40,
    p=0.0031,
    p_adjusted=0.0031,
)
CUT = Cause(
    cause="short-window",
    certainty="found",
    evidence="every completion ended by length, the longest after 82 characters; forks later than that cannot be seen",
    remedy="raise --max-tokens to see further",
    prompts=("A",),
)
On = Mapping[str, Mapping[str, Mapping[str, object]]]


def on(found: Analysis, changes: On, pairs: Mapping[tuple[str, str], Positions] | None = None) -> Analysis:
    """The same analysis with fields of some conditions changed, by prompt and condition; `pairs` sets positions."""

    def condition(prompt: PromptAnalysis, one: ConditionAnalysis) -> ConditionAnalysis:
        return replace(one, **changes.get(prompt.id, {}).get(one.name, {}))

    def compared(pair: Comparison) -> Comparison:
        return replace(pair, first_difference=(pairs or {}).get((pair.a, pair.b), pair.first_difference))

    return replace(
        found,
        prompts=tuple(
            replace(
                prompt,
                conditions=tuple(condition(prompt, one) for one in prompt.conditions),
                comparisons=tuple(map(compared, prompt.comparisons)),
            )
            for prompt in found.prompts
        ),
    )


def deep(found: Analysis, first: Positions, **distinct: int) -> Analysis:
    """The same analysis with the levels of every prompt set."""
    return replace(
        found,
        prompts=tuple(
            replace(prompt, first_difference=first, distinct=replace(prompt.distinct, **distinct))
            for prompt in found.prompts
        ),
    )


def with_margin(found: Analysis, margin: Margin) -> Analysis:
    """The same analysis with this margin at the first fork of every prompt that has one."""
    trees = [
        prompt.tree and replace(prompt.tree, fork=prompt.tree.fork and replace(prompt.tree.fork, margin=margin))
        for prompt in found.prompts
    ]
    return replace(
        found, prompts=tuple(replace(prompt, tree=tree) for prompt, tree in zip(found.prompts, trees, strict=True))
    )


@cache
def explained() -> Analysis:
    """The five prompts with a note, a cause suspected, one found, and causes that could not be tested."""
    found = replace(COMPANY_FOUND, prompts=("C", "D"))
    return replace(samples.five_prompts(), causes=(CUT, CACHE_SUSPECTED, found))


@cache
def observed() -> Analysis:
    """Logprobs change the answer: plain attempts agree, those with logprobs fork at a near tie."""
    texts = [f"{SHARED}forgotten."] * 14 + [f"{SHARED}lost."] * 6
    found = analyzed({"haiku": {ALONE: [f"{SHARED}forgotten."] * 20, ASKED: texts}})
    deeper = deep(found, Positions(text=41, tokens=8, logprobs=0, top_logprobs=0), tokens=2, logprobs=9, top_logprobs=9)
    return replace(with_margin(deeper, NEAR), causes=(OBSERVER,), untested=UNTESTED[:2])


@cache
def tied() -> Analysis:
    """Two branches that saw the same and chose differently, in texts that folding makes one."""
    found = deep(analyzed({"tie": {ALONE: ["It is so. "] * 3 + ["It is so."] * 5}}), Positions(text=9), folded=1)
    return replace(with_margin(found, TIED), exclusive=True)


@cache
def cold_and_warm() -> Analysis:
    """Cold and warm give one text by two computations; what was cold did not stay so for one prompt."""
    text = "The answer is 446."
    found = analyzed(
        {name: {ALONE: [text] * 6, COLD: [text] * 10, WARM: [text] * 10} for name in ("A", "B")}, running=None
    )
    apart = Positions(logprobs=0, top_logprobs=0)
    seen = {
        "alone": {"cached_tokens": CachedTokens(min=0, median=0.0, max=0, n=6)},
        "alone, cache cold": {"cached_tokens": CachedTokens(min=0, median=0.0, max=0, n=10)},
        "alone, cache warm": {"cached_tokens": CachedTokens(min=12, median=13.5, max=14, n=9)},
    }
    spoiled = seen | {"alone, cache cold": {"cached_tokens": CachedTokens(min=0, median=0.0, max=4, n=10)}}
    told = on(found, {"A": seen, "B": spoiled}, {("alone, cache cold", "alone, cache warm"): apart})
    return replace(
        deep(told, apart, tokens=1, logprobs=2, top_logprobs=2),
        cold_by="POST /reset_prefix_cache",
        untested=UNTESTED[2:],
    )


@cache
def untold_cache() -> Analysis:
    """A server that tells nothing of its cache, and no record of how it was made cold."""
    return analyzed({"A": {COLD: ["one"] * 4, WARM: ["two"] * 4}})


@cache
def load_missed() -> Analysis:
    """Company that did not come: a pool too small, a server that answers one at a time, a load too late."""
    texts = ["always the same"] * 128
    conditions = {ALONE: texts[:4], Condition(company=4): texts[:8], COMPANY: texts[:16], CROWD: texts}
    found = analyzed({"A": conditions, "B": conditions}, running=None)
    asked = {
        "company 4": Company(asked=4, reached=None, measured_by=None, in_flight=3.9, peak=4, shortfall="late"),
        "company 8": Company(asked=8, reached=1.0, measured_by="speed-up", in_flight=7.8, peak=8, shortfall="serial"),
        "company 128": Company(
            asked=128, reached=100.0, measured_by="server", in_flight=99.2, peak=100, shortfall="pool"
        ),
    }
    changes = {name: {"company": company} for name, company in asked.items()}
    return replace(on(found, {"A": changes, "B": changes}), untested=UNTESTED[:2])


@cache
def crossed(levels: Sequence[int] = (1, 2, 4, 8, 32)) -> Analysis:
    """Twenty conditions: company crossed with streaming and the state of the cache; answers follow company."""
    answers = {}
    for name, rate in (("short", 0.0), ("long", 1.0), ("longest", 1.6)):
        answers[name] = {
            Condition(company=k, stream=stream, cache=cache): texts_at(k, rate, warm=cache == "warm")
            for k, stream, cache in product(levels, (False, True), ("cold", "warm"))
        }
    found = analyzed(answers)
    told = "prompt long and 1 more prompt like it: alone, cache cold always one text in 32; company 2, cache cold 0 of "
    told += "32 unlike it, company 32, cache cold 19 of 32 unlike it; the share rises with company; "
    told += "p < 0.0001 over 416 blocks"
    cause = replace(COMPANY_FOUND, prompts=("long", "longest"), evidence=told, p=0.00001, p_adjusted=0.00002)
    return replace(found, causes=(cause,), untested=UNTESTED[2:], cold_by="POST /reset_prefix_cache")


def texts_at(company: int, rate: float, *, warm: bool) -> list[str]:
    """Thirty-two answers, of which more are unlike the first the more company there is."""
    odd = min(30, round(rate * company * 0.6)) if company > 2 else 0
    tails = ["and a reader who forgot.", "and nobody who reads it.", "but one page remembers.", "or a ghost."]
    start = "The cache keeps an old line " + ("warm " if warm and rate > 1.5 else "")
    return [start + tails[0]] * (32 - odd) + [start + tails[1 + place % 3] for place in range(odd)]


@cache
def uncounted() -> Analysis:
    """Plain attempts agree; those with logprobs, and those streamed, do not, which does not count."""
    streamed = Condition(stream=True)
    return analyzed({"A": {ALONE: ["one"] * 5, streamed: ["one "] * 5, ASKED: ["one", "two", "two"]}})


OWN: tuple[Maker, ...] = (explained, observed, tied, cold_and_warm, untold_cache, load_missed, crossed, uncounted)
ALL: tuple[Maker, ...] = (*samples.ALL, *OWN)
