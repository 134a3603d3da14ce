"""`temp0 runs`: the list of stored runs."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from temp0.cli import options

if TYPE_CHECKING:
    from temp0.workflow.keeping import RunSummary


@click.command()
@options.store
@options.as_json
def runs(store: Path | None, as_json: bool) -> int:
    """List the stored runs, the newest first."""
    from temp0.workflow.keeping import runs as stored_runs

    summaries = stored_runs(store)
    if as_json:
        document = {"schema": "temp0/runs", "version": 1, "exit_code": 0, "runs": [asdict(one) for one in summaries]}
        click.echo(json.dumps(document, allow_nan=False, indent=2))
    elif not summaries:
        click.echo(f"No run is stored in {store or 'the user data folder'}. `temp0 probe` makes one.")
    else:
        _print_table(summaries)
    return 0


def _print_table(summaries: tuple[RunSummary, ...]) -> None:
    from rich.table import Column, Table
    from rich.text import Text

    fixed = [Column(name, no_wrap=True, min_width=width) for name, width in (("run", 12), ("created (UTC)", 16))]
    counts = [Column(name, no_wrap=True, justify="right") for name in ("asked", "failed")]
    table = Table(
        *fixed, Column("model", no_wrap=True), Column("endpoint", no_wrap=True), *counts, box=None, pad_edge=False
    )
    for one in summaries:
        created = one.created[:16].replace("T", " ")
        asked = f"{one.completions}/{one.planned}{'' if one.finished else ' …'}"
        cells = (one.id, created, one.model, one.url, asked, str(one.failures or ""))
        table.add_row(*(Text(options.plain(cell)) for cell in cells))
    options.show(table)
    if not all(one.finished for one in summaries):
        click.echo("… is not finished: temp0 probe --resume RUN goes on.")
