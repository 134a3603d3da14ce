"""Numbers in words.

No share is ever rounded to 0 or 100 percent unless it is exactly that, and what nobody measured is a dash, never 0.
A number and its sign are held together by a no-break space.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from temp0.core.analysis import Cause, Company, Comparison, Estimate, Margin
from temp0.core.company import is_shown

UNKNOWN = "\N{EN DASH}"
UNBROKEN = "\N{NO-BREAK SPACE}"
SAW_THE_SAME = "the branches saw the same logprobs and chose differently"
_PERCENT = f"{UNBROKEN}%"
_MOST_DECIMALS = 6
_LEAST_P = 0.0001


def percent(share: float | None, *, finer: int = 0) -> str:
    r"""A share between 0 and 1 as a percentage: one decimal (two below 5 %), more where it would round to 0 or 100.

    >>> percent(1), percent(0.9996), percent(0.095034), percent(0.00002), percent(0.5)
    ('100\xa0%', '99.96\xa0%', '9.5\xa0%', '0.002\xa0%', '50\xa0%')

    `finer` asks for so many decimals more.
    """
    if share is None:
        return UNKNOWN
    value = 100 * share
    for decimals in range((2 if value < 5 else 1) + finer, _MOST_DECIMALS + 1):
        shown = f"{value:.{decimals}f}"
        if float(shown) not in (0, 100) or share in (0, 1):
            return shown.rstrip("0").rstrip(".") + _PERCENT
    least, most = f"0.{'0' * (_MOST_DECIMALS - 1)}1", f"99.{'9' * _MOST_DECIMALS}"
    return f"<{UNBROKEN}{least}{_PERCENT}" if share < 0.5 else f">{UNBROKEN}{most}{_PERCENT}"


def percents(shares: Sequence[float]) -> list[str]:
    r"""Shares as percentages, finer where two unlike ones would print alike.

    >>> percents([0.5, 1]), percents([0.5001, 0.5002])
    (['50\xa0%', '100\xa0%'], ['50.01\xa0%', '50.02\xa0%'])
    """
    told = ([percent(share, finer=finer) for share in shares] for finer in range(_MOST_DECIMALS))
    return next((shown for shown in told if len(set(shown)) == len(set(shares))), [percent(share) for share in shares])


def interval(estimate: Estimate | None) -> str:
    """A share with its 95 % interval: 87 % (71 to 95), or 100 % (≥ 81.9) where it is one-sided; one block has none."""
    if estimate is None:
        return UNKNOWN
    value = percent(estimate.value)
    if estimate.low is None:
        return f"{value} (1{UNBROKEN}block)"
    low = percent(estimate.low).removesuffix(_PERCENT)
    if estimate.sides == 1 or estimate.high is None:
        return f"{value} (≥{UNBROKEN}{low})"
    ends = [end.removesuffix(_PERCENT) for end in percents([estimate.low, estimate.high])]
    return f"{value} ({UNKNOWN.join(dict.fromkeys(ends))})"


def number(value: float | None) -> str:
    """A plain number with at most three significant decimals."""
    return UNKNOWN if value is None else f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def probability(p: float | None) -> str:
    """A p value, never rounded to 0 or 1; a tiny one is only told to be below what anybody asks for."""
    if p is None:
        return "p unknown"
    return f"p{UNBROKEN}<{UNBROKEN}{_LEAST_P}" if p < _LEAST_P else f"p{UNBROKEN}={UNBROKEN}{_p(p)}"


def p_values(pair: Comparison, tested: int) -> str:
    """The p value of a comparison, and what Holm makes of it where `tested` prompts were tested alike.

    Nothing can be adjusted in a single test, nor in a p value of 1.
    """
    if pair.p is None or pair.p_adjusted is None or tested < 2 or pair.p == 1:
        return probability(pair.p)
    return f"{probability(pair.p)}; {_p(pair.p_adjusted)} adjusted for {tested:,} prompts"


def _p(p: float) -> str:
    if p < _LEAST_P:
        return f"<{UNBROKEN}{_LEAST_P}"
    return f"{min(p, 0.999):.3f}" if 0.001 <= p < 1 else f"{p:.2g}"


def adjusted(cause: Cause) -> str:
    """What Holm makes of a cause's p, whose evidence has the p itself; empty where that is the same."""
    if cause.p is None or cause.p_adjusted is None or cause.p_adjusted == cause.p:
        return ""
    return f"{probability(cause.p_adjusted)} adjusted for all causes tested"


def company(value: Company) -> str:
    """Company reached of what was asked: `7.9 of 8`, `≥ 3.1 of 8`, `not shown`; a dash alone where nobody counted."""
    of = f"{UNBROKEN}of{UNBROKEN}{value.asked}"
    if value.measured_by == "server" and value.reached is not None:
        return f"{number(value.reached)}{of}"
    if value.asked <= 1:
        return UNKNOWN
    return f"≥{UNBROKEN}{number(value.reached)}{of}" if is_shown(value) else "not shown"


def logprob(value: float | None) -> str:
    r"""A logprob, or a difference of two, to four decimals; a dash where there is none.

    >>> logprob(-0.70114)
    '\u22120.7011'
    """
    return UNKNOWN if value is None else f"{value:.4f}".replace("-", "\N{MINUS SIGN}")


def margin(value: Margin, reason: str | None = None) -> str:
    """A margin with its class and shift, or why it is unknown; `reason` says that in other words than its own."""
    if value.value is None:
        why = reason or value.reason
        return f"{value.kind}: {why}" if why else value.kind
    shift = "" if value.shift is None else f", shift {number(value.shift)}"
    return f"{number(value.value)} ({value.kind}){shift}"


def spread(low: float, high: float) -> str:
    """Whole numbers from one to another.

    >>> spread(12, 3312), spread(4, 4)
    ('12 to 3,312', '4')
    """
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def moment(created: str) -> str:
    """An ISO 8601 time as a person reads it, to the second; anything else as it is.

    >>> moment("2026-03-01T09:30:00.125+00:00")
    '2026-03-01 09:30:00 UTC'
    """
    try:
        time = datetime.fromisoformat(created)
    except ValueError:
        return created
    return f"{time.astimezone(UTC) if time.tzinfo else time:%Y-%m-%d %H:%M:%S} UTC"


def some(count: int, singular: str, plural: str | None = None) -> str:
    """A count with its noun.

    >>> some(1, "text"), some(1200, "text")
    ('1 text', '1,200 texts')
    """
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"


def times(count: int) -> str:
    """How often something happened.

    >>> times(1), times(1200)
    ('once', '1,200 times')
    """
    return "once" if count == 1 else f"{count:,} times"


def every(count: int, noun: str) -> str:
    """All of some things.

    >>> every(1, "prompt"), every(2, "prompt"), every(5, "prompt")
    ('the prompt', 'both prompts', 'all 5 prompts')
    """
    return f"the {noun}" if count == 1 else f"both {noun}s" if count == 2 else f"all {count:,} {noun}s"
