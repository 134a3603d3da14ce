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
        click.echo("No run is stored yet. `temp0 probe` makes one.")
    else:
        _print_table(summaries)
    return 0


def _print_table(summaries: tuple[RunSummary, ...]) -> None:
    from rich.console import Console
    from rich.table import Column, Table
    from rich.text import Text

    table = Table(
        Column("run", no_wrap=True), "created", "endpoint", "model", "completions", "failures", "finished", box=None
    )
    for one in summaries:
        completions = f"{one.completions} of {one.planned}"
        cells = (one.id, one.created[:19].replace("T", " "), one.url, one.model, completions, str(one.failures))
        table.add_row(*(Text(cell) for cell in cells), "yes" if one.finished else "no")
    Console(highlight=False).print(table)
