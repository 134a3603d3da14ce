"""What a run says, in sentences for a person: the verdict, how far it reaches, and what it cannot tell.

The sentences follow from the analysis alone; numbers in them are the analysis's own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from temp0.core.analysis import Analysis, ConditionAnalysis, Fork, PromptAnalysis, Verdict
from temp0.core.company import is_shown
from temp0.report.figure import percent, some
from temp0.report.visible import beginning

_LISTED = 6
_NOTES = frozenset({"not-measured", "no-visible-output", "short-window", "finish"})
"""Causes that say what could not be seen; they never explain a difference."""


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


def why(analysis: Analysis) -> tuple[str, str | None]:
    """The heading above the causes, and what to say where none of them explains anything."""
    if analysis.verdict is not Verdict.DIVERGED:
        return "What to know", None if analysis.causes else "There is no difference to explain."
    explained = any(cause.cause not in _NOTES for cause in analysis.causes)
    return "Why", None if explained else "No cause of the difference was found in this run."


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


def listed(names: Sequence[str]) -> str:
    """Prompt names in a row, cut after some: `A, B and 3 more`."""
    shown = [beginning(name, 40) for name in names[:_LISTED]]
    more = len(names) - len(shown)
    if more:
        return f"{', '.join(shown)} and {more:,} more"
    return " and ".join([*([", ".join(shown[:-1])] if shown[1:] else []), *shown[-1:]])


def limits(analysis: Analysis) -> tuple[str, ...]:
    """What this run cannot tell, as sentences."""
    conditions = [condition for prompt in analysis.prompts for condition in prompt.conditions]
    told = [sentence for sees, sentence in _LIMITS if sees(analysis, conditions)]
    return tuple(told)


def again(analysis: Analysis) -> tuple[tuple[str, str], ...]:
    """Commands that show this run again or go on from it, each with what it does."""
    run = analysis.run
    commands = [
        (f"temp0 show {run}", "this analysis again"),
        (f"temp0 report {run} --format html -o report.html", "as a page"),
    ]
    if not analysis.finished:
        commands.insert(0, (f"temp0 probe --resume {run}", "finishes the run"))
    return tuple(commands)


def _who(ids: Sequence[str]) -> str:
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
    reasons = ", ".join(f"{count:,} times {beginning(reason, 60)}" for reason, count in counts.most_common(_LISTED))
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
        got = "got" if len(parted) == 1 else "each got"
        sentence = f"{len(parted):,} of {len(analysis.prompts):,} prompts {got} more than one answer."
        first = f", parting first at character {fork.char:,}" if fork else ""
        most = f"The widest is {beginning(widest.id, 40)}: {answers(widest)}{first}."
    return Headline(sentence=sentence, reach=(most, *_where(parted), *_open_ends(analysis)))


def _where(parted: Sequence[PromptAnalysis]) -> tuple[str, ...]:
    """Under which conditions answers parted, as far as the verdicts alone say it."""
    alone = [one for prompt in parted for one in prompt.conditions if one.condition.company == 1]
    together = [one for prompt in parted for one in prompt.conditions if one.condition.company > 1]
    forked = [prompt.id for prompt in parted if _forks_alone(prompt)]
    if forked:
        return (f"Asked one at a time, {_who(forked)} already got more than one answer.",)
    if together and alone and all(one.verdict is Verdict.AGREED for one in alone):
        return ("Asked one at a time, each of them gave one text; in company it did not stay so.",)
    return ()


def _forks_alone(prompt: PromptAnalysis) -> bool:
    return any(one.condition.company == 1 and one.verdict is Verdict.DIVERGED for one in prompt.conditions)


def _open_ends(analysis: Analysis) -> tuple[str, ...]:
    """What a diverged run says of the prompts that did not diverge."""
    agreed = [prompt.id for prompt in analysis.prompts if prompt.verdict is Verdict.AGREED]
    undecided = [prompt.id for prompt in analysis.prompts if prompt.verdict is Verdict.UNDECIDED]
    told = []
    if agreed:
        told.append(f"{_who(agreed)} gave one answer{' each' if agreed[1:] else ''}, as far as this run goes.")
    if undecided:
        told.append(f"{_who(undecided)} cannot be decided.")
    return tuple(told)


def _agreed(analysis: Analysis) -> Headline:
    count = len(analysis.prompts)
    every = "Both" if count == 2 else f"All {count:,}"
    subject = "The prompt gave one answer" if count == 1 else f"{every} prompts gave one answer each"
    conditions = [one for prompt in analysis.prompts for one in prompt.conditions]
    names = list(dict.fromkeys(one.name for one in conditions))
    under = f"under all {len(names)} conditions" if len(names) > 1 else f"({names[0]})"
    return Headline(sentence=f"{subject} {under}.", reach=_bound(conditions))


def _bound(conditions: Sequence[ConditionAnalysis]) -> tuple[str, ...]:
    bounds = [one.variant_rate_upper for one in conditions if one.variant_rate_upper is not None]
    blocks = [one.agreement.n for one in conditions if one.agreement]
    if not bounds or not blocks:
        return ("There were too few blocks to say how rare another answer would have to be to stay unseen.",)
    fewest, widest = some(min(blocks), "block"), percent(max(bounds))
    return (
        f"How far that reaches: with as few as {fewest} per condition, another answer in up to {widest} of blocks "
        "could have gone unseen (95 % confidence, each condition by itself).",
    )


def _undecided(analysis: Analysis) -> Headline:
    reasons: dict[str, list[str]] = {}
    for prompt in analysis.prompts:
        for condition in prompt.conditions:
            if reason := _why_undecided(condition):
                reasons.setdefault(reason, []).append(prompt.id)
    told = [f"{reason} ({_who(list(dict.fromkeys(ids)))})." for reason, ids in reasons.items()]
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


Seen = Callable[[Analysis, Sequence[ConditionAnalysis]], bool]


def _has_agreed(analysis: Analysis, _: Sequence[ConditionAnalysis]) -> bool:
    return any(prompt.verdict is Verdict.AGREED for prompt in analysis.prompts)


def _has_alone(_: Analysis, conditions: Sequence[ConditionAnalysis]) -> bool:
    return any(one.condition.company == 1 for one in conditions)


def _has_bound_only(_: Analysis, conditions: Sequence[ConditionAnalysis]) -> bool:
    in_company = (one.company for one in conditions if one.condition.company > 1)
    return any(is_shown(company) and company.measured_by == "speed-up" for company in in_company)


def _has_unmeasured_margin(analysis: Analysis, _: Sequence[ConditionAnalysis]) -> bool:
    return any(fork.margin.value is None for fork in _first_forks(analysis))


def _first_forks(analysis: Analysis) -> Iterable[Fork]:
    return (prompt.tree.fork for prompt in analysis.prompts if prompt.tree and prompt.tree.fork)


_LIMITS: tuple[tuple[Seen, str], ...] = (
    (_has_agreed, "Agreement is bounded, never proved: other prompts, loads and days were not asked."),
    (_has_alone, "Alone means that nothing else of ours was in flight; strangers' requests cannot be seen from here."),
    (_has_bound_only, "Company known from speed-up is only a lower bound; the server gave no count of its own."),
    (_has_unmeasured_margin, "How nearly two tokens were tied at a fork is unknown where a margin is not given."),
)
