"""What a run says, in sentences for a person: the verdict, and how far it reaches.

The sentences follow from the analysis alone; numbers in them are the analysis's own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from temp0.core.analysis import Analysis, ConditionAnalysis, PromptAnalysis, Verdict
from temp0.core.company import is_shown
from temp0.report.answer import answers, deciding
from temp0.report.cause_word import is_note, meaning
from temp0.report.figure import UNBROKEN, every, percent, percents, some, times
from temp0.report.loss import losses
from temp0.report.naming import quoted, who
from temp0.report.parting import where
from temp0.report.visible import beginning

_REASONS = 6
_TOTALS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """The verdict in a sentence, the sentences that say how far it reaches, and what the causes of a difference are."""

    sentence: str
    reach: tuple[str, ...]
    cause: str = ""

    @property
    def with_cause(self) -> str:
        """The verdict and its cause in one sentence."""
        return f"{self.sentence.removesuffix('.')}{self.cause}."


def headline(analysis: Analysis) -> Headline:
    """The first thing a person should read."""
    if analysis.exit_code == 3:
        return _nothing(analysis)
    by_verdict = {Verdict.DIVERGED: _diverged, Verdict.AGREED: _agreed, Verdict.UNDECIDED: _undecided}
    told = by_verdict[analysis.verdict](analysis)
    cut_short = ("The run is not finished; what is missing may change this.",) if not analysis.finished else ()
    return Headline(sentence=told.sentence, reach=losses(analysis) + told.reach + cut_short, cause=_cause(analysis))


def _cause(analysis: Analysis) -> str:
    """What the causes of a difference mean, those that were found, else the suspected ones; empty without any."""
    parted = {prompt.id for prompt in analysis.prompts if prompt.verdict is Verdict.DIVERGED}
    told: dict[str, list[str]] = {"found": [], "suspected": []}
    for cause in analysis.causes:
        if parted and not is_note(cause) and (said := meaning(cause.cause)):
            only = f"in {who(cause.prompts)} " if cause.prompts and not parted <= set(cause.prompts) else ""
            told[cause.certainty].append(f"{only}{said}")
    if told["found"]:
        return f": {', and '.join(told['found'])}"
    return f"; perhaps {', or '.join(told['suspected'])}" if told["suspected"] else ""


def total_agreement(analysis: Analysis) -> str:
    """TARr@N of each condition: `TARr@20: 100 % (alone), 40 % (company 8)`, or the least and the most of many.

    Empty where it was not measured.
    """
    totals = analysis.total_agreement
    shares, ns = percents([one.value for one in totals]), sorted({one.n for one in totals})
    same_n = f"TARr@{ns[0]}" if len(ns) == 1 else ""
    if len(totals) > _TOTALS and len(set(shares)) == 1:
        between = "" if same_n else f" (N from {ns[0]} to {ns[-1]})"
        return f"{same_n or 'TARr@N'}: {shares[0]} under all {len(totals)} conditions{between}"
    told = [
        f"{'' if same_n else f'TARr@{one.n}{UNBROKEN}'}{share} ({one.condition})"
        for one, share in zip(totals, shares, strict=True)
    ]
    if len(told) > _TOTALS:
        by_value = sorted(range(len(totals)), key=lambda place: totals[place].value)
        told = [f"from {told[by_value[0]]} to {told[by_value[-1]]}"]
    return f"{same_n}: {', '.join(told)}" if same_n else ", ".join(told)


def tested_pairs(prompts: Sequence[PromptAnalysis]) -> Counter[tuple[str, str]]:
    """Of how many prompts each pair of conditions was tested: what its adjusted p values are adjusted for."""
    return Counter((pair.a, pair.b) for prompt in prompts for pair in prompt.comparisons if pair.p is not None)


def _nothing(analysis: Analysis) -> Headline:
    tallies = [
        tally
        for prompt in analysis.prompts
        for condition in prompt.conditions
        for tally in (*condition.failures, *condition.excluded)
    ]
    seen = Counter[str]()
    for tally in tallies:
        seen[tally.reason] += tally.count
    reasons = ", ".join(f"{times(count)} {beginning(reason, 60)}" for reason, count in seen.most_common(_REASONS))
    why = f"Every attempt failed or was excluded: {reasons}." if reasons else "Nothing was sent."
    first = (f"The first said: {beginning(tallies[0].message, 200)}",) if tallies and tallies[0].message else ()
    return Headline(sentence="Nothing was measured: no completion counted.", reach=(why, *first))


def _diverged(analysis: Analysis) -> Headline:
    parted = [prompt for prompt in analysis.prompts if prompt.verdict is Verdict.DIVERGED]
    widest = max(parted, key=lambda prompt: prompt.distinct.text)
    fork = widest.tree.fork if widest.tree else None
    if widest.distinct.text == 1:
        sentence = "Every text is the same, and yet the answers differ: in the tools that were to be called."
        return Headline(sentence=sentence, reach=_open_ends(analysis))
    if len(analysis.prompts) == 1:
        sentence = f"The prompt got {answers(widest)}."
        most = f"They part first at character {fork.char:,}." if fork else ""
    else:
        sentence = f"{_how_many(len(parted), len(analysis.prompts))} got more than one answer."
        first = f", parting first at character {fork.char:,}" if fork else ""
        most = f"The widest is {beginning(widest.id, 40)}: {answers(widest)}{first}."
    return Headline(sentence=sentence, reach=(most, *where(parted, len(analysis.prompts)), *_open_ends(analysis)))


def _how_many(parted: int, prompts: int) -> str:
    """Those that parted among at least two prompts, as the subject of `got`."""
    if parted == prompts:
        return every(prompts, "prompt").capitalize()
    return f"{parted:,} of {prompts:,} prompts{' each' if parted > 1 else ''}"


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
    names = list(dict.fromkeys(one.name for prompt in analysis.prompts for one in deciding(prompt)))
    under = f"under {every(len(names), 'condition')}" if len(names) > 1 else f"({names[0]})"
    return Headline(
        sentence=f"{subject} {under}{' that count' if names[1:] and _uncounted(analysis) else ''}.",
        reach=(*_uncounted(analysis), *_worst_bound(analysis.prompts), *_unbounded(analysis)),
    )


def _uncounted(analysis: Analysis) -> tuple[str, ...]:
    """Differences that do not count: under logprobs beside plain attempts, and between streamed and whole answers."""
    observed = [prompt.id for prompt in analysis.prompts if _differs_beyond(prompt, logprobs=True)]
    streamed = [prompt.id for prompt in analysis.prompts if _differs_beyond(prompt, logprobs=False)]
    told = []
    if observed:
        told.append(f"With logprobs asked for, {who(observed)} got other answers, too; plain attempts decide.")
    if streamed:
        told.append(f"Streamed and whole answers differ for {who(streamed)}; that is told, but does not count.")
    return tuple(told)


def _differs_beyond(prompt: PromptAnalysis, *, logprobs: bool) -> bool:
    """Whether a prompt that did not diverge differs with `logprobs`, or else across streaming."""
    counted = {one.name for one in deciding(prompt)}
    if prompt.verdict is Verdict.DIVERGED:
        return False
    pairs = [pair for pair in prompt.comparisons if pair.verdict is Verdict.DIVERGED]
    across = [pair for pair in pairs if (pair.a in counted and pair.b in counted) is not logprobs]
    within = logprobs and any(one.verdict is Verdict.DIVERGED for one in prompt.conditions)
    return within or bool(across)


def _worst_bound(prompts: Sequence[PromptAnalysis]) -> tuple[str, ...]:
    """The weakest bound of all, with the condition and the number of blocks that it belongs to."""
    bounds = [
        (one.variant_rate_upper, one.agreement.n, one.name)
        for prompt in prompts
        for one in deciding(prompt)
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
        for one in deciding(prompt):
            if one.agreement and one.agreement.n == 1:
                ids.setdefault(one.name, []).append(prompt.id)
    alike: dict[tuple[str, ...], list[str]] = {}
    for name, hit in ids.items():
        alike.setdefault(tuple(hit), []).append(name)
    return tuple(
        f"{quoted(names)} ran as one block{' each' if names[1:] else ''}"
        f"{f' ({who(hit)})' if len(hit) < len(analysis.prompts) else ''}: no bound."
        for hit, names in alike.items()
    )


def _undecided(analysis: Analysis) -> Headline:
    hit: dict[str, list[tuple[str, str]]] = {}
    for prompt in analysis.prompts:
        for one in deciding(prompt):
            if reason := _why_undecided(one):
                hit.setdefault(reason, []).append((one.name, prompt.id))
    told = [
        f"Under {quoted(list(dict.fromkeys(name for name, _ in pairs)))} {reason} "
        f"({who(list(dict.fromkeys(prompt for _, prompt in pairs)))})."
        for reason, pairs in hit.items()
    ]
    uncounted = _uncounted(analysis)
    which = "answers that count" if uncounted else "answers"
    return Headline(sentence=f"No two {which} differed, but that proves no agreement.", reach=(*told, *uncounted))


def _why_undecided(one: ConditionAnalysis) -> str | None:
    if one.verdict is not Verdict.UNDECIDED:
        return None
    if one.completions < 2:
        return "fewer than two completions counted"
    if one.length is not None and one.length.max == 0:
        return "every completion was empty"
    if is_shown(one.company):
        return "company fell short of what was asked"
    return "the server was not shown to have run requests together"
