"""`python -m temp0.conformance MODULE:NAME SAMPLES`: whether a dialect keeps its promises, on recorded answers.

SAMPLES is a folder. Files of one name belong together: NAME.json is an answer as it came, NAME.stream a streamed one,
and NAME.expected.json what is to be read in them. It ends with 0 where every promise was kept, 1 where one was not,
and 2 where it could not be tried.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path

import click

from temp0.errors import UsageError
from temp0.probe.conformance import ROUNDS, Sample, faults
from temp0.probe.dialect import Dialect

_EXPECTED = ".expected.json"


def samples(folder: Path) -> tuple[Sample, ...]:
    """The samples of a folder, by name.

    Raises:
        UsageError: There is none, or one cannot be read.

    """
    found = [_sample(path) for path in sorted(folder.glob(f"*{_EXPECTED}"))]
    if not found:
        raise UsageError(f"{folder} has no file whose name ends in {_EXPECTED}")
    return tuple(found)


def _sample(path: Path) -> Sample:
    name = path.name.removesuffix(_EXPECTED)
    try:
        expected = json.loads(path.read_bytes())
        if not isinstance(expected, dict):
            raise UsageError(f"{path} is no object of what is to be read")
        files = {form: path.with_name(f"{name}.{end}") for form, end in (("answer", "json"), ("stream", "stream"))}
        bodies = {form: file.read_bytes() for form, file in files.items() if file.exists()}
        if "answer" in bodies:
            json.loads(bodies["answer"])
    except (OSError, ValueError) as error:
        raise UsageError(f"{path.parent / name}: {error}") from error
    if not bodies:
        raise UsageError(f"{path} has neither {name}.json nor {name}.stream beside it")
    return Sample(name=name, expected=expected, answer=bodies.get("answer"), stream=bodies.get("stream"))


def named(where: str) -> Dialect:
    """The dialect that `MODULE:NAME` names.

    Raises:
        UsageError: There is none.

    """
    module, _, name = where.partition(":")
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(f"{where!r} is not MODULE:NAME of a dialect: {error}") from error
    if not isinstance(found, Dialect):
        raise UsageError(f"{where!r} is of the type {type(found).__name__}, expected temp0.probe.dialect.Dialect")
    return found


@click.command()
@click.argument("dialect", metavar="MODULE:NAME")
@click.argument("folder", metavar="SAMPLES", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--rounds", type=click.IntRange(min=1), default=ROUNDS, show_default=True, help="Inputs per reader.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the disorder that is read.")
def main(dialect: str, folder: Path, rounds: int, seed: int) -> None:
    """Check that the dialect MODULE:NAME keeps every promise, on the recorded answers in the folder SAMPLES.

    \b
    NAME.json           an answer as it came
    NAME.stream         a streamed answer, byte for byte
    NAME.expected.json  what is to be read in them: text, finish, ..., or failure

    Exit codes: 0 every promise was kept, 1 one was not, 2 it could not be tried.
    """  # noqa: D301 - click's own mark of lines that stay as they are
    try:
        tried, recorded = named(dialect), samples(folder)
    except UsageError as error:
        raise click.UsageError(str(error)) from error
    found = faults(tried, recorded, seed=seed, rounds=rounds)
    for promise, seen in found.items():
        click.echo(f"{'broken' if seen else 'kept':7} {promise}")
        for fault in seen:
            click.echo(f"        {fault}")
    broken = sum(bool(seen) for seen in found.values())
    click.echo(f"{tried.name}: {len(found) - broken} of {len(found)} promises kept, on {len(recorded)} samples")
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main(prog_name="python -m temp0.conformance")
