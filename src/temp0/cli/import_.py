"""`temp0 import`: repeated answers that other tools recorded."""

from __future__ import annotations

from pathlib import Path

import click

from temp0.cli import options


@click.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@options.store
@options.as_json
def import_(files: tuple[Path, ...], store: Path | None, as_json: bool) -> int:
    """Read FILES of other tools as one stored run, and show it; nobody is asked anything.

    \b
    inspect_ai               logs with epochs: .json, and .eval where inspect_ai is installed
    lm-evaluation-harness    samples_*.jsonl of --log_samples, from a task with repeats or from several runs
    promptfoo                results of `promptfoo eval --repeat N --output results.json` (or .jsonl)
    OpenAI batch             output files, with their input files, which tell what was asked; without them custom_id
                             verse-1, verse-2 are repeats of one prompt
    JSONL                    one answer a line: {"id" or "prompt" or "messages", "text" or "error", and response_id,
                             created, model, finish, temperature, score, parsed}

    Errors in such files are failures, answers from a cache are no new ones, and a temperature other than 0 makes the
    run not greedy. What they do not tell (what else was in flight, in which order, with which parameters) is said, and
    limits the verdict: equal answers without ids of their own may be replays, and stay undecided. A file that is cut
    short is refused, and nothing is stored. The same files are the same run.

    The exit code is the verdict's: 0 agreed, 1 diverged, 2 usage, 3 no completion counted, 4 undecided.
    """
    from datetime import UTC, datetime

    from temp0 import __version__
    from temp0.workflow.importing import imported, stored
    from temp0.workflow.keeping import judged, open_store

    run, notes = imported(files, created=datetime.now(UTC))
    with open_store(store) as opened:
        is_new = stored(run, opened, version=__version__)
    known = "" if is_new else ", which is stored already"
    count = len(run.attempts)
    for line in (f"imported {count:,} {'answer' if count == 1 else 'answers'} as run {run.id}{known}", *notes):
        click.echo(options.plain(line), err=True)
    return options.show_analysis(judged(run.id, store), as_json, store)
