"""What a run says, in sentences for a person: the verdict, and how far it reaches.

The sentences follow from the analysis alone; numbers in them are the analysis's own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from temp0.core.analysis import Analysis, ConditionAnalysis, PromptAnalysis, Verdict
from temp0.report.figure import UNBROKEN, every, percent, some, times
from temp0.report.visible import beginning

_LISTED = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """The verdict in a sentence, and the sentences that say how far it reaches."""

    sentence: str
    reach: tuple[str, ...]


def headline(analysis: Analysis) -> Headline:
    """The first thing a person should read."""
    if analysis.exit_code == 3:
        return _nothing(analysis)
    by_verdict = {Verdict.DIVERGED: _diverged, Verdict.AGREED: _agreed, Verdict.UNDECIDED: _undecided}
    told = by_verdict[analysis.verdict](analysis)
    cut_short = ("The run is not finished; what is missing may change this.",) if not analysis.finished else ()
    return Headline(sentence=told.sentence, reach=told.reach + cut_short)


def answers(prompt: PromptAnalysis) -> str:
    """How many different answers a prompt got: `12 different texts in 30 completions`."""
    total = completions(prompt)
    if not total:
        return "no completion counted"
    texts = "one text" if prompt.distinct.text == 1 else f"{prompt.distinct.text:,} different texts"
    return f"{texts} in {some(total, 'completion')}"


def completions(prompt: PromptAnalysis) -> int:
    """The completions of a prompt that count, over all conditions."""
    return sum(condition.completions for condition in prompt.conditions)


def blocks(one: ConditionAnalysis) -> int:
    """The blocks that hold a completion of a condition; one completion stands in one block."""
    return one.agreement.n if one.agreement else one.completions


def deeper_level(prompt: PromptAnalysis) -> str | None:
    """Says which stricter level of equality breaks first where the text does not."""
    for level, count in (("token sequences", prompt.distinct.tokens), ("logprobs", prompt.distinct.logprobs)):
        if prompt.distinct.text == 1 and count is not None and count > 1:
            return f"One text, but {count:,} different {level}: equal text is not equal computation."
    return None


def total_agreement(analysis: Analysis) -> str:
    """TARr@N of each condition: `TARr@20: 100 % alone, 40 % company 8`; empty where it was not measured."""
    totals = analysis.total_agreement
    if len({total.n for total in totals}) == 1:
        return f"TARr@{totals[0].n}: " + ", ".join(f"{percent(one.value)} {one.condition}" for one in totals)
    return ", ".join(f"TARr@{one.n}: {percent(one.value)} {one.condition}" for one in totals)


def tested_pairs(prompts: Sequence[PromptAnalysis]) -> Counter[tuple[str, str]]:
    """Of how many prompts each pair of conditions was tested: what its adjusted p values are adjusted for."""
    return Counter((pair.a, pair.b) for prompt in prompts for pair in prompt.comparisons if pair.p is not None)


def listed(names: Sequence[str]) -> str:
    """Prompt names in a row, cut after some: `A, B and 3 more`."""
    shown = [beginning(name, 40) for name in names[:_LISTED]]
    more = len(names) - len(shown)
    if more:
        return f"{', '.join(shown)} and {more:,} more"
    return " and ".join([*([", ".join(shown[:-1])] if shown[1:] else []), *shown[-1:]])


def who(ids: Sequence[str]) -> str:
    """Prompts by name where they are few, else their number."""
    return listed(ids) if len(ids) <= _LISTED else some(len(ids), "prompt")


def _nothing(analysis: Analysis) -> Headline:
    tallies = [
        tally
        for prompt in analysis.prompts
        for condition in prompt.conditions
        for tally in (*condition.failures, *condition.excluded)
    ]
    counts = Counter[str]()
    for tally in tallies:
        counts[tally.reason] += tally.count
    reasons = ", ".join(f"{times(count)} {beginning(reason, 60)}" for reason, count in counts.most_common(_LISTED))
    why = f"Every attempt failed or was excluded: {reasons}." if reasons else "Nothing was sent."
    first = (f"The first said: {beginning(tallies[0].message, 200)}",) if tallies and tallies[0].message else ()
    return Headline(sentence="Nothing was measured: no completion counted.", reach=(why, *first))


def _diverged(analysis: Analysis) -> Headline:
    parted = [prompt for prompt in analysis.prompts if prompt.verdict is Verdict.DIVERGED]
    widest = max(parted, key=lambda prompt: prompt.distinct.text)
    fork = widest.tree.fork if widest.tree else None
    if len(analysis.prompts) == 1:
        sentence = f"The prompt got {answers(widest)}."
        most = f"They part first at character {fork.char:,}." if fork else ""
    else:
        sentence = f"{_how_many(len(parted), len(analysis.prompts))} got more than one answer."
        first = f", parting first at character {fork.char:,}" if fork else ""
        most = f"The widest is {beginning(widest.id, 40)}: {answers(widest)}{first}."
    return Headline(sentence=sentence, reach=(most, *_where(parted), *_open_ends(analysis)))


def _how_many(parted: int, prompts: int) -> str:
    """Those that parted among at least two prompts, as the subject of `got`."""
    if parted == prompts:
        return every(prompts, "prompt").capitalize()
    return f"{parted:,} of {prompts:,} prompts{' each' if parted > 1 else ''}"


def _where(parted: Sequence[PromptAnalysis]) -> tuple[str, ...]:
    """Under which conditions answers parted, as far as the verdicts alone say it."""
    alone = [one for prompt in parted for one in prompt.conditions if one.condition.company == 1]
    together = [one for prompt in parted for one in prompt.conditions if one.condition.company > 1]
    forked = [prompt.id for prompt in parted if _forks_alone(prompt)]
    if forked:
        return (f"Asked one at a time, {who(forked)} already got more than one answer.",)
    if together and alone and all(one.verdict is Verdict.AGREED for one in alone):
        subject = "each of them" if parted[1:] else "it"
        then = "another" if all(one.distinct.text == 1 for one in together) else "it did not stay so"
        return (f"Asked one at a time, {subject} gave one text; in company {then}.",)
    return ()


def _forks_alone(prompt: PromptAnalysis) -> bool:
    return any(one.condition.company == 1 and one.verdict is Verdict.DIVERGED for one in prompt.conditions)


def _open_ends(analysis: Analysis) -> tuple[str, ...]:
    """What a diverged run says of the prompts that did not diverge."""
    agreed = [prompt.id for prompt in analysis.prompts if prompt.verdict is Verdict.AGREED]
    undecided = [prompt.id for prompt in analysis.prompts if prompt.verdict is Verdict.UNDECIDED]
    told = []
    if agreed:
        told.append(f"{who(agreed)} gave one answer{' each' if agreed[1:] else ''}, as far as this run goes.")
    if undecided:
        told.append(f"{who(undecided)} cannot be decided.")
    return tuple(told)


def _agreed(analysis: Analysis) -> Headline:
    count = len(analysis.prompts)
    subject = f"{every(count, 'prompt').capitalize()} gave one answer{' each' if count > 1 else ''}"
    names = list(dict.fromkeys(one.name for one in _conditions(analysis.prompts)))
    under = f"under all {len(names)} conditions" if len(names) > 1 else f"({names[0]})"
    return Headline(sentence=f"{subject} {under}.", reach=(*_worst_bound(analysis.prompts), *_unbounded(analysis)))


def _conditions(prompts: Iterable[PromptAnalysis]) -> list[ConditionAnalysis]:
    return [one for prompt in prompts for one in prompt.conditions]


def _worst_bound(prompts: Sequence[PromptAnalysis]) -> tuple[str, ...]:
    """The weakest bound of all, with the condition and the number of blocks that it belongs to."""
    bounds = [
        (one.variant_rate_upper, one.agreement.n, one.name)
        for one in _conditions(prompts)
        if one.variant_rate_upper is not None and one.agreement
    ]
    if not bounds:
        return ()
    upper, blocks, name = max(bounds, key=lambda bound: bound[0])
    return (
        f"How far that reaches: under “{name}”, with {some(blocks, 'block')}, another answer in up to {percent(upper)} "
        f"of blocks could have gone unseen (95{UNBROKEN}% confidence, each condition by itself).",
    )


def _unbounded(analysis: Analysis) -> tuple[str, ...]:
    """The conditions that ran as one block, which bounds nothing."""
    ids: dict[str, list[str]] = {}
    for prompt in analysis.prompts:
        for one in prompt.conditions:
            if one.agreement and one.agreement.n == 1:
                ids.setdefault(one.name, []).append(prompt.id)
    return tuple(
        f"“{name}” ran as one block{f' ({who(hit)})' if len(hit) < len(analysis.prompts) else ''}: no bound."
        for name, hit in ids.items()
    )


def _undecided(analysis: Analysis) -> Headline:
    reasons: dict[str, list[str]] = {}
    for prompt in analysis.prompts:
        for condition in prompt.conditions:
            if reason := _why_undecided(condition):
                reasons.setdefault(reason, []).append(prompt.id)
    told = [f"{reason} ({who(list(dict.fromkeys(ids)))})." for reason, ids in reasons.items()]
    return Headline(sentence="No two answers differed, but that proves no agreement.", reach=tuple(told))


def _why_undecided(condition: ConditionAnalysis) -> str | None:
    under = f"Under “{condition.name}”"
    if condition.verdict is not Verdict.UNDECIDED:
        return None
    if condition.completions < 2:
        return f"{under} fewer than two completions counted"
    if condition.length is not None and condition.length.max == 0:
        return f"{under} every completion was empty"
    return f"{under} the server was not shown to have run requests together"
