"""`temp0 trees`: the order in which kernels of this machine add, batch size by batch size."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from temp0.cli import options
from temp0.cli.sigterm import ended_by_sigterm

if TYPE_CHECKING:
    from temp0.core.tree_record import TreesRecord

DTYPES = ("float32", "float64", "bfloat16", "float16")
_EXAMPLES = """\b
Operations (rows [M, K] times weights; libraries choose an order by how weights lie, too):
  numpy.matmul    rows @ weights, weights kept as [K, N]
  numpy.linear    rows @ weights.T, weights kept as [N, K], as models keep them
  numpy.dot       one row times one column
  numpy.sum       each row of [M, K]
  kernels.linear  temp0's own
  engine.stock    the built-in engine's linear in stock arithmetic
  python.sum      one row as a list of floats; python.fsum the same
  torch.linear    weights as [N, K]; torch.matmul as [K, N]; torch.dot, torch.sum

\b
Examples:
  temp0 trees                                   numpy's product beside temp0's, at a model's sizes
  temp0 trees --svg trees.svg                   the same, drawn
  temp0 trees --op numpy.sum -k 8,100,1000      how np.sum adds
  temp0 trees --op numpy.dot --op python.sum --op python.fsum -k 64
  temp0 trees --op torch.linear --dtype float32,bfloat16 --batch-sizes 1,4,5
  temp0 trees --op all -k 64 -n 32 -o trees/    everything that can be looked into here
"""


class Words(click.ParamType[tuple[str, ...]]):
    """Words out of a list, separated by commas, each once."""

    name = "words"

    def __init__(self, known: Sequence[str]) -> None:
        self._known = known

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """Read `float32,float16` as two words."""
        if isinstance(value, tuple):
            return value
        parts = [part.strip() for part in str(value).split(",")]
        for part in parts:
            if part not in self._known:
                self.fail(f"{part!r} is not one of {', '.join(self._known)}", param, ctx)
        return tuple(dict.fromkeys(parts))


@click.command(epilog=_EXAMPLES)
@click.option(
    "--op",
    "ops",
    multiple=True,
    default=("numpy.matmul", "kernels.linear"),
    metavar="NAME",
    help="What to look into, as below, or all; again for more.  [default: numpy.matmul and kernels.linear]",
)
@click.option(
    "-k", "ks", type=options.Numbers(), default="576", show_default=True, metavar="K,...",
    help="How many numbers each sum adds.",
)  # fmt: skip
@click.option(
    "-n", "ns", type=options.Numbers(), default="192,576,1536", show_default=True, metavar="N,...",
    help="How many columns a product has; kernels are chosen by that, too. The defaults are SmolLM2's.",
)  # fmt: skip
@click.option(
    "--batch-sizes", type=options.Numbers(), default="1,2,3,4,5,8,9,16,17,32", show_default=True, metavar="M,...",
    help="How many rows are in the batch.",
)  # fmt: skip
@click.option(
    "--dtype", "dtypes", type=Words(DTYPES), default=(), metavar="NAME,...",
    help=f"{', '.join(DTYPES)}.  [default: float32; of python.*: float64]",
)  # fmt: skip
@click.option("--device", default="cpu", show_default=True, metavar="NAME", help="Where torch computes, such as cuda.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the random numbers.")
@click.option("--svg", type=click.Path(path_type=Path), metavar="FILE", help="Draw all trees on one sheet.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="DIR",
    help="Write trees.json, the sheet, and a drawing of each tree into this folder.",
)  # fmt: skip
@options.as_json
def trees(as_json: bool, ops: tuple[str, ...], svg: Path | None, output: Path | None, seed: int, **given: Any) -> int:
    """Reveal the order in which this machine's kernels add, batch size by batch size.

    Floating-point addition rounds, so another order of addition, another *reduction tree*, gives other last bits. A
    kernel's tree shows from outside: one number is made huge, another its negative, all others 1; the ones added
    before the two met are rounded away, and counting the rest, pair by pair, gives the tree (method: FPRev, USENIX
    ATC 2025). Every tree is checked: it is added along in software, and must give the kernel's own bits on random
    numbers.

    Batch sizes, rows and columns that add alike form a class: A, B, ... A kernel with one class gives a row the same
    bits in any company; with several it does not.

    \b
    Exit codes: 0 done, 2 usage, 3 nothing was found, 4 interrupted (Ctrl-C shows what was found by then).
    """
    from temp0.workflow import revealing
    from temp0.workflow.showing import check_writable

    if svg is not None:
        check_writable(svg)
    wanted, skipped = revealing.looks(ops, **given)
    if output is not None:
        revealing.make_folder(output)
    with ended_by_sigterm():
        record = _found(wanted, skipped, seed)
    if svg is not None:
        revealing.write_sheet(record, svg)
    if output is not None:
        revealing.write_trees(record, output)
    options.show(revealing.trees_json(record) if as_json else revealing.trees_terminal(record))
    for path in (svg, output):
        if path is not None:
            click.echo(f"drawn: {path}", err=True)
    return record.exit_code


def _found(wanted: Any, skipped: Any, seed: int) -> TreesRecord:
    from rich.console import Console

    from temp0.cli.trees_progress import trees_progress
    from temp0.workflow.revealing import look_into

    console = Console(stderr=True, highlight=False)
    with trees_progress(console, sum(len(look.batch_sizes) for look in wanted)) as shown:
        return look_into(wanted, skipped, seed=seed, on_look=shown.look, on_summands=shown.summands)
