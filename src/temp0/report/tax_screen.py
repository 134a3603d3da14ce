"""A price for a terminal: what follows and what to mind, then the figures, each ratio beside what it is a ratio of.

It reads at 80 columns and without colour.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from temp0.core.tax import Price, Row, Tax
from temp0.core.tax_record import Terms
from temp0.report.figure import UNKNOWN, number, some
from temp0.report.prose import Prose
from temp0.report.table import plain_table
from temp0.report.tax_figure import price_cells
from temp0.report.tax_finding import findings, headline, is_ours, limits, side_label, told_ttft_tokens
from temp0.report.tax_remark import remarks
from temp0.report.visible import visible

_MS = 1e-3
_LEGEND = (
    "Median of the rounds (lowest and highest). A tax is time for the same work, the second side's over the first's, "
    "minus one, within each round: below 0 the second is the faster."
)


def tax_terminal(tax: Tax) -> RenderableType:
    """The price as a rich renderable."""
    parts: list[RenderableType] = [Prose(headline(tax), style="bold"), *(Prose(line) for line in findings(tax))]
    parts += [*_section("Mind", remarks(tax)), "", *(Prose(line, style="dim") for line in _terms(tax))]
    if tax.rows:
        parts += ["", *_tables(tax), *_section("What this cannot tell", limits(tax))]
    return Group(*parts)


def _terms(tax: Tax) -> Iterator[str]:
    plan, terms = tax.measured.plan, tax.measured.terms
    yield from _our_sides(terms) if is_ours(tax) else _their_sides(tax)
    length = f"{'' if terms.ignores_eos else 'at most '}{some(plan.max_tokens, 'token')} an answer"
    cache = "prefix cache off" if terms.cache == "off" else "prefix cache as found"
    load = "" if terms.machine.load is None else f", load {number(terms.machine.load)} before"
    yield f"{some(len(plan.prompts), 'prompt')}, {length}, {cache}, {some(plan.rounds, 'round')}"
    where = "" if is_ours(tax) else "asked from "
    yield f"{where}{visible(terms.machine.processor)}, {some(terms.machine.cores, 'core')}{load}"


def _our_sides(terms: Terms) -> Iterator[str]:
    stock, invariant, *_ = terms.sides
    file = "" if terms.weights is None else f" from {visible(terms.weights)}"
    kept = ", ".join(f"{side.name} with {side.weight_dtype} weights" for side in (stock, invariant))
    yield (
        f"{visible(stock.model)}{file}; {kept}; activations {terms.activations}, {some(terms.threads or 0, 'thread')}"
    )


def _their_sides(tax: Tax) -> Iterator[str]:
    for side in tax.measured.terms.sides:
        yield f"{side_label(tax, side.name)}: {visible(side.model)} at {visible(side.url or UNKNOWN)}"


def _tables(tax: Tax) -> Iterator[RenderableType]:
    yield from _table(
        tax, "Tokens a second, reading the prompts included", tax.rows, [row.throughput for row in tax.rows]
    )
    yield from _table(tax, "Time per token, ms", tax.rows, [row.token for row in tax.rows], unit=_MS)
    alone = [next(row for row in tax.rows if row.side == side) for side in dict.fromkeys(row.side for row in tax.rows)]
    title = f"Time to first token of a prompt of {told_ttft_tokens(tax)}, alone, ms"
    yield from _table(tax, title, alone, [row.ttft for row in alone], unit=_MS, with_level=False)
    yield from _texts(tax)
    yield Prose(_LEGEND, style="dim")


def _table(
    tax: Tax,
    title: str,
    rows: Sequence[Row],
    prices: Sequence[Price | None],
    *,
    unit: float = 1.0,
    with_level: bool = True,
) -> Iterator[RenderableType]:
    table = _columns(tax, "tax")
    for row, price in zip(rows, prices, strict=True):
        table.add_row(_level(row, with_level=with_level), *(Prose(cell) for cell in price_cells(price, unit=unit)))
    yield Text(title, style="bold")
    yield Padding(table, (0, 0, 1, 2))


def _texts(tax: Tax) -> Iterator[RenderableType]:
    table = _columns(tax, "prompts")
    for row in tax.rows:
        counts = (row.distinct_stock, row.distinct_invariant, row.prompts)
        table.add_row(_level(row), *(f"{count:,}" for count in counts))
    yield Text("Different texts, within each row", style="bold")
    yield Padding(table, (0, 0, 1, 2))


def _columns(tax: Tax, last: str) -> Table:
    names = ("in flight", side_label(tax, "stock"), side_label(tax, "invariant"), last)
    table = plain_table(*names, right=names[1:], gap=2)
    for column, width in zip(table.columns, (16, 17, 17, 20), strict=True):
        column.min_width = width
        column.no_wrap = True
    return table


def _level(row: Row, *, with_level: bool = True) -> str:
    level = str(row.in_flight) if with_level else "alone"
    return f"{level}, fp32 both" if row.side == "equal-bytes" else level


def _section(heading: str, sentences: Iterable[str]) -> Iterator[RenderableType]:
    told = list(sentences)
    if told:
        yield Text(f"\n{heading}", style="bold")
    yield from (Padding(Prose(sentence), (0, 0, 0, 2)) for sentence in told)
