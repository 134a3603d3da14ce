"""The roofs of the machine and what share of them is reached, as a Markdown table.

A share is taken within a round, and a roof is the best of its round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from peers.roofline import Roofline, Round
from peers.spread import Spread, ratio, spread
from peers.table import markdown

_GIGA = 1e9


def roofs(roofline: Roofline | str) -> str:
    """Both roofs and the shares by rows and by shape; a text is the reason why there is none."""
    if isinstance(roofline, str):
        return f"Roofline: not measured: {roofline}\n"
    return markdown(("roofline", "seen"), [*_roofs(roofline), *_decoding(roofline), *_products(roofline)])


def decode_share(roofline: Roofline, rows: int) -> Spread:
    """Bytes of weights over the time of a decode step, as a fraction of memory bandwidth."""
    return _of(roofline, lambda one: roofline.weight_bytes / one.step_s[rows] / one.bandwidth)


def products_share(roofline: Roofline, rows: int) -> Spread:
    """Operations/s of the products, as a fraction of the peak."""
    return _of(roofline, lambda one: one.products[rows] / one.multiply_adds)


def _roofs(roofline: Roofline) -> Iterator[tuple[str, str]]:
    peak = _of(roofline, lambda one: one.multiply_adds / _GIGA)
    wide = _of(roofline, lambda one: one.bandwidth / _GIGA)
    narrow = _of(roofline, lambda one: one.model_sized / _GIGA)
    yield "memory bandwidth", f"{wide.text('{:.1f}')} GB/s"
    yield f"the same over {roofline.weight_bytes / 1e6:.0f} MB, as much as the weights", f"{narrow.text('{:.1f}')} GB/s"
    on_tiles = "; the products run on the tile unit, whose own peak is far higher" * (roofline.instructions == "amx")
    yield f"peak of fp32 multiply-adds on the vector unit{on_tiles}", f"{peak.text('{:.0f}')} GFLOP/s"


def _decoding(roofline: Roofline) -> Iterator[tuple[str, str]]:
    for rows in roofline.rounds[0].step_s:
        milliseconds = spread([1e3 * one.step_s[rows] for one in roofline.rounds]).text("{:.1f}")
        share = decode_share(roofline, rows).text("{:.0%}")
        yield f"decode step, {_rows(rows)}", f"{milliseconds} ms, {share} of bandwidth"


def _products(roofline: Roofline) -> Iterator[tuple[str, str]]:
    for rows in roofline.rounds[0].products:
        yield f"all products, {_rows(rows)}", _rate(roofline, [one.products[rows] for one in roofline.rounds])
    for shape in roofline.rounds[0].by_shape:
        name = f"products of {shape[0]} x {shape[1]}, 128 rows"
        yield name, _rate(roofline, [one.by_shape[shape] for one in roofline.rounds])


def _rate(roofline: Roofline, rates: Sequence[float]) -> str:
    share = ratio(rates, [one.multiply_adds for one in roofline.rounds])
    return f"{spread([rate / _GIGA for rate in rates]).text('{:.0f}')} GFLOP/s, {share.text('{:.0%}')} of peak"


def _of(roofline: Roofline, figure: Callable[[Round], float]) -> Spread:
    return spread([figure(one) for one in roofline.rounds])


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"
