"""`temp0 explain`: a second pass at the forks of a stored run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from temp0.cli import options, transport
from temp0.cli.sigterm import carried_out, ended_by_sigterm

if TYPE_CHECKING:
    from rich.console import Console

    from temp0.core.descent import Descent
    from temp0.core.plan import Plan
    from temp0.core.run import Run
    from temp0.workflow.keeping import Store
    from temp0.workflow.probing import Where

_INTERRUPTED = "interrupted; not every fork was followed down"


@click.command()
@click.argument("run", default="last")
@click.option(
    "-n", type=click.IntRange(min=1), default=8, show_default=True, help="Attempts of each prompt and condition."
)
@click.option("--company", type=click.IntRange(min=2), help="Requests in flight.  [default: the run's largest]")
@click.option(
    "--logprobs",
    type=click.Choice(["on", "off"]),
    default="on",
    show_default=True,
    help="Ask for logprobs; off for an endpoint that refuses them.",
)
@click.option("--with", "second", metavar="RUN", help="Ask nothing: read this stored run as the second pass.")
@click.option(
    "--weights", type=click.Path(exists=True, path_type=Path), help="Our engine's model, where it is another one."
)
@click.option("--threads", type=click.IntRange(min=1), help="Threads of our engine.")
@click.option("--key-env", metavar="NAME", help="The environment variable that holds the key.")
@transport.header
@click.option(
    "--timeout-s",
    type=click.FloatRange(min=0, min_open=True),
    default=300.0,
    show_default=True,
    help="Seconds until an attempt counts as failed.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Orders the blocks.")
@click.option("--max-requests", type=click.IntRange(min=1), help="Never send more requests than this.")
@click.option(
    "--html", "page", type=click.Path(path_type=Path), help="Write the run's page with the explanation here, too."
)
@click.option("--dry-run", is_flag=True, help="Say what the second pass costs, and send nothing.")
@options.store
@options.as_json
def explain(run: str, as_json: bool, **given: Any) -> int:
    """Look again at the forks of a stored run: RUN is the beginning of its id, or `last`.

    Every prompt is asked again with logprobs, alone and in company, and where the endpoint can go on from the beginning
    of an answer, from just before each fork: how nearly tied were the tokens there, and did company move them? Where
    near ties lie that did not fork is shown beside. The second pass is stored as a run of its own, which `last` passes
    over here; the verdict of the first run stays as it is.

    A beginning ends between words; where the server cuts it into other tokens than the model wrote, the numbers at
    the fork are those of that text and not of the answer. Whether a server goes on at all is seen in what it answers.

    A run of our own engine (probed without a URL, or `temp0 serve` on the same weights, in any dialect that it speaks)
    is followed to the bottom: the first product whose bits differ in company, how the difference grows from layer to
    layer, the two tokens that swap, and the two orders of addition that began it. No other endpoint can be looked into:
    --weights and --threads are those of our engine, and do nothing for other runs.

    \b
    temp0 explain                     the last run
    temp0 explain 3f2a -n 16          more attempts
    temp0 explain 3f2a --with 3f2a    ask nothing: the run itself was made with --logprobs both

    Exit codes: 0 done, 2 usage, 3 nothing came back.
    """
    from rich.console import Console

    from temp0.workflow.keeping import open_store
    from temp0.workflow.showing import check_writable

    if given["page"] is not None:
        check_writable(given["page"])
    console = Console(stderr=True, highlight=False)
    with open_store(given["store"]) as store:
        first = _first(store, run)
        if given["second"] is not None:
            second, interrupted = store.load(store.resolve(given["second"])), False
        else:
            plan = _plan(first, given)
            if given["dry_run"]:
                return _dry_run(plan, as_json)
            second, interrupted = _ask_again(first, plan, given, store, console)
    found, why_not = _descents(first, given, console, has_time=not interrupted)
    return _show(first, second, found, why_not, as_json, given)


def _first(store: Store, named: str) -> Run:
    """The run that is meant; by `last` never a second pass that continued the answers of another run."""
    from temp0.core.continuation import first_prompts

    found, back = store.head(store.resolve(named)), 0
    while named == "last" and first_prompts(found.plan) != found.plan.prompts:
        back += 1
        found = store.head(store.resolve(f"last~{back}"))
    return store.load(found.id)


def _plan(first: Run, given: dict[str, Any]) -> Plan:
    from temp0.workflow.explaining import second_plan

    logprobs = given["logprobs"] == "on"
    return second_plan(first, n=given["n"], company=given["company"], logprobs=logprobs, seed=given["seed"])


def _dry_run(plan: Plan, as_json: bool) -> int:
    from temp0.workflow.costing import costs, plan_document

    blocks = plan.blocks()
    if as_json:
        click.echo(json.dumps(plan_document(plan, blocks), allow_nan=False))
    else:
        click.echo("\n".join([*costs(plan, blocks), "dry run: nothing was sent"]))
    return 0


def _ask_again(first: Run, plan: Plan, given: dict[str, Any], store: Store, console: Console) -> tuple[Run, bool]:
    """The second pass, asked and stored as a run of its own, and whether it was interrupted."""
    from temp0.cli.progress import progress
    from temp0.workflow.costing import costs
    from temp0.workflow.probing import Start, probe

    with progress(console) as shown:

        def begin(start: Start) -> None:
            for line in [f"second pass of run {first.id}", *costs(plan, start.blocks)]:
                console.print(options.plain(line), markup=False, soft_wrap=True)
            shown.begin(sum(block.size for block in start.blocks))

        sitting = carried_out(
            probe(
                plan,
                _where(first, given),
                store=store,
                max_requests=given["max_requests"],
                on_start=begin,
                on_attempt=shown.attempt,
                on_pause=shown.pause,
            )
        )
    if sitting.stopped:
        click.echo(f"temp0: stopped early: {sitting.stopped.reason}: {sitting.stopped.message}", err=True)
    elif not sitting.interrupted:
        _tell_failures(sitting.run)
    if sitting.interrupted:
        again = f"temp0 explain {first.id} --with {sitting.run.id}{options.store_flag(given['store'])}"
        click.echo(f"temp0: interrupted; what came back is shown, and again by: {again}", err=True)
    return sitting.run, sitting.interrupted


def _where(first: Run, given: dict[str, Any]) -> Where:
    """The endpoint of the first run, asked as that was."""
    from temp0.workflow.builtin import Builtin
    from temp0.workflow.probing import Where, refuse_lacking_headers

    headers = transport.headers(given)
    refuse_lacking_headers(first, [name for name, _ in headers])
    is_builtin = first.address.url.startswith("builtin:")
    return Where(
        url=first.address.url,
        model=first.address.model,
        api=first.address.api,
        key_env=given["key_env"],
        headers=headers,
        extra=json.loads(first.address.extra or "{}"),
        timeout_s=given["timeout_s"],
        engine=Builtin(weights=given["weights"], threads=given["threads"]) if is_builtin else Builtin(),
    )


def _tell_failures(second: Run) -> None:
    """Say how many attempts have no answer, and why the first has none."""
    from temp0.core.run import Failure

    judged = [attempt for attempt in second.attempts if attempt.role == "judged"]
    failed = [attempt.outcome for attempt in judged if isinstance(attempt.outcome, Failure)]
    if not failed:
        return
    told = f"temp0: {len(failed)} of {len(judged)} attempts failed; the first: {failed[0].reason}: {failed[0].message}"
    if len(failed) == len(judged) and any(condition.logprobs for condition in second.plan.conditions):
        told += "\ntemp0: if it is logprobs that are refused: --logprobs off asks without them"
    click.echo(options.plain(told), err=True)


def _descents(
    first: Run, given: dict[str, Any], console: Console, *, has_time: bool
) -> tuple[tuple[Descent, ...], str | None]:
    """The forks of our own engine followed down, until Ctrl-C, or why they were not; neither for another endpoint."""
    from temp0.workflow.explaining import descents
    from temp0.workflow.own_engine import OwnEngine, own_engine

    engine = own_engine(first, given["weights"])
    if not isinstance(engine, OwnEngine):
        if engine:
            click.echo(f"temp0: {engine}", err=True)
        return (), engine
    if not has_time:
        return (), _INTERRUPTED

    def tell(prompt: str, company: int) -> None:
        what = f"in a company of {company}" if company else "its two orders of addition"
        console.print(options.plain(f"following prompt {prompt} down, {what} ..."), markup=False)

    found: list[Descent] = []
    try:
        with ended_by_sigterm():
            descents(
                first, weights=given["weights"], threads=given["threads"], on_company=tell, on_descent=found.append
            )
    except KeyboardInterrupt:
        click.echo(f"temp0: {_INTERRUPTED}", err=True)
        return tuple(found), _INTERRUPTED
    return tuple(found), None


def _show(
    first: Run,
    second: Run,
    found: tuple[Descent, ...],
    why_not: str | None,
    as_json: bool,
    given: dict[str, Any],
) -> int:
    from temp0.workflow.explaining import explained
    from temp0.workflow.showing import second_pass_exit_code, second_pass_json, second_pass_screen, write_explanation

    explanation = explained(first, second, found)
    if given["page"] is not None:
        parts = (explanation.first, explanation.second, explanation.descents)
        write_explanation(*parts, given["page"], store=given["store"])
        click.echo(f"temp0: wrote {given['page']}", err=True)
    told = explanation.second, explanation.descents
    options.show(second_pass_json(*told, not_followed=why_not) if as_json else second_pass_screen(*told))
    return second_pass_exit_code(explanation.second)
