"""The price of invariance: what follows from the record of interleaved rounds.

A tax is worked out from ratios taken within a round, so that whatever slows the whole machine for a while slows both
sides of a ratio and drops out of it. It is a fraction of time per unit of work: 0.34 is 34 % more time, below 0 the
invariant side is the faster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from temp0.core.tax_plan import SideName
from temp0.core.tax_record import Burst, Measured, Reading


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """The median over rounds, with the lowest and the highest round; one round has no spread."""

    median: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Both raw figures and the tax that follows, each over the rounds."""

    stock: Spread
    invariant: Spread
    tax: Spread


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The price at one number in flight.

    `throughput` is in tokens a second, `token` and `ttft` in seconds; `None` where nothing could be measured. `ttft`
    is measured alone, so rows of the same sides share it. The distinct counts are of pairs of a prompt and a text:
    as many as `prompts` where every prompt got one text. Tokens and texts are of all `rounds` together.
    """

    in_flight: int
    side: SideName
    rounds: int
    requests: int
    prompts: int
    throughput: Price | None
    token: Price | None
    ttft: Price | None
    tokens_stock: int
    tokens_invariant: int
    distinct_stock: int
    distinct_invariant: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tax:
    """What a measurement says: its rows, and the distinct texts of each side over all of them."""

    measured: Measured
    rows: tuple[Row, ...]
    distinct_stock: int
    distinct_invariant: int

    @property
    def is_finished(self) -> bool:
        """Whether everything that was planned was measured."""
        return not (self.measured.faults or self.measured.interrupted)

    @property
    def exit_code(self) -> int:
        """0 done, 3 nothing was measured, 4 not all of it was."""
        return 3 if not self.rows else 0 if self.is_finished else 4


def spread(values: Sequence[float]) -> Spread:
    """The median of one value or more, with the lowest and the highest.

    >>> spread([3.0, 1.0, 2.0])
    Spread(median=2.0, low=1.0, high=3.0)
    """
    several = len(values) > 1
    return Spread(median=median(values), low=min(values) if several else None, high=max(values) if several else None)


def price_of_times(pairs: Sequence[tuple[float, float]]) -> Price | None:
    """The price from (stock, invariant) times of each round: the median of invariant / stock - 1.

    >>> price_of_times([(2.0, 1.0), (4.0, 2.0), (8.0, 6.0)]).tax
    Spread(median=-0.5, low=-0.5, high=-0.25)
    """
    return _price(pairs, lambda stock, invariant: invariant / stock - 1)


def price_of_rates(pairs: Sequence[tuple[float, float]]) -> Price | None:
    """The price from (stock, invariant) rates of each round, as time per unit of work: stock / invariant - 1.

    >>> price_of_rates([(50.0, 100.0)]).tax
    Spread(median=-0.5, low=None, high=None)
    """
    return _price(pairs, lambda stock, invariant: stock / invariant - 1)


def tax(measured: Measured) -> Tax:
    """What follows from a measurement; the order of its records means nothing.

    A round counts at a number in flight where both sides of it were measured.
    """
    keys: list[tuple[SideName, int]] = [("invariant", level) for level in measured.plan.in_flight]
    keys += [("equal-bytes", level) for level in measured.plan.equal_bytes]
    rows = [_row(measured, side, level) for side, level in keys]
    return Tax(
        measured=measured,
        rows=tuple(row for row in rows if row.rounds),
        distinct_stock=_distinct(burst for burst in measured.bursts if burst.side == "stock"),
        distinct_invariant=_distinct(burst for burst in measured.bursts if burst.side == "invariant"),
    )


def _row(measured: Measured, side: SideName, in_flight: int) -> Row:
    pairs = _pairs(measured.bursts, side, in_flight)
    stock, invariant = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return Row(
        in_flight=in_flight,
        side=side,
        rounds=len(pairs),
        requests=measured.plan.requests(in_flight),
        prompts=len({answer.prompt for burst in stock for answer in burst.answers}),
        throughput=price_of_rates(_known((one.throughput, other.throughput) for one, other in pairs)),
        token=price_of_times(_known((one.token_s, other.token_s) for one, other in pairs)),
        ttft=price_of_times(_reading_pairs(measured.readings, side)),
        tokens_stock=sum(burst.tokens for burst in stock),
        tokens_invariant=sum(burst.tokens for burst in invariant),
        distinct_stock=_distinct(stock),
        distinct_invariant=_distinct(invariant),
    )


def _pairs(bursts: Iterable[Burst], side: SideName, in_flight: int) -> list[tuple[Burst, Burst]]:
    """What stock and another side did at one number in flight, round by round."""
    there = {(burst.side, burst.round): burst for burst in bursts if burst.in_flight == in_flight}
    rounds = sorted(number for name, number in there if name == side and ("stock", number) in there)
    return [(there["stock", number], there[side, number]) for number in rounds]


def _reading_pairs(readings: Iterable[Reading], side: SideName) -> list[tuple[float, float]]:
    """The times to first token of stock and another side, round by round: medians over the round's prompts."""
    seconds: dict[tuple[SideName, int], list[float]] = {}
    for reading in readings:
        seconds.setdefault((reading.side, reading.round), []).append(reading.seconds)
    rounds = sorted(number for name, number in seconds if name == side and ("stock", number) in seconds)
    return [(median(seconds["stock", number]), median(seconds[side, number])) for number in rounds]


def _known(pairs: Iterable[tuple[float | None, float | None]]) -> list[tuple[float, float]]:
    return [(one, other) for one, other in pairs if one is not None and other is not None]


def _price(pairs: Sequence[tuple[float, float]], ratio: Callable[[float, float], float]) -> Price | None:
    if not pairs:
        return None
    stock, invariant = zip(*pairs, strict=True)
    return Price(stock=spread(stock), invariant=spread(invariant), tax=spread([ratio(*pair) for pair in pairs]))


def _distinct(bursts: Iterable[Burst]) -> int:
    return len({(answer.prompt, answer.sha256) for burst in bursts for answer in burst.answers})
