"""From a run to its analysis: the functions that form an opinion.

The order in which attempts are stored never matters: each attempt carries its own place, and everything here is
taken in that order or counted. One prompt is judged at a time, so that a run may be longer than memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from statistics import median

import numpy as np

from temp0.core.analysis import (
    Analysis,
    CachedTokens,
    Comparison,
    ConditionAnalysis,
    DistinctText,
    KindCount,
    Length,
    PromptAnalysis,
    Tally,
    TotalAgreement,
    Verdict,
)
from temp0.core.cause.evidence import Evidence, PromptEvidence
from temp0.core.cause.gathering import prompt_evidence
from temp0.core.cause.inquiry import NOWHERE, Elsewhere, inquiry, of_record
from temp0.core.chapter import Chapter, Preface, chapters, preface
from temp0.core.company import company, is_shown
from temp0.core.comparison import holm, p_value
from temp0.core.cost import Cost, cost, whole_cost
from temp0.core.detail import DRAWN_ATTEMPTS, DRAWN_PROMPTS, DRAWN_TOKENS, TimelineEntry
from temp0.core.estimate import agreement, modal_share, variant_rate_upper
from temp0.core.facts import Facts, Weighed, completions, facts, grouped, one_by_one, weighed
from temp0.core.fork import Leaf, fork_tree, leaves_of
from temp0.core.junction import positions
from temp0.core.kind import kind
from temp0.core.level import Levels, levels
from temp0.core.plan import Condition
from temp0.core.replay import REPLAYED
from temp0.core.run import Attempt, Failure, Run, Sample
from temp0.core.text import sha256

Samples = Mapping[int, Sequence[Sample]]
"""The server's own counts by block."""


def analysis(run: Run) -> Analysis:
    """What the run proves, by the rules of docs/measuring.md."""
    return judged(preface(run), chapters(run))


def judged(front: Preface, parts: Iterable[Chapter]) -> Analysis:
    """The same of a run that comes chapter by chapter, in the plan's order."""
    return concluded(front, list(examined(front, parts)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """One prompt by itself: its analysis, what causes may look at, how many judged attempts were sent, and the cost."""

    prompt: PromptAnalysis
    evidence: PromptEvidence
    asked: int
    cost: Cost


def examined(front: Preface, parts: Iterable[Chapter]) -> Iterator[Examined]:
    """Each chapter by itself, which may be done anywhere and in any order."""
    for chapter in parts:
        known = facts(front, chapter)
        prompt = _prompt(known, front.samples, may_be_replayed="replays" in front.run.untold)
        evidence = prompt_evidence(known, prompt, front.samples)
        yield Examined(prompt=prompt, evidence=evidence, asked=len(chapter.judged), cost=_cost(known))


def all_evidence(front: Preface, parts: Sequence[Examined]) -> Evidence:
    """What causes may look at, of all prompts."""
    return Evidence(plan=front.run.plan, prompts=tuple(part.evidence for part in parts))


def concluded(front: Preface, parts: Sequence[Examined], elsewhere: Elsewhere = NOWHERE) -> Analysis:
    """What all prompts together prove; `parts` are in the plan's order, and some causes may be tried elsewhere."""
    run = front.run
    spent = whole_cost(part.cost for part in parts)
    prompts = _with_adjusted_p([part.prompt for part in parts])
    causes, untested = inquiry(all_evidence(front, parts), elsewhere)
    if run.untold:
        causes, untested = of_record(causes, untested)
    return Analysis(
        run=run.id,
        created=run.created,
        seed=run.plan.seed,
        requests=front.requests,
        cost=replace(spent, span=None) if run.untold else spent,  # the times of an imported run mean nothing
        finished=sum(part.asked for part in parts) >= run.plan.attempts,
        address=run.address,
        verdict=_worst(prompt.verdict for prompt in prompts),
        causes=causes,
        total_agreement=tuple(
            total
            for condition in run.plan.conditions
            if (total := _total_agreement(condition.name, prompts)) is not None
        ),
        prompts=prompts,
        untested=untested,
        exclusive=run.plan.exclusive,
        cold_by=run.cold_by,
        untold=run.untold,
        greedy=run.plan.greedy,
    )


def _cost(known: Facts) -> Cost:
    """What one prompt took: its judged attempts, and the fillers of their blocks, which belong to no other prompt."""
    judged = known.chapter.judged
    own = {attempt.block for attempt in judged}
    fillers = [filler for filler in known.chapter.fillers if filler.block in own]
    replayed = [attempt for attempt in judged if attempt.order in known.replays] if known.replays else []
    return cost([*judged, *fillers], [*known.everything, *weighed(completions([*replayed, *fillers]))])


def _prompt(known: Facts, samples: Samples, *, may_be_replayed: bool = False) -> PromptAnalysis:
    levels_of = {
        condition.name: levels(answer for answer, _ in known.answers.get(condition.name, ()))
        for condition in known.plan.conditions
    }
    by_name = {
        condition.name: _condition(
            known, condition, samples, levels_of[condition.name], may_be_replayed=may_be_replayed
        )
        for condition in known.plan.conditions
    }
    conditions = tuple(by_name.values())
    comparisons = tuple(
        _comparison(known, by_name[a.name], by_name[b.name], levels_of[a.name] | levels_of[b.name])
        for a, b in known.plan.pairs
    )
    leaves = leaves_of(one_by_one(known.everything))
    everything = reduce(or_, levels_of.values())
    prompt = PromptAnalysis(
        id=known.chapter.prompt.id,
        text=known.chapter.prompt.text,
        verdict=_prompt_verdict(conditions, comparisons),
        distinct=everything.distinct,
        texts=_texts(known, leaves),
        conditions=conditions,
        comparisons=comparisons,
        tree=fork_tree(leaves),
        first_difference=everything.first_difference,
    )
    return _with_details(prompt, known) if len(known.plan.prompts) <= DRAWN_PROMPTS else prompt


def _with_details(prompt: PromptAnalysis, known: Facts) -> PromptAnalysis:
    """What only a drawing needs: margins along the answer, and when each attempt ran."""
    judged = known.chapter.judged
    return replace(
        prompt,
        positions=positions(prompt, list(one_by_one(known.everything)), most=DRAWN_TOKENS),
        timeline=tuple(_entry(one, known) for one in judged) if len(judged) <= DRAWN_ATTEMPTS else (),
    )


def _entry(one: Attempt, known: Facts) -> TimelineEntry:
    answer = one.outcome
    return TimelineEntry(
        started_s=one.started_s,
        ended_s=one.ended_s,
        condition=one.condition,
        sha256=None if isinstance(answer, Failure) else sha256(answer.text),
        failure=answer.reason if isinstance(answer, Failure) else None,
        is_excluded=one.order in known.replays,
        in_flight=one.in_flight,
    )


def _condition(
    known: Facts, condition: Condition, samples: Samples, seen: Levels, *, may_be_replayed: bool
) -> ConditionAnalysis:
    attempts = known.judged.get(condition.name, ())
    answers = known.answers.get(condition.name, ())
    table = known.rows(condition.name)
    reached = company(condition, known.blocks(condition), samples, known.paces)
    own = {attempt.block for attempt in attempts}
    return ConditionAnalysis(
        condition=condition,
        company=reached,
        verdict=_condition_verdict(answers, seen, not may_be_replayed if reached.asked == 0 else is_shown(reached)),
        attempts=len(attempts),
        completions=len(known.counted.get(condition.name, ())),
        fillers=sum(filler.block in own for filler in known.chapter.fillers),
        failures=tallies(
            (attempt.outcome.reason, attempt.outcome.message)
            for attempt in attempts
            if isinstance(attempt.outcome, Failure)
        ),
        excluded=tallies(
            (REPLAYED, known.replays[attempt.order]) for attempt in attempts if attempt.order in known.replays
        ),
        distinct=seen.distinct,
        agreement=agreement(table, seed=known.plan.seed),
        modal_share=modal_share(table),
        variant_rate_upper=variant_rate_upper(table),
        length=_length(answers),
        first_difference=seen.first_difference,
        cached_tokens=_cached_tokens(answers),
        kinds=_kinds(answers),
    )


def _condition_verdict(answers: Weighed, seen: Levels, shown: bool) -> Verdict:
    """Diverged where texts differ, or, beside equal texts, the tools that were to be called."""
    if _differ(seen):
        return Verdict.DIVERGED
    says_nothing = seen.texts == {""} and not any(seen.tool_calls)
    if sum(count for _, count in answers) < 2 or not shown or says_nothing:
        return Verdict.UNDECIDED
    return Verdict.AGREED


def _differ(seen: Levels) -> bool:
    return len(seen.texts) > 1 or len(seen.tool_calls) > 1


def _comparison(known: Facts, a: ConditionAnalysis, b: ConditionAnalysis, both: Levels) -> Comparison:
    weaker = Verdict.UNDECIDED if Verdict.UNDECIDED in (a.verdict, b.verdict) else Verdict.AGREED
    return Comparison(
        a=a.name,
        b=b.name,
        verdict=Verdict.DIVERGED if _differ(both) else weaker,
        p=_p(known, a.name, b.name) if a.completions and b.completions else None,
        p_adjusted=None,
        first_difference=both.first_difference,
    )


def _p(known: Facts, a: str, b: str) -> float:
    """How often chance alone looks like this; 1 where all blocks of both are alike."""
    if known.kinds is None:
        return 1.0
    labels = {a: 0, b: 1}
    of = np.array([labels.get(condition.name, -1) for condition in known.plan.conditions])
    stratum = known.kinds.stratum(of[known.condition_of])
    p = p_value([stratum] if stratum else [], seed=known.plan.seed)
    return 1.0 if p is None else p


def _prompt_verdict(conditions: Sequence[ConditionAnalysis], comparisons: Sequence[Comparison]) -> Verdict:
    """The worst of what counts: attempts with logprobs decide only where no plain condition was planned."""
    plain = [one for one in conditions if not one.condition.logprobs]
    deciding = {one.name: one.condition.stream for one in plain or conditions}
    counted = [
        pair.verdict
        for pair in comparisons
        if pair.a in deciding and pair.b in deciding and deciding[pair.a] == deciding[pair.b]
    ]
    return _worst([*(one.verdict for one in conditions if one.name in deciding), *counted])


def _worst(verdicts: Iterable[Verdict]) -> Verdict:
    seen = set(verdicts)
    return next(one for one in (Verdict.DIVERGED, Verdict.UNDECIDED, Verdict.AGREED) if one in seen)


def _texts(known: Facts, leaves: Sequence[Leaf]) -> tuple[DistinctText, ...]:
    counts: dict[str, Counter[str]] = {name: Counter() for name in known.answers}
    for name, answers in known.answers.items():
        for answer, count in answers:
            counts[name][answer.text] += count
    names = [condition.name for condition in known.plan.conditions]
    return tuple(
        DistinctText(
            sha256=leaf.sha256,
            count=leaf.count,
            text=leaf.text,
            finishes=leaf.finishes,
            conditions=tuple(
                (name, counts[name][leaf.text]) for name in names if name in counts and counts[name][leaf.text]
            ),
        )
        for leaf in sorted(leaves, key=lambda leaf: (-leaf.count, leaf.text))  # as branches of a fork tree are
    )


def _length(answers: Weighed) -> Length | None:
    lengths = [len(answer.text) for answer in one_by_one(answers)]
    return Length(min=min(lengths), median=median(lengths), max=max(lengths)) if lengths else None


def _cached_tokens(answers: Weighed) -> CachedTokens | None:
    told = [cached for answer in one_by_one(answers) if (cached := answer.usage.cached) is not None]
    return CachedTokens(min=min(told), median=median(told), max=max(told), n=len(told)) if told else None


def _kinds(answers: Weighed) -> tuple[KindCount, ...]:
    """How many completions are of each kind, the commonest first."""
    counts = Counter[str]()
    for answer, count in answers:
        counts[kind(answer)] += count
    return tuple(KindCount(kind=one, count=counts[one]) for one in sorted(counts, key=lambda one: (-counts[one], one)))


def tallies(told: Iterable[tuple[str, str]]) -> tuple[Tally, ...]:
    """How often each reason was told, the commonest first, with the first message of each."""
    by_reason = grouped(told)
    found = [Tally(reason=reason, count=len(same), message=same[0]) for reason, same in by_reason.items()]
    return tuple(sorted(found, key=lambda tally: (-tally.count, tally.reason)))


def _with_adjusted_p(prompts: Sequence[PromptAnalysis]) -> tuple[PromptAnalysis, ...]:
    """Holm over the prompts, for each pair of conditions by itself."""
    columns = [holm(ps) for ps in zip(*([pair.p for pair in prompt.comparisons] for prompt in prompts), strict=True)]
    return tuple(
        replace(
            prompt,
            comparisons=tuple(
                replace(pair, p_adjusted=column[row]) for pair, column in zip(prompt.comparisons, columns, strict=True)
            ),
        )
        for row, prompt in enumerate(prompts)
    )


def _total_agreement(condition: str, prompts: Sequence[PromptAnalysis]) -> TotalAgreement | None:
    """TARr@N (Atil et al., arXiv 2408.04667) over the prompts with at least two completions."""
    seen = [one for prompt in prompts for one in prompt.conditions if one.name == condition and one.completions >= 2]
    if not seen:
        return None
    equal = sum(one.distinct.text == 1 for one in seen)
    n = min(one.completions for one in seen)
    return TotalAgreement(condition=condition, n=n, prompts=len(seen), value=equal / len(seen))
