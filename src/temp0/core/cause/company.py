"""Cause `company`: the text depends on how many requests are computed together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from temp0.core.analysis import ConditionAnalysis
from temp0.core.cause.evidence import Evidence, PromptEvidence
from temp0.core.cause.finding import Finding, Outcome, named, pooled
from temp0.core.cause.wording import counted, tested
from temp0.core.company import is_shown
from temp0.core.comparison import Stratum
from temp0.core.estimate import ALPHA

_REMEDY = (
    "use arithmetic whose order does not depend on the batch: vLLM VLLM_BATCH_INVARIANT=1, SGLang "
    "--enable-deterministic-inference, temp0 serve --arithmetic invariant; or let the server take one request at a "
    "time (llama.cpp --parallel 1, vLLM --max-num-seqs 1); then measure again: temp0 probe URL --ask company"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ladder:
    """One prompt alone and in company, all else equal; `levels` in the order of company."""

    one: PromptEvidence
    alone: ConditionAnalysis | None
    levels: Sequence[ConditionAnalysis]

    @property
    def shown(self) -> list[ConditionAnalysis]:
        return [level for level in self.levels if is_shown(level.company)]

    @property
    def is_alone_steady(self) -> bool:
        """Whether at least two blocks alone gave one text."""
        return self.alone is not None and self.alone.completions > 1 and self.alone.distinct.text == 1

    @property
    def machine(self) -> str | None:
        """What tells a machine and leaves nothing to company: each value of it has one text, alone and in company."""
        names = {level.name for level in self.levels}
        return next(
            (pool.machines[0] for pool in self.one.pools if pool.machines and pool.condition.name in names), None
        )

    def differs(self, levels: Sequence[ConditionAnalysis]) -> bool:
        """Whether any of these gave a text that was not seen alone."""
        alone = self.one.texts_of(self.alone) if self.alone else frozenset()
        return any(self.one.texts_of(level) - alone for level in levels)

    def stratum(self) -> Stratum | None:
        """Blocks by how much company they had, as far as it was shown."""
        if self.alone is None:
            return None
        return self.one.stratum({level.name: place for place, level in enumerate([self.alone, *self.shown])})

    def unlike(self, level: ConditionAnalysis) -> int:
        """Completions unlike the text alone."""
        alone = self.one.texts_of(self.alone) if self.alone else frozenset()
        counts = {text.sha256: dict(text.conditions).get(level.name, 0) for text in self.one.prompt.texts}
        return sum(count for sha256, count in counts.items() if sha256 not in alone)


def company(evidence: Evidence) -> Outcome:
    """Alone at least two identical blocks, another text in company that was shown, and one pooled test.

    Labels are the levels of company, so that a difference between two of them counts as well. `suspected` where
    company was not shown, where answers alone vary themselves, or where nothing was asked alone. A prompt whose texts
    are told by the machine that answered, alone and in company, says nothing of company.
    """
    every = [ladder for one in evidence.prompts for ladder in _ladders(one, evidence)]
    ladders = [ladder for ladder in every if ladder.machine is None]
    if not ladders:
        return Outcome(untested=_unasked(evidence, every))
    strata: dict[str, list[Stratum]] = {}
    for ladder in ladders:
        if (part := ladder.stratum()) is not None:
            strata.setdefault(ladder.one.prompt.id, []).append(part)
    test = pooled(strata, seed=evidence.plan.seed)
    proven = [ladder for ladder in ladders if ladder.is_alone_steady and ladder.differs(ladder.shown)]
    signs = proven or [ladder for ladder in ladders if _is_sign(ladder)]
    if (not signs and (test is None or test.p > ALPHA)) or (test and test.speaks_against):
        return Outcome(test=test, untested=_untested(ladders) if test is None else None)
    signs = signs or [ladder for ladder in ladders if ladder.one.prompt.id in strata]
    by_chance = named(strata, seed=evidence.plan.seed) if test and test.p <= ALPHA else ()
    prompts = tuple(dict.fromkeys(ladder.one.prompt.id for ladder in signs))
    firm = tuple(prompt for prompt in by_chance if prompt in prompts)
    return Outcome(
        test=test,
        finding=Finding(
            cause="company",
            evidence=f"{_told(signs, firm or prompts)}; {tested(test) if test else 'no test can grade that'}",
            remedy=_REMEDY,
            prompts=firm or prompts,
            n=test.n if test else sum(level.completions for ladder in signs for level in ladder.levels),
            proof="test" if proven else "none",
        ),
    )


def _ladders(one: PromptEvidence, evidence: Evidence) -> Iterator[_Ladder]:
    """The deciding conditions of a prompt, sorted into sets that differ in company and its fillers alone."""
    names = {condition.name for condition in evidence.deciding}
    groups: dict[tuple[object, ...], list[ConditionAnalysis]] = {}
    for each in one.prompt.conditions:
        if each.name in names and each.completions:
            condition = each.condition
            groups.setdefault((condition.cache, condition.logprobs, condition.stream), []).append(each)
    for group in groups.values():
        levels = sorted((each for each in group if each.condition.company > 1), key=lambda each: each.condition.company)
        if levels:
            alone = next((each for each in group if each.condition.company == 1), None)
            yield _Ladder(one=one, alone=alone, levels=levels)


def _is_sign(ladder: _Ladder) -> bool:
    """A difference in company that nothing alone explains, though its proof is lacking."""
    if ladder.alone is None:
        return any(level.distinct.text > 1 for level in ladder.levels)
    return ladder.alone.distinct.text == 1 and ladder.differs(ladder.levels)


def _told(signs: Sequence[_Ladder], prompts: Sequence[str]) -> str:
    ladder = next(ladder for ladder in signs if ladder.one.prompt.id == prompts[0])
    others = len(prompts) - 1
    like_it = f" and {counted(others, 'more prompt')} like it" if others else ""
    levels = ", ".join(_level(ladder, level) for level in ladder.levels)
    unlike = (
        "" if ladder.alone is None else "unlike it: " if ladder.alone.distinct.text == 1 else "unlike all of these: "
    )
    return f"prompt {prompts[0]}{like_it}: {_alone(ladder)}; {unlike}{levels}{_dose(ladder)}"


def _alone(ladder: _Ladder) -> str:
    if ladder.alone is None:
        return "nothing was asked alone"
    texts = "always one text" if ladder.alone.distinct.text == 1 else f"{ladder.alone.distinct.text} texts"
    return f"alone {texts} in {ladder.alone.completions}"


def _level(ladder: _Ladder, level: ConditionAnalysis) -> str:
    hidden = "" if is_shown(level.company) else " (company not shown)"
    if ladder.alone is None:
        return f"{counted(level.distinct.text, 'text')} in {level.completions} in {level.name}{hidden}"
    return f"{ladder.unlike(level)} of {level.completions} in {level.name}{hidden}"


def _dose(ladder: _Ladder) -> str:
    """Says so where the share of unlike answers never falls as company grows, over three levels or more."""
    shares = [ladder.unlike(level) / level.completions for level in ladder.shown]
    rises = len(shares) > 2 and shares == sorted(shares) and shares[0] < shares[-1]
    return "; the share rises with company" if ladder.is_alone_steady and rises else ""


def _unasked(evidence: Evidence, ladders: Sequence[_Ladder]) -> str:
    if ladders:
        return (
            f"texts in company are told by {ladders[0].machine}: which machine answers may be all that company changes"
        )
    if any(condition.company > 1 for condition in evidence.deciding):
        return "no answer in company counted"
    return "nothing was asked in company; --company 1,8 does that"


def _untested(ladders: Sequence[_Ladder]) -> str | None:
    if all(ladder.alone is None for ladder in ladders):
        return "nothing was asked alone; --company 1,8 does that"
    if not any(ladder.shown for ladder in ladders):
        return "company was not shown: the server may answer one at a time, or never had our requests together"
    return None
