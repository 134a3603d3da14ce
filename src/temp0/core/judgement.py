"""From a run to its analysis: the one function that forms an opinion.

The order in which attempts are stored never matters: each attempt carries its own place, and everything here is
taken in that order or counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import median
from typing import TypeVar

import numpy as np

from temp0.core.analysis import (
    Analysis,
    Comparison,
    ConditionAnalysis,
    Distinct,
    DistinctText,
    Length,
    PromptAnalysis,
    Tally,
    TotalAgreement,
    Verdict,
)
from temp0.core.cause import Evidence, causes
from temp0.core.company import Pace, company, is_shown, paces, with_neighbours
from temp0.core.comparison import holm, permutation_p
from temp0.core.estimate import Table, agreement, modal_share, variant_rate_upper
from temp0.core.fork import Leaf, finishes, fork_tree
from temp0.core.plan import Condition, Plan, Prompt
from temp0.core.run import Attempt, Completion, Failure, Run, Sample
from temp0.core.text import sha256

Key = TypeVar("Key")
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Facts:
    """One prompt's attempts and what is needed to read them."""

    plan: Plan
    prompt: Prompt
    judged: Mapping[str, Sequence[Attempt]]
    blocks: Mapping[str, Mapping[int, Sequence[Attempt]]]
    samples: Mapping[int, Sequence[Sample]]
    paces: Mapping[str, Pace]
    hashes: tuple[str, ...]
    columns: Mapping[str, int]


def analysis(run: Run) -> Analysis:
    """What the run proves, by the rules of docs/measuring.md."""
    attempts = sorted(run.attempts, key=lambda attempt: attempt.order)
    alone = frozenset(condition.name for condition in run.plan.conditions if condition.company == 1)
    pace_of = paces(attempts, alone)
    samples = _grouped((sample.block, sample) for sample in sorted(run.samples, key=lambda sample: sample.at_s))
    blocks = with_neighbours(_grouped((attempt.block, attempt) for attempt in attempts))
    judged = _grouped((attempt.prompt, attempt) for attempt in attempts if attempt.role == "judged")
    prompts = _with_adjusted_p(
        [
            _prompt(_facts(run.plan, prompt, judged.get(prompt.id, []), blocks, samples, pace_of))
            for prompt in run.plan.prompts
        ]
    )
    return Analysis(
        run=run.id,
        created=run.created,
        seed=run.plan.seed,
        requests=len(attempts),
        finished=sum(map(len, judged.values())) >= run.plan.attempts,
        address=run.address,
        verdict=_worst(prompt.verdict for prompt in prompts),
        causes=causes(_evidence(run.plan, prompts, attempts)),
        total_agreement=tuple(
            total
            for condition in run.plan.conditions
            if (total := _total_agreement(condition.name, prompts)) is not None
        ),
        prompts=prompts,
    )


def _facts(
    plan: Plan,
    prompt: Prompt,
    judged: Sequence[Attempt],
    blocks: Mapping[int, Sequence[Attempt]],
    samples: Mapping[int, Sequence[Sample]],
    pace_of: Mapping[str, Pace],
) -> _Facts:
    hash_of = {text: sha256(text) for text in {one.text for one in _completions(judged)}}
    hashes = tuple(sorted(hash_of.values()))
    column_of = {digest: column for column, digest in enumerate(hashes)}
    own_blocks: dict[str, dict[int, Sequence[Attempt]]] = {}
    for attempt in judged:
        own_blocks.setdefault(attempt.condition, {})[attempt.block] = blocks[attempt.block]
    return _Facts(
        plan=plan,
        prompt=prompt,
        judged=_grouped((attempt.condition, attempt) for attempt in judged),
        blocks=own_blocks,
        samples=samples,
        paces=pace_of,
        hashes=hashes,
        columns={text: column_of[digest] for text, digest in hash_of.items()},
    )


def _prompt(facts: _Facts) -> PromptAnalysis:
    conditions = tuple(_condition(facts, condition) for condition in facts.plan.conditions)
    comparisons = tuple(_comparison(facts, a, b) for a, b in combinations(conditions, 2))
    everything = [attempt for attempts in facts.judged.values() for attempt in attempts]
    leaves = _leaves(_completions(sorted(everything, key=lambda attempt: attempt.order)))
    return PromptAnalysis(
        id=facts.prompt.id,
        text=facts.prompt.text,
        verdict=_prompt_verdict(conditions, comparisons),
        distinct=_distinct(_completions(everything)),
        texts=_texts(facts, leaves),
        conditions=conditions,
        comparisons=comparisons,
        tree=fork_tree(leaves),
    )


def _condition(facts: _Facts, condition: Condition) -> ConditionAnalysis:
    attempts = facts.judged.get(condition.name, ())
    blocks = facts.blocks.get(condition.name, {})
    completions = _completions(attempts)
    table = _table(facts, condition.name)
    reached = company(condition, blocks, facts.samples, facts.paces)
    return ConditionAnalysis(
        condition=condition,
        company=reached,
        verdict=_condition_verdict(completions, is_shown(reached)),
        attempts=len(attempts),
        completions=len(completions),
        fillers=sum(_own_fillers(index, block) for index, block in blocks.items()),
        failures=_tallies([attempt.outcome for attempt in attempts if isinstance(attempt.outcome, Failure)]),
        excluded=(),
        distinct=_distinct(completions),
        agreement=agreement(table, seed=facts.plan.seed),
        modal_share=modal_share(table),
        variant_rate_upper=variant_rate_upper(table),
        length=_length(completions),
    )


def _own_fillers(index: int, block: Sequence[Attempt]) -> int:
    return sum(attempt.role == "filler" and attempt.block == index for attempt in block)


def _condition_verdict(completions: Sequence[Completion], shown: bool) -> Verdict:
    texts = {completion.text for completion in completions}
    if len(texts) > 1:
        return Verdict.DIVERGED
    if len(completions) < 2 or not shown or texts == {""}:
        return Verdict.UNDECIDED
    return Verdict.AGREED


def _comparison(facts: _Facts, a: ConditionAnalysis, b: ConditionAnalysis) -> Comparison:
    tables = _table(facts, a.name), _table(facts, b.name)
    texts = np.count_nonzero(np.concatenate(tables).sum(axis=0))
    weaker = Verdict.UNDECIDED if Verdict.UNDECIDED in (a.verdict, b.verdict) else Verdict.AGREED
    return Comparison(
        a=a.name,
        b=b.name,
        verdict=Verdict.DIVERGED if texts > 1 else weaker,
        p=permutation_p(*tables, seed=facts.plan.seed),
        p_adjusted=None,
    )


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


def _completions(attempts: Iterable[Attempt]) -> list[Completion]:
    return [attempt.outcome for attempt in attempts if isinstance(attempt.outcome, Completion)]


def _table(facts: _Facts, condition: str) -> Table:
    """Counts of each text (a column, by hash) in each block (a row) that gave a completion."""
    by_block = _grouped((attempt.block, attempt) for attempt in facts.judged.get(condition, ()))
    rows = [_completions(by_block[index]) for index in sorted(by_block)]
    rows = [row for row in rows if row]
    table = np.zeros((len(rows), len(facts.hashes)), dtype=np.int64)
    for row, completions in zip(table, rows, strict=True):
        for completion in completions:
            row[facts.columns[completion.text]] += 1
    return table


def _leaves(completions: Sequence[Completion]) -> list[Leaf]:
    return [
        Leaf(
            text=text,
            sha256=sha256(text),
            count=len(same),
            finishes=finishes(Counter(one.finish for one in same)),
            tokens=next((one.tokens for one in same if one.tokens is not None), None),
        )
        for text, same in _grouped((completion.text, completion) for completion in completions).items()
    ]


def _texts(facts: _Facts, leaves: Sequence[Leaf]) -> tuple[DistinctText, ...]:
    counts = {name: Counter(one.text for one in _completions(attempts)) for name, attempts in facts.judged.items()}
    names = [condition.name for condition in facts.plan.conditions]
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
        for leaf in sorted(leaves, key=lambda leaf: (-leaf.count, leaf.sha256))
    )


def _distinct(completions: Sequence[Completion]) -> Distinct:
    tokens = {tuple(token.bytes for token in one.tokens) for one in completions if one.tokens is not None}
    logprobs = {
        tuple((token.bytes, token.logprob) for token in one.tokens)
        for one in completions
        if one.tokens and all(token.logprob is not None for token in one.tokens)
    }
    return Distinct(
        text=len({one.text for one in completions}),
        tokens=len(tokens) or None,
        logprobs=len(logprobs) or None,
    )


def _length(completions: Sequence[Completion]) -> Length | None:
    lengths = [len(completion.text) for completion in completions]
    return Length(min=min(lengths), median=median(lengths), max=max(lengths)) if lengths else None


def _tallies(failures: Sequence[Failure]) -> tuple[Tally, ...]:
    by_reason = _grouped((failure.reason, failure) for failure in failures)
    tallies = [Tally(reason=reason, count=len(same), message=same[0].message) for reason, same in by_reason.items()]
    return tuple(sorted(tallies, key=lambda tally: (-tally.count, tally.reason)))


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


def _evidence(plan: Plan, prompts: Sequence[PromptAnalysis], attempts: Sequence[Attempt]) -> Evidence:
    return Evidence(
        prompts=prompts,
        planned={
            (prompt.id, condition.name): plan.judged(prompt, condition)
            for prompt in plan.prompts
            for condition in plan.conditions
        },
        reasoned=frozenset(
            attempt.prompt
            for attempt in attempts
            if isinstance(attempt.outcome, Completion) and attempt.outcome.reasoning and not attempt.outcome.text
        ),
    )


def _grouped(pairs: Iterable[tuple[Key, Item]]) -> dict[Key, list[Item]]:
    groups: dict[Key, list[Item]] = {}
    for key, item in pairs:
        groups.setdefault(key, []).append(item)
    return groups
