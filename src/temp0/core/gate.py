"""The gate: whether what a run shows is tolerated, and what changed since the baseline.

Four outcomes are kept apart for each prompt: it passes, it fails, it is undecided, or it was not measured. What was not
measured in full never passes: an answer that did not come agrees with nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from scipy.special import betaincinv

from temp0.core.analysis import PromptAnalysis
from temp0.core.baseline import Baseline, KnownPrompt, listed
from temp0.core.budget import blocks_of
from temp0.core.chapter import chapters, preface
from temp0.core.facts import Facts, completions, facts, grouped
from temp0.core.gate_reason import doubt, drift, loss, parting, told_failure
from temp0.core.judgement import analysis
from temp0.core.plan import Condition, Plan, Prompt
from temp0.core.run import Completion, Run
from temp0.core.text import folded, sha256

Outcome = Literal["pass", "fail", "undecided", "not-measured"]
Change = Literal["same", "new", "became-nondeterministic", "text-changed", "better", "still-varies", "unknown"]
CHANGES: dict[Change, str] = {
    "same": "as in the baseline",
    "new": "not in the baseline",
    "became-nondeterministic": "it had one text, and now has several",
    "text-changed": "no text that the baseline has",
    "better": "it had several texts, and now has one: make the baseline anew",
    "still-varies": "several texts, as in the baseline",
    "unknown": "could not be measured",
}

WORTH_ASKING_AGAIN = 0.25
"""Up to this share of answers that did not come is a mishap, which is asked once more; beyond it is an outage."""


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
    bound the rate one-sided at the tolerance's confidence. `words` say what changed, or why nothing was measured, and
    `why` what the outcome rests on, where it does not pass.
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
    why: str = ""

    @property
    def kind(self) -> str:
        """What is wrong in one word, for machines: the change that fails, else the outcome."""
        if self.outcome != "fail":
            return self.outcome
        return "varies" if self.change == "new" else self.change


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Everything that was checked, in the order of the settings; `notes` are what else changed, and decides nothing."""

    checked: tuple[Checked, ...]
    notes: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """1 where anything fails, else 3 where anything was not measured, else 4 where undecided, else 0."""
        outcomes = {one.outcome for one in self.checked}
        order: tuple[tuple[Outcome, int], ...] = (("fail", 1), ("not-measured", 3), ("undecided", 4))
        return next((code for outcome, code in order if outcome in outcomes), 0 if outcomes else 3)


def checked(
    endpoint: str, run: Run, baseline: Baseline, tolerance: Tolerance, *, stopped: str = ""
) -> tuple[Checked, ...]:
    """Every prompt of one endpoint's run held against the baseline and the tolerance.

    `stopped` is why the asking ended early, where it did.
    """
    front = preface(run)
    verdicts = {prompt.id: prompt for prompt in analysis(run).prompts}
    why = stopped or told_failure(run.attempts) or "it was not asked"
    return tuple(
        _checked(
            endpoint,
            facts(front, chapter),
            verdicts[chapter.prompt.id],
            baseline.prompt(endpoint, chapter.prompt.id),
            tolerance,
            stopped=why,
        )
        for chapter in chapters(run)
    )


def not_measured(endpoint: str, prompts: Sequence[Prompt], why: str) -> tuple[Checked, ...]:
    """Every prompt of an endpoint that could not be asked at all."""
    return tuple(_unmeasured(endpoint, prompt.id, why) for prompt in prompts)


def is_worth_asking_again(run: Run) -> bool:
    """Whether some answers did not come, and so few that this may have been a mishap."""
    came = sum(attempt.role == "judged" and isinstance(attempt.outcome, Completion) for attempt in run.attempts)
    return 0 < run.plan.attempts - came <= WORTH_ASKING_AGAIN * run.plan.attempts


def impossible(plan: Plan, tolerance: Tolerance, *, max_requests: int | None = None) -> tuple[str, ...]:
    """What a gate cannot do with the blocks of this plan, in words; nothing where it can both pass and fail."""
    told: dict[str, list[str]] = {}
    for prompt in plan.prompts:
        for why in _impossible(plan, prompt, tolerance):
            told.setdefault(why, []).append(prompt.id)
    notes = [f"{_named(ids, len(plan.prompts))} {why}" for why, ids in told.items()]
    if max_requests is not None and max_requests < plan.attempts:
        notes.append(
            f"the gate cannot pass: at most {max_requests} requests may be sent, and {plan.attempts} are planned"
        )
    return tuple(notes)


def deciding_conditions(conditions: Sequence[Condition]) -> tuple[Condition, ...]:
    """The conditions that decide: those without logprobs, or all where there is none without."""
    plain = tuple(condition for condition in conditions if not condition.logprobs)
    return plain or tuple(conditions)


def rate_bounds(hits: int, n: int, confidence: float) -> tuple[float, float]:
    """The one-sided lower and upper bound of a share, hits of n (Clopper and Pearson, 1934).

    >>> [round(bound, 3) for bound in rate_bounds(0, 59, 0.95)]
    [0.0, 0.05]
    """
    low = betaincinv(hits, n - hits + 1, 1 - confidence) if hits else 0.0
    high = betaincinv(hits + 1, n - hits, confidence) if hits < n else 1.0
    return float(low), float(high)


def _named(ids: Sequence[str], every: int) -> str:
    return "every prompt" if 1 < len(ids) == every else f"prompt {listed(ids)}"


def _impossible(plan: Plan, prompt: Prompt, tolerance: Tolerance) -> list[str]:
    deciding = deciding_conditions(plan.conditions)
    if not tolerance.rate:
        lone = any(plan.judged(prompt, condition) < 2 for condition in deciding)
        return ["cannot pass: one attempt under a condition can be compared with nothing"] if lone else []
    blocks = sum(blocks_of(plan, prompt, condition) for condition in deciding)
    least = rate_bounds(0, blocks, tolerance.confidence)[1]
    most = rate_bounds(blocks, blocks, tolerance.confidence)[0]
    told = []
    if least > tolerance.rate:
        told.append(
            f"cannot pass: {blocks} blocks without an unlike answer leave up to {least:.1%} possible, and "
            f"{tolerance.rate:.1%} is tolerated"
        )
    if most <= tolerance.rate:
        told.append(f"cannot fail: {blocks} blocks show at most a rate above {most:.1%}")
    return told


def _checked(
    endpoint: str,
    known: Facts,
    seen: PromptAnalysis,
    before: KnownPrompt | None,
    tolerance: Tolerance,
    *,
    stopped: str,
) -> Checked:
    deciding = deciding_conditions(known.plan.conditions)
    lost = loss(known, seen, deciding, stopped)
    attempts = [attempt for condition in deciding for attempt in known.counted.get(condition.name, ())]
    if not attempts:
        return _unmeasured(endpoint, seen.id, lost)
    fold = folded if tolerance.folded else _as_it_is
    texts = Counter(fold(one.text) for one in completions(attempts))
    hashes = _hashes(before, tolerance)
    modal = max(texts, key=lambda text: (texts[text], sha256(text) in hashes, text))
    blocks = grouped(((attempt.condition, attempt.block), attempt) for attempt in attempts)
    unlike = sum(any(fold(one.text) != modal for one in completions(block)) for block in blocks.values())
    low, high = rate_bounds(unlike, len(blocks), tolerance.confidence)
    moved = before if hashes and sha256(modal) not in hashes else None
    doubts = doubt(known, seen, deciding)
    outcome = "fail" if moved else _outcome(unlike, low, high, tolerance, is_sure=not doubts)
    if lost and outcome != "fail":
        return _unmeasured(endpoint, seen.id, lost)
    change = _change(hashes, texts)
    return Checked(
        endpoint=endpoint,
        prompt=seen.id,
        outcome=outcome,
        change=change,
        unlike=unlike,
        blocks=len(blocks),
        low=low,
        high=high,
        words=CHANGES[change],
        why="; ".join(_reasons(outcome, texts, modal, moved, fold, rate=_rate(low, high, tolerance), doubts=doubts)),
    )


def _reasons(
    outcome: Outcome,
    texts: Mapping[str, int],
    modal: str,
    moved: KnownPrompt | None,
    fold: Callable[[str], str],
    *,
    rate: str,
    doubts: str,
) -> list[str]:
    """What an outcome other than a pass rests on."""
    if outcome == "pass":
        return []
    told = [drift(moved, modal, fold)] if moved else [rate] if rate else []
    if outcome == "undecided" and doubts:
        told.append(doubts)
    return [*told, *([parting(texts)] if len(texts) > 1 else [])]


def _rate(low: float, high: float, tolerance: Tolerance) -> str:
    """What is shown of the rate, where that is more than is tolerated or may be."""
    if not tolerance.rate or high <= tolerance.rate:
        return ""
    shown = f"at least {low:.1%}" if low > tolerance.rate else f"up to {high:.1%}"
    return f"{shown} of blocks may be unlike, and {tolerance.rate:.1%} is tolerated"


def _outcome(unlike: int, low: float, high: float, tolerance: Tolerance, *, is_sure: bool) -> Outcome:
    if not tolerance.rate:
        return "fail" if unlike else "pass" if is_sure else "undecided"
    if low > tolerance.rate:
        return "fail"
    return "pass" if high <= tolerance.rate and is_sure else "undecided"


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
