"""Two runs of the same prompts side by side, or two groups of runs: what changed, and how fast each was.

Prompts meet by what was asked, conditions by name; what only one side has is named and compared with nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from temp0.core.analysis import Analysis, PromptAnalysis, Verdict
from temp0.core.change import Blocks, Change, change, contrasts
from temp0.core.chapter import Chapter, Preface, chapters, preface
from temp0.core.comparison import DRAWS, Stratum, cautious_p, holm
from temp0.core.estimate import ALPHA
from temp0.core.facts import Facts, completions, facts, grouped
from temp0.core.judgement import analysis
from temp0.core.level import shared_length
from temp0.core.pooling import Asked, asked_of, pooled
from temp0.core.rate import Rate
from temp0.core.run import Run
from temp0.core.text import utf8


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """What is compared: one run, or several pooled. `heads` are the runs without attempts, `judged` all of them as one.

    `prompts` and `blocks` are by what was asked; blocks are those that count, by condition.
    """

    heads: tuple[Run, ...]
    judged: Analysis
    prompts: Mapping[Asked, PromptAnalysis]
    blocks: Mapping[Asked, Blocks]
    rates: Mapping[str, float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModalFork:
    """Where the two commonest texts of a prompt part: 0-based character and byte, and how each goes on from there."""

    char: int
    byte: int
    a: str
    b: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedPrompt:
    """One prompt on both sides; `fork` is where the two commonest texts part, `None` if nowhere."""

    a: PromptAnalysis
    b: PromptAnalysis
    fork: ModalFork | None
    change: Change

    @property
    def part_at(self) -> int | None:
        """The character where the two commonest texts part."""
        return None if self.fork is None else self.fork.char

    @property
    def is_answered(self) -> bool:
        """Whether both sides have a completion of it."""
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
    """Two sides, their prompts and conditions in the first one's order; `only_a` and `only_b` are ids of prompts.

    `p` is the chance of so large a difference over all prompts if both sides answered alike, from permuting blocks
    within each prompt and condition; `None` where there is nothing to compare.
    """

    a: Analysis
    b: Analysis
    runs_a: tuple[Run, ...]
    runs_b: tuple[Run, ...]
    prompts: tuple[PairedPrompt, ...]
    p: float | None
    rates: tuple[PairedRate, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]

    @property
    def is_beyond_chance(self) -> bool:
        """Whether the answers to all prompts together changed by more than each side varies by itself."""
        return self.p is not None and self.p <= ALPHA

    @property
    def exit_code(self) -> int:
        """0 every prompt answered alike, 1 some unlike, 3 nothing in common was answered, 4 some open.

        Alike means the same verdict, and the same commonest text; open is what was not answered in both, or is
        undecided in one of them.
        """
        answered = [prompt for prompt in self.prompts if prompt.is_answered]
        if not answered:
            return 3
        verdicts = [{one.a.verdict, one.b.verdict} for one in answered]
        if any(one.part_at is not None for one in answered) or {Verdict.AGREED, Verdict.DIVERGED} in verdicts:
            return 1
        unsure = len(answered) < len(self.prompts) or self.only_a or self.only_b
        return 4 if unsure or any(Verdict.UNDECIDED in both for both in verdicts) else 0


def side(runs: Sequence[Run]) -> Side:
    """Runs of one side, pooled and judged afresh."""
    run = pooled(runs)
    return told_side(runs, analysis(run), preface(run), chapters(run))


def told_side(runs: Sequence[Run], judged: Analysis, front: Preface, parts: Iterable[Chapter]) -> Side:
    """The side of runs that were judged as one already, which comes chapter by chapter, in the plan's order."""
    asked = tuple(asked_of(front.run))
    blocks: dict[Asked, Blocks] = {}
    rates = {condition.name: Rate() for condition in front.run.plan.conditions}
    for name, chapter in zip(asked, parts, strict=True):
        blocks[name] = _blocks(front, chapter)
        own = {attempt.block for attempt in chapter.judged}
        for condition, attempts in grouped(
            (one.condition, one) for one in (*chapter.judged, *(one for one in chapter.fillers if one.block in own))
        ).items():
            rates[condition].add(attempts)
    return Side(
        heads=tuple(replace(one, attempts=(), samples=()) for one in runs),
        judged=judged,
        prompts=dict(zip(asked, judged.prompts, strict=True)),
        blocks=blocks,
        rates={name: rate.tokens_per_s for name, rate in rates.items()},
    )


def pairing(a: Run | Side, b: Run | Side) -> Pairing:
    """Both sides, and what changed from the first to the second."""
    first, second = _meeting(*(one if isinstance(one, Side) else side([one]) for one in (a, b)))
    common = [asked for asked in first.prompts if asked in second.prompts]
    changes, p = _changes(first, second, common)
    return Pairing(
        a=first.judged,
        b=second.judged,
        runs_a=first.heads,
        runs_b=second.heads,
        prompts=tuple(
            PairedPrompt(a=one, b=other, fork=_fork(one, other), change=found)
            for one, other, found in zip(
                [first.prompts[asked] for asked in common],
                [second.prompts[asked] for asked in common],
                changes,
                strict=True,
            )
        ),
        p=p,
        rates=tuple(
            PairedRate(condition=name, a=first.rates[name], b=second.rates[name])
            for name in first.rates
            if name in second.rates
        ),
        only_a=tuple(one.id for asked, one in first.prompts.items() if asked not in second.prompts),
        only_b=tuple(one.id for asked, one in second.prompts.items() if asked not in first.prompts),
    )


def _meeting(a: Side, b: Side) -> tuple[Side, Side]:
    """Both sides by what their prompts meet by: the words alone where an imported side does not tell how it asked."""
    return (_by_words(a), _by_words(b)) if "parameters" in (*a.judged.untold, *b.judged.untold) else (a, b)


def _by_words(one: Side) -> Side:
    seen: Counter[object] = Counter()
    words: dict[Asked, Asked] = {}
    for asked in one.prompts:
        words[asked] = (asked[0], seen[asked[0]])
        seen[asked[0]] += 1
    return replace(
        one,
        prompts={words[asked]: prompt for asked, prompt in one.prompts.items()},
        blocks={words[asked]: blocks for asked, blocks in one.blocks.items()},
    )


def _blocks(front: Preface, chapter: Chapter) -> Blocks:
    """The texts of each block, by condition; those with logprobs only where none was asked without."""
    known = facts(front, chapter)
    counted = {name: _texts(known, name) for name in known.counted}
    with_logprobs = {condition.name for condition in known.plan.conditions if condition.logprobs}
    plain = {name: blocks for name, blocks in counted.items() if name not in with_logprobs}
    return plain or counted


def _texts(known: Facts, condition: str) -> list[Counter[str]]:
    blocks = grouped((attempt.block, attempt) for attempt in known.counted[condition])
    return [Counter(one.text for one in completions(block)) for block in blocks.values()]


def _changes(a: Side, b: Side, common: Sequence[Asked]) -> tuple[list[Change], float | None]:
    """The change of each prompt, and the pooled p of all.

    Holm is over the prompts whose p could reach 5 % at all (Tarone, 1990); the others' adjusted p is 1. Nothing is
    sampled for so many prompts that no sampled p could be small enough for one of them.
    """
    seed = a.judged.seed
    found = [contrasts(a.blocks[asked], b.blocks[asked]) for asked in common]
    strata = [[part for one in own if (part := one.stratum) is not None] for own in found]
    is_able = [bool(own) and prod(part.least_p for part in own) <= ALPHA for own in strata]
    draws = DRAWS if sum(is_able) <= ALPHA * (DRAWS + 1) else 0
    ps = [_p(own, seed=seed, draws=draws) if both else None for own, both in zip(strata, found, strict=True)]
    adjusted = holm([p if able else None for p, able in zip(ps, is_able, strict=True)])
    everything = [part for own in strata for part in own]
    return [
        replace(change(own, p), p_adjusted=holm_p if able else None if p is None else 1.0)
        for own, p, holm_p, able in zip(found, ps, adjusted, is_able, strict=True)
    ], _p(everything, seed=seed, draws=DRAWS) if any(found) else None


def _p(strata: Sequence[Stratum], *, seed: int, draws: int) -> float | None:
    """How often chance alone looks like this; 1 where exchanging blocks changes nothing."""
    return cautious_p(strata, seed=seed, draws=draws) if strata else 1.0


def _fork(a: PromptAnalysis, b: PromptAnalysis) -> ModalFork | None:
    """Where the commonest texts part; the texts of an analysis begin with the commonest."""
    if not a.texts or not b.texts or a.texts[0].text == b.texts[0].text:
        return None
    one, other = a.texts[0].text, b.texts[0].text
    char = shared_length(one, other)
    return ModalFork(char=char, byte=len(utf8(one[:char])), a=one[char:], b=other[char:])
