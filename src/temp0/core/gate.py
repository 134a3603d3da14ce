"""The gate: whether what a run shows is tolerated, and what changed since the baseline.

Four outcomes are kept apart for each prompt: it passes, it fails, it is undecided, or it was not measured. What was not
measured never passes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from scipy.stats import beta

from temp0.core.analysis import PromptAnalysis, Verdict
from temp0.core.baseline import Baseline, KnownPrompt
from temp0.core.budget import blocks_of
from temp0.core.chapter import chapters, preface
from temp0.core.facts import Facts, completions, facts, grouped
from temp0.core.judgement import analysis
from temp0.core.plan import Condition, Plan, Prompt
from temp0.core.run import Failure, Run
from temp0.core.text import folded, sha256

Outcome = Literal["pass", "fail", "undecided", "not-measured"]
Change = Literal["same", "new", "became-nondeterministic", "text-changed", "better", "still-varies", "unknown"]
CHANGES: dict[Change, str] = {
    "same": "as in the baseline",
    "new": "not in the baseline",
    "became-nondeterministic": "it had one text, and now has several",
    "text-changed": "no text that the baseline has",
    "better": "it had several texts, and now has one",
    "still-varies": "several texts, as in the baseline",
    "unknown": "could not be measured",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """What is let through: nothing, texts that fold to the same, or a rate of unlike answers.

    `rate` is the largest share of blocks that may hold a text unlike the commonest one, to be shown with one-sided
    `confidence`. With `folded`, texts that differ only in white space around them, line ends or Unicode form are one.
    """

    rate: float = 0.0
    confidence: float = 0.95
    folded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """One prompt at one endpoint: the outcome, what changed, and the rate of unlike blocks with its bounds.

    `unlike` of `blocks` blocks, over all conditions that count, hold a text unlike the commonest; `low` and `high`
    bound the rate one-sided at the tolerance's confidence.
    """

    endpoint: str
    prompt: str
    outcome: Outcome
    change: Change
    unlike: int
    blocks: int
    low: float | None
    high: float | None
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Everything that was checked, in the order of the settings."""

    checked: tuple[Checked, ...]

    @property
    def exit_code(self) -> int:
        """1 where anything fails, else 3 where anything was not measured, else 4 where undecided, else 0."""
        outcomes = {one.outcome for one in self.checked}
        order: tuple[tuple[Outcome, int], ...] = (("fail", 1), ("not-measured", 3), ("undecided", 4))
        return next((code for outcome, code in order if outcome in outcomes), 0 if outcomes else 3)


def checked(endpoint: str, run: Run, baseline: Baseline, tolerance: Tolerance) -> tuple[Checked, ...]:
    """Every prompt of one endpoint's run held against the baseline and the tolerance."""
    front = preface(run)
    verdicts = {prompt.id: prompt for prompt in analysis(run).prompts}
    failures = [attempt.outcome for attempt in run.attempts if isinstance(attempt.outcome, Failure)]
    why = f"{failures[0].reason}: {failures[0].message}" if failures else "it was not asked"
    return tuple(
        _checked(endpoint, facts(front, chapter), verdicts[chapter.prompt.id], baseline, tolerance, why=why)
        for chapter in chapters(run)
    )


def not_measured(endpoint: str, prompts: Sequence[Prompt], why: str) -> tuple[Checked, ...]:
    """Every prompt of an endpoint that could not be asked at all."""
    return tuple(_unmeasured(endpoint, prompt.id, why) for prompt in prompts)


def impossible(plan: Plan, tolerance: Tolerance) -> tuple[str, ...]:
    """What a gate cannot do with the blocks of this plan, in words; nothing where it can both pass and fail."""
    told = []
    deciding = deciding_conditions(plan.conditions)
    for prompt in plan.prompts:
        blocks = sum(blocks_of(plan, prompt, condition) for condition in deciding)
        low, high = (
            rate_bounds(0, blocks, tolerance.confidence)[1],
            rate_bounds(blocks, blocks, tolerance.confidence)[0],
        )
        if tolerance.rate and low > tolerance.rate:
            told.append(
                f"prompt {prompt.id} cannot pass: {blocks} blocks without an unlike answer leave up to {low:.1%} "
                f"possible, and {tolerance.rate:.1%} is tolerated"
            )
        if tolerance.rate and high <= tolerance.rate:
            told.append(f"prompt {prompt.id} cannot fail: {blocks} blocks show at most a rate above {high:.1%}")
        if not tolerance.rate and any(plan.judged(prompt, condition) < 2 for condition in deciding):
            told.append(f"prompt {prompt.id} cannot pass: one attempt under a condition can be compared with nothing")
    return tuple(told)


def deciding_conditions(conditions: Sequence[Condition]) -> tuple[Condition, ...]:
    """The conditions that decide: those without logprobs, or all where there is none without."""
    plain = tuple(condition for condition in conditions if not condition.logprobs)
    return plain or tuple(conditions)


def rate_bounds(hits: int, n: int, confidence: float) -> tuple[float, float]:
    """The one-sided lower and upper bound of a share, hits of n (Clopper and Pearson, 1934).

    >>> [round(bound, 3) for bound in rate_bounds(0, 59, 0.95)]
    [0.0, 0.05]
    """
    low = beta.ppf(1 - confidence, hits, n - hits + 1) if hits else 0.0
    high = beta.ppf(confidence, hits + 1, n - hits) if hits < n else 1.0
    return float(low), float(high)


def _checked(
    endpoint: str, known: Facts, seen: PromptAnalysis, baseline: Baseline, tolerance: Tolerance, *, why: str
) -> Checked:
    name = known.chapter.prompt.id
    deciding = [condition.name for condition in deciding_conditions(known.plan.conditions)]
    attempts = [attempt for condition in deciding for attempt in known.counted.get(condition, ())]
    if any(not known.counted.get(condition) for condition in deciding):
        return _unmeasured(endpoint, name, _first_problem(seen) or why)
    fold = folded if tolerance.folded else _as_it_is
    texts = Counter(fold(one.text) for one in completions(attempts))
    before = _hashes(baseline.prompt(endpoint, name), tolerance)
    modal = max(texts, key=lambda text: (texts[text], sha256(text) in before, text))
    blocks = grouped(((attempt.condition, attempt.block), attempt) for attempt in attempts)
    unlike = sum(any(fold(one.text) != modal for one in completions(block)) for block in blocks.values())
    low, high = rate_bounds(unlike, len(blocks), tolerance.confidence)
    has_moved = bool(before) and sha256(modal) not in before
    is_shown = not any(one.verdict is Verdict.UNDECIDED for one in seen.conditions if one.name in deciding)
    outcome = "fail" if has_moved else _outcome(unlike, low, high, tolerance, is_shown=is_shown)
    change = _change(before, texts)
    return Checked(
        endpoint=endpoint,
        prompt=name,
        outcome=outcome,
        change=change,
        unlike=unlike,
        blocks=len(blocks),
        low=low,
        high=high,
        words=CHANGES[change],
    )


def _outcome(unlike: int, low: float, high: float, tolerance: Tolerance, *, is_shown: bool) -> Outcome:
    if not tolerance.rate:
        return "fail" if unlike else "pass" if is_shown else "undecided"
    if low > tolerance.rate:
        return "fail"
    return "pass" if high <= tolerance.rate and is_shown else "undecided"


def _change(before: Collection[str], texts: Collection[str]) -> Change:
    if not before:
        return "new"
    if not any(sha256(text) in before for text in texts):
        return "text-changed"
    if len(texts) > 1:
        return "still-varies" if len(before) > 1 else "became-nondeterministic"
    return "better" if len(before) > 1 else "same"


def _hashes(known: KnownPrompt | None, tolerance: Tolerance) -> frozenset[str]:
    """The hashes of the texts that the baseline has of a prompt, folded where that is what counts."""
    return frozenset(one.folded if tolerance.folded else one.sha256 for one in known.texts) if known else frozenset()


def _as_it_is(text: str) -> str:
    return text


def _unmeasured(endpoint: str, prompt: str, why: str) -> Checked:
    return Checked(
        endpoint=endpoint,
        prompt=prompt,
        outcome="not-measured",
        change="unknown",
        unlike=0,
        blocks=0,
        low=None,
        high=None,
        words=why,
    )


def _first_problem(seen: PromptAnalysis) -> str | None:
    tallies = [tally for one in seen.conditions for tally in (*one.failures, *one.excluded)]
    return f"{tallies[0].reason}: {tallies[0].message}" if tallies else None
