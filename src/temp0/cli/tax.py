"""`temp0 tax`: what invariance costs here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from temp0.cli import options
from temp0.cli.sigterm import carried_out
from temp0.errors import UsageError

if TYPE_CHECKING:
    from temp0.core.tax import Tax
    from temp0.core.tax_plan import TaxPlan
    from temp0.workflow.tax_side import Servers

_OURS = ("weights", "activations", "threads", "equal_bytes")
_THEIRS = ("model", "api", "key_env")
_EQUAL_BYTES_AT = 8
_EXAMPLES = """\b
Examples:
  temp0 tax                                     the built-in model, stock against invariant
  temp0 tax --in-flight 1,8 --rounds 5 --threads 1
  temp0 tax --weights model.gguf --json > tax.json
  temp0 tax --url http://127.0.0.1:8000/v1 --url http://127.0.0.1:8001/v1
                                                the same model served twice, a flag off and on
"""


@click.command(epilog=_EXAMPLES)
@click.option(
    "--in-flight",
    type=options.Numbers(),
    default="1,4,8,16,32",
    show_default=True,
    metavar="K,...",
    help="Requests under way at once, one row for each number.",
)
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    help="How often everything is measured; the scatter is that of the rounds.",
)
@click.option(
    "--max-tokens",
    type=click.IntRange(min=1),
    default=64,
    show_default=True,
    help="Tokens of every answer, which goes on past its own end (ignore_eos), so that both sides do the same work.",
)
@click.option(
    "--ttft-tokens",
    type=click.IntRange(min=1),
    default=512,
    show_default=True,
    help="Length of the fresh prompts whose first token is waited for, template included.",
)
@click.option(
    "--prompt", multiple=True, metavar="TEXT", help="A prompt; again for more.  [default: five built-in prompts]"
)
@click.option("--weights", type=click.Path(path_type=Path), metavar="PATH", help="Another model than the built-in one.")
@click.option(
    "--activations",
    type=click.Choice(["bf16", "fp32"]),
    default="bf16",
    show_default=True,
    help="Rounding between operations, on both sides.",
)
@click.option(
    "--threads", type=click.IntRange(min=1), help="Threads that calculate, on each side.  [default: every usable core]"
)
@click.option(
    "--equal-bytes",
    type=options.Numbers(),
    metavar="K,...",
    help="Numbers in flight at which to measure again with fp32 weights in both, so that both read equal bytes.  "
    "[default: 8, or the highest there is]",
)
@click.option("--no-equal-bytes", is_flag=True, help="Leave that out, and the third server it needs.")
@click.option(
    "--url",
    multiple=True,
    metavar="URL",
    help="Price two servers that you run; given twice: the base, then the invariant one.",
)
@click.option("--model", metavar="NAME", help="With --url: the model; needed unless each server lists exactly one.")
@click.option("--api", metavar="NAME", help="With --url: openai-chat, where a URL does not tell.")
@click.option("--key-env", metavar="NAME", help="With --url: the environment variable that holds the key.")
@click.option(
    "--timeout-s",
    type=click.FloatRange(min=0, min_open=True),
    default=300.0,
    show_default=True,
    help="Seconds until a request counts as failed.",
)
@options.as_json
@click.pass_context
def tax(ctx: click.Context, /, as_json: bool, **given: Any) -> int:
    """Measure what invariance costs on this machine: the same requests through both arithmetics.

    Both servers run the whole time and take turns in rounds (A B, then B A, ...), so that whatever slows the machine
    for a while slows both; while one is asked, the other is idle. Shown are throughput, time per token and time to
    first token, as medians over the rounds with the lowest and highest in brackets, and how many different texts each
    side gave.

    A tax is a fraction of time for the same work, worked out within each round: +34 % means 34 % more time, below 0
    the invariant side is the faster. For times it is invariant / stock - 1, for throughput stock / invariant - 1.

    \b
    Exit codes: 0 done, 2 usage, 3 nothing was measured, 4 not all of it was (Ctrl-C, a server that failed).
    """
    _refuse_mixture(ctx, bool(given["url"]))
    priced = _priced(_plan(given), _servers(given), given["timeout_s"])
    from temp0.workflow.showing import tax_json, tax_terminal

    options.show(tax_json(priced) if as_json else tax_terminal(priced))
    return priced.exit_code


def _priced(plan: TaxPlan, servers: Servers, timeout_s: float) -> Tax:
    from rich.console import Console

    from temp0.cli.tax_progress import announcement, tax_progress
    from temp0.core.tax import tax as tax_of
    from temp0.workflow.taxing import price

    console = Console(stderr=True, highlight=False)
    for line in announcement(plan):
        console.print(line, markup=False, soft_wrap=True)
    with tax_progress(console, plan) as shown:
        pricing = price(plan, servers, timeout_s=timeout_s, on_start=lambda _terms: shown.begin(), on_step=shown.step)
        return tax_of(carried_out(pricing))


def _plan(given: dict[str, Any]) -> TaxPlan:
    from temp0.core.tax_plan import TaxPlan
    from temp0.workflow import planning

    wish = planning.Wish(n=1, max_tokens=given["max_tokens"])
    prompts = planning.text_prompts(given["prompt"], wish) if given["prompt"] else planning.built_in_prompts(wish)
    return TaxPlan(
        prompts=prompts,
        in_flight=given["in_flight"],
        rounds=given["rounds"],
        max_tokens=given["max_tokens"],
        ttft_tokens=given["ttft_tokens"],
        equal_bytes=_equal_bytes(given),
    )


def _equal_bytes(given: dict[str, Any]) -> tuple[int, ...]:
    if given["no_equal_bytes"] and given["equal_bytes"]:
        raise UsageError("give --equal-bytes or --no-equal-bytes, not both")
    if given["no_equal_bytes"] or given["url"]:
        return ()
    levels: tuple[int, ...] = given["in_flight"]
    default = _EQUAL_BYTES_AT if _EQUAL_BYTES_AT in levels else max(levels)
    return given["equal_bytes"] or (default,)


def _servers(given: dict[str, Any]) -> Servers:
    from temp0.workflow.tax_side import OurServers, TheirServers

    if not given["url"]:
        ours = {name: given[name] for name in ("weights", "activations", "threads") if given[name] is not None}
        return OurServers(**ours)
    if len(given["url"]) != 2:
        raise UsageError(
            f"--url was given {len(given['url'])} times, expected twice: the base first, then the invariant one"
        )
    base, invariant = given["url"]
    return TheirServers(base=base, invariant=invariant, **{name: given[name] for name in _THEIRS})


def _refuse_mixture(ctx: click.Context, has_urls: bool) -> None:
    """Refuse what would be ignored: settings of our engines beside URLs, and settings of URLs without them."""
    foreign = (*_OURS, "no_equal_bytes") if has_urls else _THEIRS
    told = [name for name in foreign if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE]
    if told:
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in told)
        whose = "the built-in engine's; leave it out, or the URLs" if has_urls else "for servers given by --url, twice"
        raise UsageError(f"{flags} is {whose}")
