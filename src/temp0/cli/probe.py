"""`temp0 probe`: the main job."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from temp0.cli import options, transport
from temp0.cli.sigterm import carried_out
from temp0.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from temp0.core.plan import Plan, Prompt
    from temp0.core.run import Run
    from temp0.workflow.keeping import Store
    from temp0.workflow.planning import Wish
    from temp0.workflow.probing import Sitting, Start

APIS = (
    "openai-chat",
    "openai-completions",
    "openai-responses",
    "anthropic",
    "mistral",
    "ollama",
    "llamacpp",
    "vllm",
    "sglang",
    "azure",
    "openrouter",
)
PLAN_OPTIONS = (
    "prompt",
    "prompts",
    "n",
    "max_tokens",
    "ask",
    "company",
    "alone",
    "filler",
    "cache",
    "logprobs",
    "stream",
    "exclusive",
    "seed",
    "model",
    "api",
    "extra_json",
    "not_greedy",
)
ADDRESS_OPTIONS = ("model", "api", "extra_json")
"""Those of them that belong to an endpoint: beside --again, another URL may need its own."""


SWITCH = click.Choice(["off", "on", "both"])


@click.command()
@click.argument("url", required=False)
@click.option("--model", metavar="NAME", help="The endpoint's model; needed unless the endpoint lists exactly one.")
@click.option("--api", type=click.Choice(APIS), help="The endpoint's dialect, where the URL does not tell.")
@click.option(
    "--key-env", metavar="NAME", help="The environment variable that holds the key, where it is not the usual one."
)
@click.option(
    "--weights",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Built-in engine: another GGUF file, or a Hugging Face directory.",
)
@click.option("--arithmetic", default="stock", metavar="NAME", help="Built-in engine: how it adds. [default: stock]")
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    help="Built-in engine: threads that calculate; 1 where the machine is busy.  [default: every usable core]",
)
@click.option(
    "--prompt", multiple=True, metavar="TEXT", help="A prompt; again for more. [default: five built-in prompts]"
)
@click.option(
    "--prompts",
    metavar="FILE",
    help="Prompts from a file, - for standard input: lines, or JSONL with id, prompt or messages, n, max_tokens.",
)
@click.option(
    "-n",
    "n",
    type=click.IntRange(min=1),
    help="Judged attempts of each prompt under each condition.  [default: 30; 20 or 30 for built-in prompts; as "
    "many as --ask needs]",
)
@click.option(
    "--alone", type=click.IntRange(min=1), metavar="N", help="Judged attempts alone, where fewer than -n will do."
)
@click.option("--max-tokens", type=click.IntRange(min=1), help="The most tokens of an answer. [default: 160]")
@click.option(
    "--ask",
    type=click.Choice(["repeatable", "company", "cache", "everything"]),
    help="A plan for one question, as said above; a flag beside it goes before what it plans.",
)
@click.option(
    "--company",
    type=options.Numbers(),
    metavar="K,...",
    help="Requests in flight, ours included; 1 is alone. A ladder: 1,2,4,8,32.  [default: 1,8]",
)
@click.option(
    "--filler",
    type=click.Choice(["same", "mixed", "both"]),
    help="Who keeps company: the same prompt, others of other lengths, or each in conditions of its own.  "
    "[default: same]",
)
@click.option(
    "--cache",
    type=click.Choice(["as-found", "cold", "warm", "both"]),
    help="The server's prefix cache: left as it is; cold, by the server's own means (llama.cpp, vLLM, SGLang, temp0); "
    "warm, each block after unjudged requests of its prompt; or cold and warm.  [default: as-found]",
)
@click.option(
    "--logprobs",
    type=SWITCH,
    help="Ask for logprobs (gives token positions; can itself change the answer).  [default: off]",
)
@click.option("--stream", type=SWITCH, help="Have answers streamed.  [default: off]")
@click.option("--exclusive", is_flag=True, help="You state that nobody else uses the endpoint meanwhile.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Orders the blocks.")
@click.option(
    "--max-requests", type=click.IntRange(min=1), help="Never send more requests than this, fillers included."
)
@click.option("--dry-run", is_flag=True, help="Say what the plan costs and can find, and send nothing.")
@click.option("--resume", metavar="RUN", help="Finish a stored run: the beginning of its id, or `last`.")
@click.option(
    "--again",
    metavar="RUN",
    help="Ask a stored run's plan anew, as a run of its own: of the endpoint that it asked, or of URL.",
)
@transport.options
@click.option("--html", type=click.Path(path_type=Path), metavar="FILE", help="Also write the report as a page.")
@options.store
@options.as_json
@click.pass_context
def probe(ctx: click.Context, /, as_json: bool, **given: Any) -> int:
    """Ask URL the same prompts many times at temperature 0, alone and in company, and show where the answers fork.

    URL is an OpenAI-style base such as http://127.0.0.1:8000/v1, https://api.anthropic.com, or a simulated endpoint
    such as fake:variants=3,rate=0.1,seed=7 (its settings: docs/fake.md). Without URL the built-in
    engine is started on the built-in model.
    Every attempt is stored as it ends: Ctrl-C and a crash lose only what is in flight, and --resume goes on.

    \b
    --ask repeatable   Does it repeat itself? Alone, 59 times: none unlike leaves at most 5%.
    --ask company      Do other requests change the answer? Alone, then 2, 4, 8 and 16 at once.
    --ask cache        Does the prefix cache change it? Cold and warm in turn, with and without logprobs.
    --ask everything   Company, mixed company, cache, logprobs and streaming, each varied by itself.

    Factors given as flags are crossed; a condition is each combination. What an endpoint cannot do is refused where a
    flag asks for it, and left out of --ask with a note.

    \b
    Exit codes: 0 agreed, 1 diverged, 2 usage, 3 no completion counted, 4 undecided.
    """
    if given["dry_run"] and given["resume"] is not None:
        raise UsageError("--dry-run prices a new plan; leave out --resume, whose cost is said before it goes on")
    if given["again"] is not None and given["resume"] is not None:
        raise UsageError("--again asks anew and --resume goes on; give one of them")
    if given["dry_run"] and given["again"] is None:
        return _dry_run(*_plan(given), as_json)
    from temp0.workflow.keeping import open_store
    from temp0.workflow.showing import check_writable

    if given["html"]:
        check_writable(given["html"])
    with open_store(given["store"]) as store:
        if given["dry_run"]:
            return _dry_run(_asked_before(ctx, given, store).plan, frozenset(), as_json)
        sitting = _sit(ctx, given, store)
    return _end(sitting, as_json, given["html"], given["store"])


def _sit(ctx: click.Context, given: dict[str, Any], store: Store) -> Sitting:
    """One sitting, with its cost said first and its progress shown."""
    from rich.console import Console

    from temp0.cli.progress import progress
    from temp0.workflow.costing import announcement
    from temp0.workflow.probing import probe as probing

    resume = _resumed(ctx, given, store) if given["resume"] is not None else None
    again = _asked_before(ctx, given, store) if given["again"] is not None else None
    known = resume or again
    plan, optional = (known.plan, frozenset[str]()) if known else _plan(given)
    _check_limit(plan, resume, given["max_requests"])
    console = Console(stderr=True, highlight=False)
    with progress(console) as shown:

        def begin(start: Start) -> None:
            lines = [_introduction(start.run), *start.notes, *announcement(start.run.plan, start.blocks, start.cold)]
            for line in lines:
                console.print(options.plain(line), markup=False, soft_wrap=True)
            shown.begin(sum(block.size for block in start.blocks))

        if known is None and given["url"] is None:
            console.print("starting the built-in engine ...")
        sitting = probing(
            plan,
            transport.where(given, resume or (again if given["url"] is None else None)),
            optional=optional,
            store=store,
            resume=resume,
            max_requests=given["max_requests"],
            patience_s=given["patience_s"],
            on_start=begin,
            on_attempt=shown.attempt,
            on_pause=shown.pause,
        )
        return carried_out(sitting)


def _introduction(run: Run) -> str:
    label = "" if run.plan.greedy else ", not greedy: its answers may differ by chance"
    return f"run {run.id} of {run.address.model} at {run.address.url}{label}"


def _end(sitting: Sitting, as_json: bool, page: Path | None, store: Path | None) -> int:
    """Say why the sitting ended early, if it did, then show what the run proves."""
    from dataclasses import replace

    from temp0.core.judgement import analysis
    from temp0.workflow.showing import write_report

    judged = replace(analysis(sitting.run), interrupted=sitting.interrupted)
    code = options.show_analysis(judged, as_json, store)
    if page:
        write_report(judged, "html", page, store=store)
    if sitting.stopped:
        click.echo(f"temp0: stopped early: {sitting.stopped.reason}: {sitting.stopped.message}", err=True)
    if sitting.interrupted:
        click.echo(
            f"temp0: interrupted; go on with: temp0 probe --resume {judged.run}{options.store_flag(store)}", err=True
        )
    return code


def _dry_run(plan: Plan, optional: frozenset[str], as_json: bool) -> int:
    from temp0.workflow.costing import announcement, cold_unknown, plan_document

    blocks = plan.blocks()
    if as_json:
        click.echo(json.dumps(plan_document(plan, blocks), allow_nan=False))
        return 0
    cold = cold_unknown(plan, is_optional="cache" in optional)
    click.echo("\n".join([*announcement(plan, blocks), *cold, "dry run: nothing was sent"]))
    return 0


def _resumed(ctx: click.Context, given: dict[str, Any], store: Store) -> Run:
    """The stored run to go on with; its own plan and endpoint hold, so that none may be given beside it."""
    if also := _also(ctx, PLAN_OPTIONS):
        raise UsageError(f"--resume goes on with the run's own plan; leave out {', '.join(also)}")
    run = store.load(store.resolve(given["resume"]))
    if given["url"] not in (None, run.address.url):
        raise UsageError(f"run {run.id} was made with {run.address.url}; leave out the URL, or give that one")
    return run


def _asked_before(ctx: click.Context, given: dict[str, Any], store: Store) -> Run:
    """The stored run whose plan is asked anew; its endpoint is asked unless the URL names another."""
    from temp0.workflow.probing import refuse_lacking_headers

    of_plan = [name for name in PLAN_OPTIONS if given["url"] is None or name not in ADDRESS_OPTIONS]
    if also := _also(ctx, of_plan):
        raise UsageError(f"--again asks the run's own plan; leave out {', '.join(also)}")
    run = store.head(store.resolve(given["again"]))
    if run.untold:
        raise UsageError(f"run {run.id} was imported, and does not tell how it was asked")
    if given["url"] is None:
        refuse_lacking_headers(run, [text.partition(":")[0].strip() for text in given["headers"]])
    return run


def _also(ctx: click.Context, names: Iterable[str]) -> list[str]:
    """Which of these options were given."""
    return [name for name in names if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE]


def _check_limit(plan: Plan, resume: Run | None, most: int | None) -> None:
    from temp0.core.budget import primers

    blocks = resume.remaining() if resume else plan.blocks()
    judged, before = sum(block.size for block in blocks), sum(primers(block) for block in blocks)
    if most is not None and judged + before > most:
        needed = [f"{judged} judged request{'' if judged == 1 else 's'}"]
        needed += [f"{before} primer{'' if before == 1 else 's'}"] if before else []
        raise UsageError(
            f"the plan needs {' and '.join(needed)}, and --max-requests allows {most}: lower -n, or raise it"
        )


def _plan(given: dict[str, Any]) -> tuple[Plan, frozenset[str]]:
    """The plan, and the factors of a preset that may be left out of it."""
    from dataclasses import replace

    from temp0.workflow import planning
    from temp0.workflow.extra import extra_fields, is_greedy
    from temp0.workflow.preset import proposal
    from temp0.workflow.varying import Said

    said = Said(**{name: given[name] for name in ("company", "filler", "cache", "logprobs", "stream", "alone")})
    proposed = proposal(given["ask"], said, n=given["n"])
    wish = planning.Wish(n=proposed.n, max_tokens=given["max_tokens"])
    prompts = _prompts(given, wish)
    plan = planning.plan(prompts, proposed.conditions, seed=given["seed"], exclusive=given["exclusive"])
    greedy = not given["not_greedy"] and is_greedy(extra_fields(given["extra_json"]))
    return replace(plan, greedy=greedy), proposed.optional


def _prompts(given: dict[str, Any], wish: Wish) -> tuple[Prompt, ...]:
    from temp0.workflow import planning

    if given["prompt"] and given["prompts"]:
        raise UsageError("give prompts either by --prompt or by --prompts, not both")
    if given["prompt"]:
        return planning.text_prompts(given["prompt"], wish)
    if given["prompts"] is None:
        return planning.built_in_prompts(wish)
    if given["prompts"] == "-":
        return planning.file_prompts(sys.stdin, "standard input", wish)
    return planning.prompts_in(Path(given["prompts"]), wish)
