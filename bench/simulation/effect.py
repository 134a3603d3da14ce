"""Truths with a cause: what we do, or what can be seen in the record, decides the text.

Those that hold without chance are rules of the request alone; which prompts they hold for is said by `Only`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from simulation.server import Request
from simulation.truth import Steady, Truth, shares


@dataclass(slots=True, kw_only=True)
class Only:
    """A truth that holds for some prompts; all others always get their usual text."""

    truth: Truth
    prompts: frozenset[str]

    def begin(self, request: Request) -> None:
        """As the truth has it."""
        self.truth.begin(request)

    def variant(self, request: Request) -> int:
        """As the truth has it, where it holds."""
        variant = self.truth.variant(request)
        return variant if request.prompt.id in self.prompts else 0


@dataclass(slots=True, kw_only=True)
class InCompany(Steady):
    """Another text as soon as the batch has another shape: one text for each range of sizes, by `upto`."""

    upto: Sequence[int] = (1,)

    def variant(self, request: Request) -> int:
        """The range in which the largest batch of its life falls."""
        return sum(request.peak > limit for limit in self.upto)


@dataclass(slots=True, kw_only=True)
class ByRow(Steady):
    """The usual text alone; in company one for every few rows of the batch, as of kernels in tiles."""

    tile: int = 3

    def variant(self, request: Request) -> int:
        """Alone, or the row's."""
        return 0 if request.is_alone else 1 + request.place // self.tile


@dataclass(slots=True, kw_only=True)
class Dose(Steady):
    """Another text by chance, the likelier the larger the batch; between two sizes the smaller one's rate holds."""

    random: Random
    rates: Mapping[int, float]
    texts: int = 3

    def variant(self, request: Request) -> int:
        """A draw with the odds of the largest batch of its life."""
        odds = max((rate for size, rate in self.rates.items() if size <= request.peak), default=0.0)
        return self.random.choices(range(self.texts + 1), shares(odds, self.texts))[0]


@dataclass(slots=True, kw_only=True)
class Replicas:
    """Several machines behind one address, each with a text of its own; `route` says who answers."""

    texts: Sequence[int]
    random: Random
    route: str
    weights: Sequence[float] = ()
    stays: float = 0.9
    _last: int = 0

    def begin(self, request: Request) -> None:
        """Choose the machine."""
        request.replica = self._chosen(request)
        self._last = request.replica

    def _chosen(self, request: Request) -> int:
        count = len(self.texts)
        if self.route == "chance":
            return self.random.choices(range(count), self.weights or [1.0] * count)[0]
        if self.route == "sticky":
            return self._last if self.random.random() < self.stays else self.random.randrange(count)
        if self.route == "turns":
            return request.order % count
        if self.route == "prompt":
            return sum(request.prompt.id.encode()) % count
        if self.route == "least loaded":
            return request.place % count
        raise ValueError(f"route is {self.route!r}")

    def variant(self, request: Request) -> int:
        """The machine's text."""
        return self.texts[request.replica]


@dataclass(slots=True, kw_only=True)
class PrefixCache:
    """The first answer to a prompt is read cold, later ones warm, and a cold reading gives another text.

    `holds` is how many prompts are kept; the one used longest ago goes first. `flushed` says how a cold request is
    made cold: by emptying the cache, or by going around it and leaving no trace. `is_blind` caches without any effect.
    """

    holds: int = 1_000
    flushed: bool = True
    is_blind: bool = False
    _kept: dict[str, None] = field(default_factory=dict)

    def begin(self, request: Request) -> None:
        """Read the prompt, from the cache if it is there."""
        prompt = request.prompt.id
        if request.condition.cache == "cold":
            if not self.flushed:
                return
            self._kept.clear()
        request.is_warm = prompt in self._kept
        self._kept.pop(prompt, None)
        self._kept[prompt] = None
        while len(self._kept) > self.holds:
            del self._kept[next(iter(self._kept))]

    def variant(self, request: Request) -> int:
        """The usual text where it was warm."""
        return 0 if request.is_warm or self.is_blind else 1


@dataclass(slots=True, kw_only=True)
class Deployed(Steady):
    """Another text from one moment of the run on, and with `until` the old one again from another."""

    since: float
    until: float = 2.0

    def begin(self, request: Request) -> None:
        """A new version runs on other machines."""
        request.replica = int(self.since <= request.progress < self.until)

    def variant(self, request: Request) -> int:
        """The version's text."""
        return request.replica


@dataclass(slots=True, kw_only=True)
class Drifting(Steady):
    """Another text by chance, the likelier the later: from never at the start to `most` at the end."""

    random: Random
    most: float
    texts: int = 3

    def variant(self, request: Request) -> int:
        """A draw with the odds of the moment."""
        return self.random.choices(range(self.texts + 1), shares(self.most * request.progress, self.texts))[0]


@dataclass(slots=True, kw_only=True)
class AfterPrompt(Steady):
    """Another text whenever the request sent before asked one certain prompt."""

    prompt: str

    def variant(self, request: Request) -> int:
        """By the predecessor."""
        return int(request.predecessor == self.prompt)


@dataclass(slots=True, kw_only=True)
class Observed(Steady):
    """Another text when logprobs are asked for."""

    def variant(self, request: Request) -> int:
        """By the request's own wish."""
        return int(request.condition.logprobs)


@dataclass(slots=True, kw_only=True)
class Both:
    """Two truths at once: the second one's text where it has another than the usual, else the first one's."""

    first: Truth
    second: Truth
    offset: int = 100

    def begin(self, request: Request) -> None:
        """Both decide."""
        self.first.begin(request)
        self.second.begin(request)

    def variant(self, request: Request) -> int:
        """The second's variants count from `offset`."""
        other = self.second.variant(request)
        return self.offset + other if other else self.first.variant(request)


@dataclass(slots=True, kw_only=True)
class Labelled:
    """One truth chooses the machine that answers, another one the text: what the machine tells, says nothing."""

    machine: Truth
    text: Truth

    def begin(self, request: Request) -> None:
        """Both decide; the machine's choice is what the envelope tells."""
        self.text.begin(request)
        self.machine.begin(request)

    def variant(self, request: Request) -> int:
        """The text's own."""
        return self.text.variant(request)


@dataclass(slots=True, kw_only=True)
class Restless:
    """Several machines of which one repeats itself, and the others vary by chance with `rate`."""

    machine: Replicas
    random: Random
    rate: float

    def begin(self, request: Request) -> None:
        """Choose the machine."""
        self.machine.begin(request)

    def variant(self, request: Request) -> int:
        """Varied on all machines but the first."""
        return int(request.replica > 0 and self.random.random() < self.rate)
