"""Two runs of the same prompts side by side: what each answered, and how fast.

Prompts meet by what was asked, conditions by name; what only one run has is named and compared with nothing.
"""

from __future__ import annotations

import os.path
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from temp0.core.analysis import Analysis, PromptAnalysis, Verdict
from temp0.core.judgement import analysis
from temp0.core.run import Attempt, Completion, Run


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedPrompt:
    """One prompt in both runs; `part_at` is the character where the two commonest texts part, `None` if nowhere."""

    a: PromptAnalysis
    b: PromptAnalysis
    part_at: int | None

    @property
    def is_answered(self) -> bool:
        """Whether both runs have a completion of it."""
        return bool(self.a.texts and self.b.texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedRate:
    """Tokens per second under one condition in both runs; `None` where the endpoint did not count its tokens."""

    condition: str
    a: float | None
    b: float | None

    @property
    def ratio(self) -> float | None:
        """How many times as fast the second run was."""
        return self.b / self.a if self.a and self.b else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """Two runs, their prompts and conditions in the first one's order; `only_a` and `only_b` are ids of prompts."""

    a: Analysis
    b: Analysis
    prompts: tuple[PairedPrompt, ...]
    rates: tuple[PairedRate, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]

    @property
    def exit_code(self) -> int:
        """0 every prompt answered alike, 1 some unlike, 3 nothing in common was answered, 4 some not answered.

        Alike means the same verdict, and the same commonest text.
        """
        answered = [prompt for prompt in self.prompts if prompt.is_answered]
        if not answered:
            return 3
        if any(one.part_at is not None or one.a.verdict is not one.b.verdict for one in answered):
            return 1
        unsure = len(answered) < len(self.prompts) or self.only_a or self.only_b
        return 4 if unsure or any(one.a.verdict is Verdict.UNDECIDED for one in answered) else 0


def pairing(a: Run, b: Run) -> Pairing:
    """Both runs, judged afresh."""
    judged_a, judged_b = analysis(a), analysis(b)
    of_a, of_b = _by_question(a, judged_a), _by_question(b, judged_b)
    names_of_b = {condition.name for condition in b.plan.conditions}
    return Pairing(
        a=judged_a,
        b=judged_b,
        prompts=tuple(
            PairedPrompt(a=one, b=of_b[asked], part_at=_part_at(one, of_b[asked]))
            for asked, one in of_a.items()
            if asked in of_b
        ),
        rates=tuple(
            PairedRate(condition=name, a=tokens_per_s(a, name), b=tokens_per_s(b, name))
            for condition in a.plan.conditions
            if (name := condition.name) in names_of_b
        ),
        only_a=tuple(one.id for asked, one in of_a.items() if asked not in of_b),
        only_b=tuple(one.id for asked, one in of_b.items() if asked not in of_a),
    )


def _by_question(run: Run, judged: Analysis) -> dict[object, PromptAnalysis]:
    """Each prompt by what was asked; of two that ask the same, the first meets the other run's first."""
    seen: Counter[object] = Counter()
    found: dict[object, PromptAnalysis] = {}
    for prompt, one in zip(run.plan.prompts, judged.prompts, strict=True):
        asked = (prompt.messages, prompt.max_tokens)
        found[asked, seen[asked]] = one
        seen[asked] += 1
    return found


def tokens_per_s(run: Run, condition: str) -> float | None:
    """Tokens of all completions under a condition, fillers included, over the time when any of its requests ran.

    Tokens are the server's own count; `None` where it did not count each completion, or nothing completed.
    """
    attempts = [attempt for attempt in run.attempts if attempt.condition == condition]
    counts = [one.outcome.usage.completion for one in attempts if isinstance(one.outcome, Completion)]
    known = [count for count in counts if count is not None]
    busy_s = _busy_s(attempts)
    return sum(known) / busy_s if known and len(known) == len(counts) and busy_s > 0 else None


def _busy_s(attempts: Iterable[Attempt]) -> float:
    """Seconds in which at least one of the attempts was in flight."""
    total, until = 0.0, 0.0
    for start, end in sorted((attempt.started_s, attempt.ended_s) for attempt in attempts):
        total += max(0.0, end - max(start, until))
        until = max(until, end)
    return total


def _part_at(a: PromptAnalysis, b: PromptAnalysis) -> int | None:
    """Where the commonest texts part; the texts of an analysis begin with the commonest."""
    if not a.texts or not b.texts or a.texts[0].text == b.texts[0].text:
        return None
    return len(os.path.commonprefix([a.texts[0].text, b.texts[0].text]))
