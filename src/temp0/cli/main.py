"""The door: which verbs there are, and how every way of ending becomes an exit code.

A verb is imported when it is called, and no verb imports anything heavy before it runs, so that `--help` is quick.
"""

from __future__ import annotations

import os
import sys
import traceback
from difflib import get_close_matches
from importlib import import_module
from io import TextIOWrapper
from keyword import iskeyword
from typing import NoReturn

import click

from temp0 import __version__
from temp0.cli import options
from temp0.errors import Temp0Error

INTERNAL_ERROR = 70
INTERRUPTED = 4

VERBS = {
    "probe": "Ask an endpoint the same prompts many times and show where its answers fork.",
    "show": "Show a stored run again.",
    "compare": "Show two stored runs side by side.",
    "runs": "List the stored runs.",
    "explain": "Look again at the forks of a stored run: how nearly tied, and how deep.",
    "report": "Write a stored run as a page, as JSON, as a card or as JUnit XML.",
    "import": "Read repeated answers that other tools recorded as a run.",
    "check": "The gate for CI: hold endpoints against a baseline and what you tolerate.",
    "serve": "Serve the built-in engine, OpenAI- and Anthropic-style.",
    "trees": "Reveal in which order this machine's kernels add, batch size by batch size.",
    "sums": "Work out the order of addition by hand.",
    "tax": "Measure what invariance costs here, in throughput and latency.",
}


class Verbs(click.Group):
    """A group whose commands live in modules of their own, imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs, in the order in which a user meets them."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a verb, or `None` where there is no such verb."""
        if cmd_name not in VERBS:
            return None
        name = f"{cmd_name}_" if iskeyword(cmd_name) else cmd_name
        command: click.Command = getattr(import_module(f"temp0.cli.{name}"), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb, or say which one may have been meant."""
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            close = get_close_matches(args[0], VERBS, n=1)
            meant = f" Did you mean {close[0]}?" if close else f" There are: {', '.join(VERBS)}."
            raise click.UsageError(f"No such verb {args[0]!r}.{meant}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs without importing any of them."""
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))


@click.group(
    cls=Verbs,
    subcommand_metavar="VERB [OPTIONS]...",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 agreed or done, 1 diverged, 2 usage, 3 nothing was measured, 4 undecided, 70 internal error.",
)
@click.version_option(__version__, prog_name="temp0")
def temp0() -> None:
    """Does a temperature-0 endpoint always give the same answer, and if not, where does it fork?

    \b
    Start here:
      temp0 probe                                     the built-in model on the built-in engine
      temp0 probe http://127.0.0.1:8000/v1            any OpenAI-style server
      temp0 probe https://api.openai.com/v1 --model NAME --prompt "Say hi." -n 30
    """


def main() -> NoReturn:
    """Run the command line and end the process with the exit code that docs and help promise."""
    code = INTERNAL_ERROR
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = _run()
    except Exception as error:  # noqa: BLE001 - the outermost door: a traceback must never look like a verdict
        traceback.print_exc()
        _failed(INTERNAL_ERROR, f"internal error: {type(error).__name__}: {error}")
    finally:
        sys.exit(code)


def _run() -> int:
    try:
        code = temp0.main(standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return error.exit_code
    except click.ClickException as error:
        return _failed(error.exit_code, error.format_message(), error)
    except Temp0Error as error:
        return _failed(error.exit_code, str(error), error)
    except (KeyboardInterrupt, click.Abort):
        return _failed(INTERRUPTED, "interrupted")
    except BrokenPipeError:
        for stream in (sys.stdout, sys.stderr):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        return 0
    return code if isinstance(code, int) else 0


def _failed(exit_code: int, message: str, error: Exception | None = None) -> int:
    if isinstance(error, click.UsageError) and error.ctx is not None:
        message += f"\nSee `{error.ctx.command_path} --help`."
    click.echo(f"temp0: {options.plain(message)}", err=True)
    if "--json" in sys.argv:
        from temp0.workflow.showing import failure_text

        click.echo(failure_text(exit_code, message))
    return exit_code
