"""What happened when invariance was priced: every step with what each answer took.

A record is fact; it holds no opinion about which side was the faster. Times are in seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from temp0.core.tax_plan import SideName, TaxPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """One answer as it was timed: its prompt's id, its text's hash, its tokens, and how long each took.

    `token_s` is the time from the first token to the last over the tokens between, in seconds; `None` where there
    was no second token or nothing lay between them. `cached` counts prompt tokens taken from a prefix cache.
    """

    prompt: str
    sha256: str
    tokens: int
    token_s: float | None
    cached: int | None = None
    is_estimate: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Burst:
    """What one side did in one step; `seconds` runs from the first request sent to the end of the last answer."""

    round: int
    side: SideName
    in_flight: int
    seconds: float
    answers: tuple[Timed, ...]

    @property
    def tokens(self) -> int:
        """Completion tokens of all answers."""
        return sum(answer.tokens for answer in self.answers)

    @property
    def throughput(self) -> float | None:
        """Completion tokens a second, reading the prompts included."""
        return self.tokens / self.seconds if self.tokens and self.seconds > 0 else None

    @property
    def token_s(self) -> float | None:
        """The median over the answers of seconds a token."""
        times = [answer.token_s for answer in self.answers if answer.token_s is not None]
        return median(times) if times else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The time to first token of one fresh prompt, alone, in seconds."""

    round: int
    side: SideName
    seconds: float
    prompt_tokens: int | None = None
    cached: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A step that could not be measured: which side, at how many in flight (`None`: first token), and why.

    `stops` says that nothing else of the plan could be measured after it.
    """

    side: SideName
    in_flight: int | None
    reason: str
    message: str
    stops: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """What one side is: where it is, its model, and, where it is ours, how it calculates."""

    name: SideName
    url: str | None
    model: str
    arithmetic: str | None = None
    weight_dtype: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Where it was measured; `load` is the load average of the last minute before anything was started."""

    processor: str
    cores: int
    load: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Everything that the sides had in common, and what each side was.

    `cache` is the state of the prefix cache: "off", or "as-found". What is `None` belongs to servers that someone
    else runs.
    """

    sides: tuple[Side, ...]
    machine: Machine
    cache: str
    ignores_eos: bool
    weights: str | None = None
    activations: str | None = None
    threads: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The record of a plan carried out, as far as it got."""

    plan: TaxPlan
    terms: Terms
    bursts: tuple[Burst, ...] = ()
    readings: tuple[Reading, ...] = ()
    faults: tuple[Fault, ...] = ()
    interrupted: bool = False

    def side(self, name: SideName) -> Side:
        """The side of that name."""
        return next(side for side in self.terms.sides if side.name == name)
