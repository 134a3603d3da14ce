"""What a run proves: the values of an opinion, always recomputed and never stored.

Nothing here computes; `judgement.analysis` builds these values from a run, and the report room shows them. What
nobody could measure is `None`, never 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from temp0.core.cost import NOTHING, Cost
from temp0.core.detail import Position, TimelineEntry
from temp0.core.plan import Condition
from temp0.core.run import Address, Untold


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


Level = Literal["text", "tokens", "logprobs", "top-logprobs"]
LEVELS: tuple[Level, ...] = ("text", "tokens", "logprobs", "top-logprobs")
"""Levels of equality, the strictest last: logprobs and those of the alternatives are compared bit by bit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Distinct:
    """Distinct completions at each level of equality; `None` where the level was not measured.

    `folded` counts texts after Unicode NFC, without outer white space and with one kind of line end: shown beside
    the exact count, and never used for a verdict. `reasoning` and `tool_calls` are beside the text and `None` where no
    completion has any; `tool_calls_folded` takes calls together whose arguments are the same JSON.
    """

    text: int
    tokens: int | None = None
    logprobs: int | None = None
    top_logprobs: int | None = None
    folded: int | None = None
    reasoning: int | None = None
    tool_calls: int | None = None
    tool_calls_folded: int | None = None

    @property
    def breaks_first(self) -> Level | None:
        """The loosest level at which completions differ: every stricter one that was measured differs, too."""
        counts = (self.text, self.tokens, self.logprobs, self.top_logprobs)
        broken = (level for level, count in zip(LEVELS, counts, strict=True) if count is not None and count > 1)
        return next(broken, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Positions:
    """The first position at which completions differ, at each level; `None` where they do not, or were not measured.

    `text` counts characters (code points from 0), the others tokens from 0.
    """

    text: int | None = None
    tokens: int | None = None
    logprobs: int | None = None
    top_logprobs: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Company:
    """Company asked for and reached; `measured_by` says how `reached` is known.

    `server` is the server's own running count; `speed-up` is only a lower bound. `in_flight` is how many requests of
    ours were in flight on average while judged ones ran, and `peak` how many at most. `shortfall` says why company
    was not shown, or not in full: `serial` (the server answers one at a time), `pool` (never as many of ours in
    flight as were asked for) or `late` (they were, but not while the judged ones ran).
    """

    asked: int
    reached: float | None
    measured_by: Literal["server", "speed-up"] | None
    in_flight: float | None = None
    peak: int | None = None
    shortfall: Literal["serial", "pool", "late"] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedTokens:
    """Prompt tokens that came from the server's prefix cache, as the server told them over `n` completions."""

    min: int
    median: float
    max: int
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Length:
    """Lengths of the completions in characters (code points)."""

    min: int
    median: float
    max: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KindCount:
    """How many completions are of one kind, as `core.kind` names it."""

    kind: str
    count: int


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
    first_difference: Positions = Positions()
    cached_tokens: CachedTokens | None = None
    kinds: tuple[KindCount, ...] = ()

    @property
    def name(self) -> str:
        """The condition's name."""
        return self.condition.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two conditions of one prompt: `p` by permuting blocks, `p_adjusted` by Holm over the prompts.

    `first_difference` says where completions of the two differ first at each level, taken together.
    """

    a: str
    b: str
    verdict: Verdict
    p: float | None
    p_adjusted: float | None
    first_difference: Positions = Positions()


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A token at a fork with its logprob, as one branch saw it."""

    text: str
    logprob: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """What one branch saw at a fork: its own token and the alternatives, the likeliest first, and its own margin."""

    chosen: str
    margin: float
    choices: tuple[Choice, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Margin:
    """Top-1 minus top-2 logprob at a fork, and its class; `reason` says why it is unknown.

    `distributions` has what each branch saw there, in the order of the branches; `shift` is the largest difference
    between two branches in the logprob of one token (nats): 0 where the branches saw the same and chose differently.
    """

    value: float | None
    kind: Literal["exact-tie", "near", "unclear", "confident", "unknown"]
    reason: str | None = None
    shift: float | None = None
    distributions: tuple[Distribution, ...] = ()


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
    """One prompt over all its conditions.

    `positions` are those of its commonest answer told with logprobs, and `timeline` has its judged attempts by their
    order; both are empty in runs too large to draw (`detail` has the limits).
    """

    id: str
    text: str
    verdict: Verdict
    distinct: Distinct
    texts: tuple[DistinctText, ...]
    conditions: tuple[ConditionAnalysis, ...]
    comparisons: tuple[Comparison, ...]
    tree: ForkTree | None
    first_difference: Positions = Positions()
    positions: tuple[Position, ...] = ()
    timeline: tuple[TimelineEntry, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Why, with evidence and a remedy; `prompts` lists the ids it holds for.

    `n` counts what the evidence rests on (blocks, or completions where it says so). `p` is that of the pooled test,
    `p_adjusted` the same by Holm over the causes that were tested; both are `None` where a rule without chance holds.
    """

    cause: str
    certainty: Literal["found", "suspected"]
    evidence: str
    remedy: str
    prompts: tuple[str, ...]
    n: int | None = None
    p: float | None = None
    p_adjusted: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Untested:
    """A cause that this run could neither find nor rule out, and why."""

    cause: str
    reason: str


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
    """What a run proves, in full.

    `exclusive` is the user's word that nobody else used the endpoint, `cold_by` how its cache was made cold. `untold`
    is what an imported run does not tell. Not `greedy` is a run that no temperature of 0 was sent with. `cost` is what
    judged attempts and their fillers took.
    """

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
    untested: tuple[Untested, ...] = ()
    exclusive: bool = False
    cold_by: str | None = None
    untold: tuple[Untold, ...] = ()
    greedy: bool = True
    cost: Cost = NOTHING

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
