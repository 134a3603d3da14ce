"""`temp0 runs`: the list of stored runs."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from temp0.cli import options

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

    from temp0.workflow.keeping import RunSummary


@click.command()
@options.store
@options.as_json
def runs(store: Path | None, as_json: bool) -> int:
    """List the stored runs, the newest first: how many judged requests were answered, of how many, and how many failed.

    `temp0 show RUN` judges one of them again.
    """
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
    options.show(_Listing(summaries))
    if not all(one.finished for one in summaries):
        click.echo("… is not finished: temp0 probe --resume RUN goes on.")


class _Listing:
    """A run in each line where all fit, else each in two: what became of it, then whom it asked. Nothing is cut."""

    def __init__(self, summaries: tuple[RunSummary, ...]) -> None:
        self._rows = [("run", "created (UTC)", "answered", "failed"), *map(_counts, summaries)]
        self._asked = ["model and endpoint", *(options.plain(f"{one.model} at {one.url}") for one in summaries)]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.cells import cell_len
        from rich.padding import Padding
        from rich.text import Text

        widths = [max(map(len, column)) for column in zip(*self._rows, strict=True)]
        lines = [f"{run:{widths[0]}}  {at:{widths[1]}}  {answered:>{widths[2]}}  {failed:>{widths[3]}}"
                 for run, at, answered, failed in self._rows]  # fmt: skip
        rows = list(zip(lines, self._asked, strict=True))
        if all(cell_len(f"{line}  {asked}") <= options.max_width for line, asked in rows):
            yield Text("\n".join(f"{line}  {asked}" for line, asked in rows))
            return
        for line, asked in rows:
            yield Text(line, overflow="fold")
            yield Padding(Text(asked, overflow="fold"), (0, 0, 0, 4))


def _counts(one: RunSummary) -> tuple[str, str, str, str]:
    answered = f"{one.completions:,} of {one.planned:,}{'' if one.finished else ' …'}"
    run, created = options.plain(one.id), options.plain(one.created[:16].replace("T", " "))
    return run, created, answered, f"{one.failures:,}" if one.failures else ""
