"""`temp0 report`: a stored run as a page or as JSON, into a file."""

from __future__ import annotations

from pathlib import Path

import click

from temp0.cli import options
from temp0.errors import UsageError


@click.command()
@click.argument("run", default="last")
@click.option("--format", "kind", type=click.Choice(["html", "json"]), default="html", show_default=True)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Where to write; - is standard output. [default: temp0-report-RUN.FORMAT]",
)
@options.store
@options.as_json
def report(run: str, kind: str, output: Path | None, store: Path | None, as_json: bool) -> int:
    """Write a stored run as one self-contained HTML page, or as JSON: RUN is the beginning of its id, or `last`."""
    import json

    from temp0.core.judgement import analysis
    from temp0.report import html, json_text
    from temp0.store import Store

    with Store.open(options.store_path(store)) as kept:
        judged = analysis(kept.load(kept.resolve(run)))
    path = output or Path(f"temp0-report-{judged.run}.{kind}")
    text = html(judged) if kind == "html" else json_text(judged) + "\n"
    if str(path) == "-":
        click.echo(text, nl=False)
        return 0
    _write(path, text)
    if as_json:
        document = {"schema": "temp0/report", "version": 1, "exit_code": 0, "format": kind, "path": str(path)}
        click.echo(json.dumps(document, allow_nan=False))
    else:
        click.echo(str(path))
    return 0


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}; name another file with -o") from error
