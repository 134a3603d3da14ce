"""`temp0 show`: a stored run again, judged afresh."""

from __future__ import annotations

from pathlib import Path

import click

from temp0.cli import options


@click.command()
@click.argument("run", default="last")
@click.option(
    "--raw",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Also write what was sent and what came back into this folder: a JSON file for each attempt. The answers are "
    "there where the run was made with --keep-raw.",
)
@options.store
@options.as_json
def show(run: str, raw: Path | None, store: Path | None, as_json: bool) -> int:
    """Show a stored run again: RUN is the beginning of its id, or `last`.

    The analysis is computed afresh from the record. The exit code is the verdict's.
    """
    from temp0.workflow.keeping import judged

    if raw:
        from temp0.workflow.raw import write_raw

        count = write_raw(run, raw, store=store)
        click.echo(f"temp0: {count:,} attempts written into {raw}", err=True)
    return options.show_analysis(judged(run, store), as_json, store)
