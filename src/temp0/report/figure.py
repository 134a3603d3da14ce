"""Numbers in words.

No share is ever rounded to 0 or 100 percent unless it is exactly that, and what nobody measured is a dash, never 0.
"""

from __future__ import annotations

from datetime import UTC, datetime

from temp0.core.analysis import Company, Estimate, Margin
from temp0.core.company import is_shown

UNKNOWN = "\N{EN DASH}"
_MOST_DECIMALS = 6


def percent(share: float | None) -> str:
    """A share between 0 and 1 as a percentage: one decimal (two below 5 %), more where it would round to 0 or 100.

    >>> percent(1), percent(0.9996), percent(0.095034), percent(0.00002), percent(0.5)
    ('100 %', '99.96 %', '9.5 %', '0.002 %', '50 %')
    """
    if share is None:
        return UNKNOWN
    value = 100 * share
    for decimals in range(2 if value < 5 else 1, _MOST_DECIMALS + 1):
        shown = f"{value:.{decimals}f}"
        if float(shown) not in (0, 100) or share in (0, 1):
            return f"{shown.rstrip('0').rstrip('.')} %"
    return f"< 0.{'0' * (_MOST_DECIMALS - 1)}1 %" if share < 0.5 else f"> 99.{'9' * _MOST_DECIMALS} %"


def interval(estimate: Estimate | None) -> str:
    """A share with its 95 % interval: 87 % (71 to 95), or 100 % (≥ 81.9) where it is one-sided."""
    if estimate is None:
        return UNKNOWN
    value = percent(estimate.value)
    if estimate.low is None:
        return f"{value} (no interval)"
    low = percent(estimate.low).removesuffix(" %")
    if estimate.sides == 1 or estimate.high is None:
        return f"{value} (≥ {low})"
    return f"{value} ({low}\N{EN DASH}{percent(estimate.high).removesuffix(' %')})"


def number(value: float | None) -> str:
    """A plain number with at most three significant decimals."""
    return UNKNOWN if value is None else f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def probability(p: float | None) -> str:
    """A p value, never rounded to 0."""
    if p is None:
        return "p unknown"
    return f"p = {p:.3f}" if 0.001 <= p < 1 else f"p = {p:.2g}"


def company(value: Company) -> str:
    """Company asked for and reached: `8 (7.9 seen)`, `8 (at least 3.1)`, `8 (not shown)`, `alone`."""
    asked = "alone" if value.asked == 1 else str(value.asked)
    if value.measured_by == "server" and value.reached is not None:
        return asked if value.reached == value.asked == 1 else f"{asked} ({number(value.reached)} seen)"
    if value.asked == 1:
        return asked
    is_bound = is_shown(value) and value.reached is not None
    return f"{asked} (at least {number(value.reached)})" if is_bound else f"{asked} (not shown)"


def p_values(p: float | None, adjusted: float | None) -> str:
    """A p value, with its adjustment over the prompts where that changes it."""
    if p is None or adjusted is None or adjusted == p:
        return probability(p)
    return f"{probability(p)} ({probability(adjusted).removeprefix('p = ')} over all prompts)"


def margin(value: Margin) -> str:
    """A margin with its class, or why it is unknown."""
    if value.value is None:
        return f"{value.kind}: {value.reason}" if value.reason else value.kind
    return f"{number(value.value)} ({value.kind})"


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
