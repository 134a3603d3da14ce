"""`temp0 show`: a stored run again, judged afresh."""

from __future__ import annotations

from pathlib import Path

import click

from temp0.cli import options


@click.command()
@click.argument("run", default="last")
@options.store
@options.as_json
def show(run: str, store: Path | None, as_json: bool) -> int:
    """Show a stored run again: RUN is the beginning of its id, or `last`.

    The analysis is computed afresh from the record. The exit code is the verdict's.
    """
    from temp0.workflow.keeping import judged

    return options.show_analysis(judged(run, store), as_json, store)
