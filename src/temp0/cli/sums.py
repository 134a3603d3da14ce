"""`temp0 sums`: the order of addition, by hand.

The figures come from the lab and differ from seed to seed; nothing here is written down beforehand.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.table import Table

    from temp0.workflow.summing import StoredPair, SumsResult


@click.command()
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the orders.")
@click.option(
    "--orders",
    type=click.IntRange(min=1, max=100_000),
    default=1000,
    show_default=True,
    help="How many random orders to add in.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def sums(seed: int, orders: int, as_json: bool) -> None:
    """Show the order of addition, by hand.

    Adds 100 times 1e-8, +1 and -1 in many random orders under several reduction trees, and shows how many
    different sums come out; then stores two nearly equal logits in the formats of serving.
    """
    from temp0.workflow.summing import order_experiment, stored_logits

    result = order_experiment(orders=orders, seed=seed)
    pairs = stored_logits()
    if as_json:
        click.echo(json.dumps(_document(result, pairs), allow_nan=False, indent=2))
    else:
        _print_tables(result, pairs)


def _document(result: SumsResult, pairs: tuple[StoredPair, ...]) -> dict[str, Any]:
    from temp0.workflow.summing import LOGITS

    return {
        "schema": "temp0/sums",
        "version": 1,
        "exit_code": 0,
        "seed": result.seed,
        "orders": result.orders,
        "summands": [
            {"value": value, "count": result.summands.count(value)} for value in dict.fromkeys(result.summands)
        ],
        "trees": [
            {
                "name": sums.tree.name,
                "summands": sums.tree.summands,
                "distinct": sums.distinct,
                "min": sums.min,
                "max": sums.max,
                "spread": sums.spread,
                "exact": sums.exact,
            }
            for sums in result.trees
        ],
        "logits": list(LOGITS),
        "formats": [_format_entry(pair) for pair in pairs],
    }


def _format_entry(pair: StoredPair) -> dict[str, Any]:
    return {
        "name": pair.format,
        "unit": pair.unit,
        "stored": [pair.first, pair.second],
        "units_apart": pair.units_apart,
        "tie": pair.is_tie,
        "flip": pair.flip,
        "flip_units": pair.flip_units,
    }


def _print_tables(result: SumsResult, pairs: tuple[StoredPair, ...]) -> None:
    from rich.console import Console

    console = Console(highlight=False)
    console.print(_sums_table(result))
    console.print(
        "Every float32 row adds the same numbers in the same orders, and none miscalculates: each addition is "
        "rounded correctly, only another tree rounds at other places. So the reduction tree decides how "
        "many answers there are, and a server that picks its tree by batch size picks your answer with it.\n"
    )
    console.print(_logits_table(pairs))
    tied = " and ".join(pair.format for pair in pairs if pair.is_tie)
    console.print(
        f"Both logits are the same number in {tied or 'none of these formats'}. Where they tie, a change "
        "of less than one unit in the last place, which another order of addition can bring, makes argmax "
        "choose the other token, and from there on the texts fork."
    )


def _sums_table(result: SumsResult) -> Table:
    title = (
        f"100 x 1e-8, +1, -1 in {result.orders:,} random orders (seed {result.seed}); "
        f"exactly {result.trees[0].exact:.9g}"
    )
    table = _table(title, "reduction tree", "distinct sums", "min", "max", "spread")
    for sums in result.trees:
        figures = (f"{figure:.4g}" for figure in (sums.min, sums.max, sums.spread))
        table.add_row(sums.tree.name, f"{sums.distinct:,}", *figures)
    return table


def _logits_table(pairs: tuple[StoredPair, ...]) -> Table:
    from temp0.workflow.summing import LOGITS

    title = f"Logits {LOGITS[0]} and {LOGITS[1]}, as stored; unit: the last place"
    table = _table(title, "format", "first", "second", "unit", "apart", "argmax flips beyond")
    for pair in pairs:
        apart = "0: a tie" if pair.is_tie else f"{pair.units_apart:,.0f} units"
        flip = f"{pair.flip_units:,.2f} units"
        table.add_row(pair.format, f"{pair.first:.8g}", f"{pair.second:.8g}", f"{pair.unit:.2e}", apart, flip)
    return table


def _table(title: str, *headings: str) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for place, heading in enumerate(headings):
        table.add_column(heading, justify="right" if place else "left")
    return table
