"""`temp0 check`: the gate, for CI."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from temp0.cli import options
from temp0.cli.sigterm import carried_out

if TYPE_CHECKING:
    from rich.console import Console

    from temp0.workflow.checking import Check, CheckDone
    from temp0.workflow.keeping import Store
    from temp0.workflow.probing import Start
    from temp0.workflow.settings import EndpointSettings


@click.command()
@click.option(
    "--settings",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="temp0.toml or a pyproject.toml with [tool.temp0.check].  [default: the nearest, from this folder upwards]",
)
@click.option("--update", is_flag=True, help="Write what comes back as the new baseline, for review in a commit.")
@click.option("--dry-run", is_flag=True, help="Say what the gate costs, what it can and cannot do, and send nothing.")
@click.option(
    "--junit",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="JUnit XML: one test case for each endpoint and prompt.",
)
@click.option(
    "--summary",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A Markdown summary, appended: $GITHUB_STEP_SUMMARY, or a file for a merge request.",
)
@click.option("--gitlab", type=click.Path(path_type=Path), metavar="FILE", help="GitLab's Code Quality report.")
@click.option("--github", is_flag=True, help="Print annotations for GitHub Actions on the error stream.")
@options.store
@options.as_json
def check(as_json: bool, **given: Any) -> int:
    """Hold endpoints against a baseline that lives beside your code, and against what you tolerate.

    Settings are read from temp0.toml, or [tool.temp0.check] of pyproject.toml: endpoints, prompts, how often and in
    what company to ask, what is tolerated (nothing, texts that fold to the same, or a rate at a confidence), and the
    baseline file. For each prompt it tells apart: became nondeterministic, still deterministic but another text, better
    than before, and could not be measured.

    \b
    temp0 check --update        ask, and write the baseline: review it and commit it
    temp0 check                 in CI: exit 0 only where everything passed

    Exit codes: 0 passed, 1 something failed, 2 usage, 3 something could not be measured, 4 undecided.
    """
    from rich.console import Console

    from temp0.workflow.checking import prepared, refuse_other_prompts
    from temp0.workflow.keeping import open_store
    from temp0.workflow.settings import check_settings, find_settings

    settings = check_settings(given["settings"] or find_settings(Path.cwd()))
    prepared_check = prepared(settings, updating=given["update"])
    if not given["update"]:
        refuse_other_prompts(prepared_check)
    if not given["dry_run"]:
        _check_files(prepared_check, given)
    console = Console(stderr=True, highlight=False)
    _announce(prepared_check, console)
    if given["dry_run"]:
        click.echo("dry run: nothing was sent")
        return 0
    with open_store(given["store"]) as store:
        done = _asked(prepared_check, store, console)
    if given["update"]:
        _update(done, console)
    _write(done, given)
    return _show(done, as_json, updating=given["update"])


def _check_files(prepared: Check, given: dict[str, Any]) -> None:
    """Refuse a file that could not be written, before anything is paid for what should stand in it."""
    from temp0.workflow.showing import check_writable

    baseline = prepared.settings.baseline if given["update"] else None
    for path in (given["junit"], given["summary"], given["gitlab"], baseline):
        if path is not None:
            check_writable(path)


def _update(done: CheckDone, console: Console) -> None:
    from temp0.workflow.checking import updated

    baseline = done.check.settings.baseline
    if done.interrupted or all(one.outcome == "not-measured" for one in done.gate.checked):
        why = "interrupted" if done.interrupted else "nothing was measured"
        line = f"{why}: the baseline {baseline} stays as it was"
    else:
        updated(done)
        before = "" if done.check.baseline is None else "; what follows is held against the one before"
        line = f"wrote the baseline {baseline}{before}"
    console.print(options.plain(line), markup=False, soft_wrap=True)


def _announce(prepared: Check, console: Console) -> None:
    from temp0.workflow.costing import costs

    settings, plan = prepared.settings, prepared.plan
    known = "no baseline yet" if prepared.baseline is None else f"baseline {settings.baseline}"
    asked = len(settings.endpoints)
    lines = [
        f"settings {settings.source}, {known}",
        *costs(plan, plan.blocks()),
        *([f"the same for each of {asked} endpoints"] if asked > 1 else []),
        *(f"note: {why}" for why in prepared.cannot),
    ]
    for line in lines:
        console.print(options.plain(line), markup=False, soft_wrap=True)


def _asked(prepared: Check, store: Store, console: Console) -> CheckDone:
    from temp0.cli.progress import progress
    from temp0.workflow.checking import carried_through

    with progress(console) as shown:
        every = prepared.plan.attempts * len(prepared.settings.endpoints)
        shown.begin(every)

        def begin(endpoint: EndpointSettings, start: Start) -> None:
            run, left = start.run, sum(block.size for block in start.blocks)
            line = f"{endpoint.name}: run {run.id} of {run.address.model} at {run.address.url}"
            if run.attempts:
                planned = run.plan.attempts
                line = f"{endpoint.name}: answers that did not come are asked for once more: {left} of {planned}"
                shown.begin(every + left)
            console.print(options.plain(line), markup=False, soft_wrap=True)

        return carried_out(carried_through(prepared, store=store, on_endpoint=begin, on_attempt=shown.attempt))


def _write(done: CheckDone, given: dict[str, Any]) -> None:
    """The files and annotations that were asked for."""
    from temp0.workflow.settings import place_in_repository
    from temp0.workflow.showing import gate_card, gate_junit, github_annotations, gitlab_report, write_text

    cannot = done.check.cannot
    path = place_in_repository(done.check.settings.source)
    if given["junit"]:
        write_text(given["junit"], gate_junit(done.gate, runs=_runs(done)))
    if given["summary"]:
        write_text(given["summary"], gate_card(done.gate, cannot=cannot), append=True)
    if given["gitlab"]:
        write_text(given["gitlab"], gitlab_report(done.gate, path=path))
    if given["github"]:
        click.echo(github_annotations(done.gate, path=path, cannot=cannot), err=True, nl=False)


def _runs(done: CheckDone) -> list[tuple[str, str]]:
    return [(name, run.id) for name, run in done.runs]


def _show(done: CheckDone, as_json: bool, *, updating: bool) -> int:
    from temp0.workflow.showing import gate_json, gate_screen

    measured = all(one.outcome != "not-measured" for one in done.gate.checked)
    code = done.exit_code if not updating else 4 if done.interrupted else 0 if measured else 3
    cannot = done.check.cannot
    options.show(
        gate_json(done.gate, exit_code=code, cannot=cannot, runs=_runs(done))
        if as_json
        else gate_screen(done.gate, cannot=cannot)
    )
    return code
