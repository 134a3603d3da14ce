"""Options that several verbs share, and how their values are read."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import RenderableType

    from temp0.core.analysis import Analysis

PIPED_WIDTH = 100

store = click.option(
    "--store",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Keep or find runs in this file instead of the user data folder.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print exactly one JSON document.")


class Numbers(click.ParamType[tuple[int, ...]]):
    """Whole numbers of at least 1, separated by commas, each once."""

    name = "numbers"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """Read `1,8` as (1, 8)."""
        if isinstance(value, tuple):
            return value
        parts = [part.strip() for part in str(value).split(",")]
        if not all(part.isdecimal() and int(part) >= 1 for part in parts):
            self.fail(f"{value!r} is not a list of whole numbers of at least 1, such as 1,8", param, ctx)
        return tuple(dict.fromkeys(int(part) for part in parts))


def store_flag(path: Path | None) -> str:
    """What a command needs to find the run again."""
    return "" if path is None else f" --store {shlex.quote(str(path))}"


def plain(text: str) -> str:
    """A message for a terminal: characters that could command it are written as escapes; line ends stay."""
    if text.replace("\n", "").isprintable():
        return text
    return "".join(one if one == "\n" or one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def show_analysis(analysis: Analysis, as_json: bool, store: Path | None) -> int:
    """Print an analysis as JSON or for a terminal, and give its exit code; `store` is where the user keeps the run."""
    from temp0.workflow.showing import shown, terminal

    kept_in = None if store is None else str(store)
    show(shown(analysis, "json").rstrip("\n") if as_json else terminal(analysis, store=kept_in))
    return analysis.exit_code


def show(document: RenderableType) -> None:
    """Print a JSON document as it is, or a renderable: in colour on a terminal, as plain text into a pipe."""
    if isinstance(document, str):
        click.echo(document)
    elif sys.stdout.isatty():
        from rich.console import Console

        Console(highlight=False).print(document, crop=False)
    else:
        from temp0.workflow.showing import rendered

        click.echo(rendered(document, width=shutil.get_terminal_size((PIPED_WIDTH, 0)).columns))
