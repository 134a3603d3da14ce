"""Figures of a price in words: a median with its rounds in brackets, a tax with its sign.

No tax is rounded to 0 unless it is exactly that, and what nobody measured is a dash.
"""

from __future__ import annotations

from collections.abc import Sequence

from temp0.core.tax import Price, Spread
from temp0.report.figure import UNBROKEN, UNKNOWN, number

_MOST_DECIMALS = 3


def signed(share: float | None) -> str:
    r"""A tax as a percentage with its sign; decimals only where it would round to 0 without.

    >>> signed(0.3435), signed(-0.58), signed(0.0004), signed(0.0)
    ('+34\xa0%', '-58\xa0%', '+0.04\xa0%', '0\xa0%')
    """
    return UNKNOWN if share is None else f"{_signed_number(100 * share)}{UNBROKEN}%"


def tax_range(taxes: Sequence[float]) -> str:
    r"""The lowest and the highest of some taxes: `-62 % to -40 %`, or the only one.

    >>> tax_range([-0.4, -0.62]), tax_range([0.1])
    ('-62\xa0% to -40\xa0%', '+10\xa0%')
    """
    low, high = signed(min(taxes)), signed(max(taxes))
    return low if low == high else f"{low} to {high}"


def with_rounds(spread: Spread, *, unit: float = 1.0) -> str:
    """A median with its lowest and highest round, each over `unit`; one round stands alone."""
    middle = number(spread.median / unit)
    if spread.low is None or spread.high is None:
        return middle
    return f"{middle} ({number(spread.low / unit)}\N{EN DASH}{number(spread.high / unit)})"


def tax_with_rounds(spread: Spread) -> str:
    """A tax with its lowest and highest round: `-55 % (-56 to -54)`."""
    if spread.low is None or spread.high is None:
        return signed(spread.median)
    return f"{signed(spread.median)} ({_signed_number(100 * spread.low)} to {_signed_number(100 * spread.high)})"


def price_cells(price: Price | None, *, unit: float = 1.0) -> tuple[str, str, str]:
    """Both raw figures and the tax, ready for three columns."""
    if price is None:
        return UNKNOWN, UNKNOWN, UNKNOWN
    return (
        with_rounds(price.stock, unit=unit),
        with_rounds(price.invariant, unit=unit),
        tax_with_rounds(price.tax),
    )


def listed_levels(levels: Sequence[int]) -> str:
    """Numbers in flight as a person lists them.

    >>> listed_levels([1]), listed_levels([1, 4, 8])
    ('1', '1, 4 and 8')
    """
    *most, last = [str(level) for level in levels]
    return f"{', '.join(most)} and {last}" if most else last


def _signed_number(value: float) -> str:
    for decimals in range(_MOST_DECIMALS + 1):
        if round(value, decimals):
            return f"{value:+.{decimals}f}"
    return "0" if value == 0 else ("+" if value > 0 else "-") + f"<{10**-_MOST_DECIMALS:g}"
