"""What a price says, in sentences for a person: what follows, and what it cannot tell.

The sentences follow from the figures alone. A difference is called one only where every round showed it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from temp0.core.tax import Price, Row, Spread, Tax
from temp0.core.tax_plan import SideName
from temp0.report.figure import UNBROKEN, every, some
from temp0.report.tax_figure import listed_levels, signed, tax_range

Direction = Literal["faster", "slower", "unclear"]


def is_ours(tax: Tax) -> bool:
    """Whether the sides were built-in engines, not servers that someone else runs."""
    return tax.measured.side("stock").url is None


def side_label(tax: Tax, side: SideName) -> str:
    """What a side is called: by its arithmetic where it is ours, else A (the base) and B."""
    if is_ours(tax):
        return "stock" if side == "stock" else "invariant"
    return "A" if side == "stock" else "B"


def direction(spread: Spread) -> Direction:
    """Which side of nothing all rounds lie on; the sign alone where there was one round."""
    low = spread.median if spread.low is None else spread.low
    high = spread.median if spread.high is None else spread.high
    return "faster" if high < 0 else "slower" if low > 0 else "unclear"


def headline(tax: Tax) -> str:
    """The sentence that follows from the main rows."""
    rows = [row for row in tax.rows if row.side == "invariant" and _main(row)]
    if not rows:
        return "Nothing was measured."
    subject = "invariance" if is_ours(tax) else "B, against A,"
    clauses = [_clause(kind, chosen) for kind in _CLAUSES if (chosen := [row for row in rows if _kind(row) == kind])]
    return f"Here {subject} {'; '.join(clauses)}."


def findings(tax: Tax) -> tuple[str, ...]:
    """What else follows: equal weight bytes, time to first token, distinct texts."""
    return (*_equal_bytes(tax), *_first_token(tax), *_texts(tax))


def prompts_answered(tax: Tax, side: SideName) -> int:
    """How many prompts a side answered at all."""
    bursts = (burst for burst in tax.measured.bursts if burst.side == side)
    return len({answer.prompt for burst in bursts for answer in burst.answers})


def told_ttft_tokens(tax: Tax) -> str:
    """The length of the prompts whose first token was waited for, as the servers counted it."""
    counted = [one.prompt_tokens for one in tax.measured.readings if one.prompt_tokens is not None]
    if not counted:
        return f"about {some(tax.measured.plan.ttft_tokens, 'token')}"
    low, high = min(counted), max(counted)
    return some(low, "token") if low == high else f"{low:,} to {some(high, 'token')}"


def limits(tax: Tax) -> tuple[str, ...]:
    """What this price cannot tell."""
    ours = is_ours(tax)
    told = [
        "It is the price of this model on this machine, at these lengths; another model, processor or GPU has another."
    ]
    told += ["The client ran on the same machine and took the same from every side."] if ours else []
    told += [] if ours else ["What lies on the way to the servers is in the figures of both."]
    if tax.measured.terms.ignores_eos:
        told.append("Answers are held to one length, past the model's own end; so are the texts that are counted.")
    return tuple(told)


_CLAUSES: dict[Direction, Callable[[str, str], str]] = {
    "faster": lambda change, where: f"costs {change} at {where}: it is faster",
    "slower": lambda change, where: f"costs {change} at {where}",
    "unclear": lambda change, where: f"makes no difference beyond the scatter at {where} ({change})",
}


def _main(row: Row) -> Price | None:
    return row.token or row.throughput


def _kind(row: Row) -> Direction:
    price = _main(row)
    return direction(price.tax) if price else "unclear"


def _clause(kind: Direction, rows: Sequence[Row]) -> str:
    taxes = [price.tax.median for row in rows if (price := _main(row))]
    unit = "time per token" if all(row.token for row in rows) else "time for the same tokens"
    where = f"{listed_levels([row.in_flight for row in rows])}{UNBROKEN}in flight"
    return _CLAUSES[kind](f"{tax_range(taxes)} {unit}", where)


def _equal_bytes(tax: Tax) -> Iterator[str]:
    rows = [row for row in tax.rows if row.side == "equal-bytes" and _main(row)]
    clauses = [_clause(kind, chosen) for kind in _CLAUSES if (chosen := [row for row in rows if _kind(row) == kind])]
    if clauses:
        yield f"With fp32 weights in both, so that both read the same bytes, it {'; '.join(clauses)}."


def _first_token(tax: Tax) -> Iterator[str]:
    price = next((row.ttft for row in tax.rows if row.side == "invariant"), None)
    if price:
        ends = {"faster": "sooner", "slower": "later", "unclear": "neither sooner nor later beyond the scatter"}
        how = ends[direction(price.tax)]
        yield f"The first token of a prompt of {told_ttft_tokens(tax)} comes {how}: {signed(price.tax.median)}."


def _texts(tax: Tax) -> Iterator[str]:
    prompts = len(tax.measured.plan.prompts)
    if not tax.rows:
        return
    stock, invariant = side_label(tax, "stock"), side_label(tax, "invariant")
    yield (
        f"To {every(prompts, 'prompt')}, over all numbers in flight, {stock} gave "
        f"{some(tax.distinct_stock, 'different text')} and {invariant} {tax.distinct_invariant:,}."
    )
    if is_ours(tax) and tax.distinct_invariant > prompts_answered(tax, "invariant"):
        yield "The invariant side gave one prompt several texts: what it promises does not hold here, please report it."
