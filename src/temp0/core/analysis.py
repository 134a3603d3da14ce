"""What a run proves: the values of an opinion, always recomputed and never stored.

Nothing here computes; `judgement.analysis` builds these values from a run, and the report room shows them. What
nobody could measure is `None`, never 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from temp0.core.plan import Condition
from temp0.core.run import Address


class Verdict(StrEnum):
    """What can be said of a condition, a comparison, a prompt or a run."""

    AGREED = "agreed"
    DIVERGED = "diverged"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A value with its 95 % interval over `n` blocks; `sides` says whether the interval is one- or two-sided.

    `low` and `high` are `None` where one block leaves nothing to estimate from.
    """

    value: float
    low: float | None
    high: float | None
    n: int
    sides: Literal[1, 2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How many attempts failed or were excluded for one reason, with the first message seen."""

    reason: str
    count: int
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """How many completions ended for one reason, as the server named it."""

    reason: str | None
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DistinctText:
    """One distinct completion of a prompt. `conditions` counts it by condition name, in the plan's order."""

    sha256: str
    count: int
    text: str
    finishes: tuple[Finish, ...]
    conditions: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Distinct:
    """Distinct completions at each level of equality; `None` where the level was not measured."""

    text: int
    tokens: int | None = None
    logprobs: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Company:
    """Company asked for and reached; `measured_by` says how `reached` is known.

    `server` is the server's own running count; `speed-up` is only a lower bound.
    """

    asked: int
    reached: float | None
    measured_by: Literal["server", "speed-up"] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Length:
    """Lengths of the completions in characters (code points)."""

    min: int
    median: float
    max: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionAnalysis:
    """One prompt under one condition."""

    condition: Condition
    company: Company
    verdict: Verdict
    attempts: int
    completions: int
    fillers: int
    failures: tuple[Tally, ...]
    excluded: tuple[Tally, ...]
    distinct: Distinct
    agreement: Estimate | None
    modal_share: float | None
    variant_rate_upper: float | None
    length: Length | None

    @property
    def name(self) -> str:
        """The condition's name."""
        return self.condition.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two conditions of one prompt: `p` by permuting blocks, `p_adjusted` by Holm over the prompts."""

    a: str
    b: str
    verdict: Verdict
    p: float | None
    p_adjusted: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Margin:
    """Top-1 minus top-2 logprob at a fork, and its class; `reason` says why it is unknown."""

    value: float | None
    kind: Literal["exact-tie", "near", "unclear", "confident", "unknown"]
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """One way on from a fork: what all its completions share from the fork on, and who they are."""

    text: str
    count: int
    sha256: tuple[str, ...]
    finishes: tuple[Finish, ...]
    fork: Fork | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fork:
    """The first position where completions that were equal until then differ.

    `char` counts code points from 0, `byte` UTF-8 bytes, `token` the tokens the branches share (`None` where the
    server gave none). `kind` is `ended` where one text is a prefix of the other.
    """

    char: int
    byte: int
    token: int | None
    kind: Literal["differs", "ended"]
    branches: tuple[Branch, ...]
    margin: Margin


@dataclass(frozen=True, slots=True, kw_only=True)
class ForkTree:
    """All completions of a prompt as one tree: the text all share, then the fork (if any) where they part.

    The leaves are the distinct completions, and their counts sum to the completions.
    """

    text: str
    count: int
    fork: Fork | None

    def forks(self) -> tuple[Fork, ...]:
        """Every fork, the earliest first; forks at one position in the order of their branches."""
        found: list[Fork] = []
        waiting = [self.fork] if self.fork else []
        while waiting:
            fork = waiting.pop(0)
            found.append(fork)
            waiting += [branch.fork for branch in fork.branches if branch.fork]
        return tuple(sorted(found, key=lambda fork: fork.char))


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptAnalysis:
    """One prompt over all its conditions."""

    id: str
    text: str
    verdict: Verdict
    distinct: Distinct
    texts: tuple[DistinctText, ...]
    conditions: tuple[ConditionAnalysis, ...]
    comparisons: tuple[Comparison, ...]
    tree: ForkTree | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Why, with evidence and a remedy; `prompts` lists the ids it holds for."""

    cause: str
    certainty: Literal["found", "suspected"]
    evidence: str
    remedy: str
    prompts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TotalAgreement:
    """TARr@N of one condition: the share of `prompts` prompts whose raw completions are all equal.

    `n` is the smallest number of completions among them.
    """

    condition: str
    n: int
    prompts: int
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """What a run proves, in full."""

    run: str
    created: str
    seed: int
    requests: int
    finished: bool
    interrupted: bool = False
    address: Address
    verdict: Verdict
    causes: tuple[Cause, ...]
    total_agreement: tuple[TotalAgreement, ...]
    prompts: tuple[PromptAnalysis, ...]

    @property
    def exit_code(self) -> int:
        """0 agreed, 1 diverged, 3 no completion counted, 4 undecided, as is all that was interrupted and agreed."""
        if self.verdict is Verdict.DIVERGED:
            return 1
        if self.interrupted:
            return 4
        if not any(condition.completions for prompt in self.prompts for condition in prompt.conditions):
            return 3
        return 0 if self.verdict is Verdict.AGREED else 4
