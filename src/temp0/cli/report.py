"""`temp0 report`: a stored run as a page, as JSON, as a card or as JUnit XML, into a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from temp0.cli import options

if TYPE_CHECKING:
    from temp0.workflow.showing import Form


@click.command()
@click.argument("run", default="last")
@click.option("--format", "kind", type=click.Choice(["html", "json", "md", "junit"]), default="html", show_default=True)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Where to write; - is standard output.  [default: temp0-report-RUN, with .html, .json, .md or .xml]",
)
@options.store
@options.as_json
def report(run: str, kind: Form, output: Path | None, store: Path | None, as_json: bool) -> int:
    """Write a stored run into a file: RUN is the beginning of its id, or `last`.

    \b
    html    one self-contained page
    json    the analysis, for programs
    md      a short card, for a pull request or a reliability document
    junit   one test case for each prompt, for CI
    """
    from temp0.workflow.keeping import judged
    from temp0.workflow.showing import SUFFIXES, shown, write_report

    analysis = judged(run, store)
    path = output or Path(f"temp0-report-{analysis.run}.{SUFFIXES[kind]}")
    if str(path) == "-" and as_json and kind != "json":
        raise click.UsageError("--json says where the report was written; with -o - the report itself is printed")
    if str(path) == "-":
        click.echo(shown(analysis, kind, store=store), nl=False)
        return 0
    write_report(analysis, kind, path, store=store)
    if as_json:
        document = {"schema": "temp0/report", "version": 1, "exit_code": 0, "format": kind, "path": str(path)}
        click.echo(json.dumps(document, allow_nan=False))
    else:
        click.echo(str(path))
    return 0
