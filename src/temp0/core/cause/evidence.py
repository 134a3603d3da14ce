"""All that a cause may look at, gathered from a run one prompt at a time and small enough to keep for all of them.

Only where texts of a prompt differ is there anything to line up: blocks are sorted into kinds once, and each label
that may explain them (replica, cached tokens, what was asked before, the time) becomes a table of counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from temp0.core.analysis import ConditionAnalysis, PromptAnalysis
from temp0.core.comparison import Kinds, Stratum
from temp0.core.plan import Condition, Plan

EVERY_SECOND = "every second request"
"""The label of a place that two machines in turn would show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The attempts alone that share one value of a label, and their distinct texts; `modal` is the commonest."""

    value: str
    attempts: int
    texts: int
    modal: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """Attempts sorted by a label. `stratum` is `None` where there is nothing to test."""

    groups: tuple[Group, ...]
    stratum: Stratum | None

    @property
    def lines_up(self) -> bool:
        """Whether each value has one text, and not all the same one."""
        return all(group.texts == 1 for group in self.groups) and len({one.modal for one in self.groups}) > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Texts over time: `timeline` by stretches of time; `before` and `after` count attempts around the only change.

    The first attempt of a prompt is left out: what sets it apart from all later ones is the state of a cache.
    """

    timeline: Stratum | None
    before: int | None = None
    after: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Singles:
    """The attempts alone of one prompt under one condition whose texts differ, in the order in which they left.

    `replicas` are labels that may tell one machine from another, by name; of these, `times` tell the time and no more:
    each value came and went once, and texts went on beyond it. `places` are labels of the order (what was asked
    before, whose turn it was). `cached` sorts by the prompt tokens that came from the server's cache, `first` sets
    the very first attempt of the prompt apart.
    """

    condition: Condition
    replicas: Mapping[str, Labelled]
    times: frozenset[str]
    places: Mapping[str, Labelled]
    cached: Labelled | None
    first: Labelled | None
    change: Change


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """The attempts in company of one prompt under one condition whose texts differ, by what may tell machines apart.

    Those of one block and one machine may share one computation, and count once. `machines` are the labels that leave
    nothing to company: each value has one text, here and in every condition that differs in company alone.
    """

    condition: Condition
    replicas: Mapping[str, Labelled]
    machines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Below:
    """A chosen token that was not the likeliest: by how many nats, at which token, and in how many completions."""

    nats: float
    token: int
    completions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptEvidence:
    """One prompt. `kinds` sorts its counted blocks, and `condition_of` gives the place of each one's condition.

    Both are `None` where all its texts are equal. `running_alone` is the most that the server counted as running
    while we had one request in flight.
    """

    prompt: PromptAnalysis
    planned: Mapping[str, int]
    has_reasoned: bool
    informative: int
    below: Below | None
    running_alone: float | None
    kinds: Kinds | None
    condition_of: NDArray[np.int64] | None
    singles: tuple[Singles, ...]
    pools: tuple[Pool, ...]

    def stratum(self, labels: Mapping[str, int]) -> Stratum | None:
        """Blocks labelled by the name of their condition; those of conditions not named are left out."""
        if self.kinds is None or self.condition_of is None:
            return None
        names = [one.name for one in self.prompt.conditions]
        of = np.array([labels.get(name, -1) for name in names])
        return self.kinds.stratum(of[self.condition_of])

    def texts_of(self, one: ConditionAnalysis) -> frozenset[str]:
        """The hashes of the texts counted under a condition."""
        return frozenset(text.sha256 for text in self.prompt.texts if dict(text.conditions).get(one.name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All prompts of a run, and what was planned."""

    plan: Plan
    prompts: Sequence[PromptEvidence]

    @property
    def deciding(self) -> tuple[Condition, ...]:
        """The conditions that decide a verdict: those without logprobs, unless there are no others."""
        plain = tuple(condition for condition in self.plan.conditions if not condition.logprobs)
        return plain or self.plan.conditions
