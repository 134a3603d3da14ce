"""An explanation for a terminal: each fork looked at again, near ties that did not fork, and our engine's bottom."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from temp0.core.descent import Descent
from temp0.core.detail import Position
from temp0.core.junction import MarginBin, bins
from temp0.core.margin import NEAR_UP_TO
from temp0.core.second_pass import ForkLook, Look, SecondPass
from temp0.report.figure import UNKNOWN, logprob, number, percent, some
from temp0.report.prose import Prose
from temp0.report.second_pass import conclusion, descent_sentences, lead, token
from temp0.report.table import plain_table
from temp0.report.tree_cut import text_drawing
from temp0.report.visible import beginning, ending

_CHOICES = 4
_POSITIONS = 8
_FORKS = 12
_CONTEXT = 50
_BOXES = 8


def second_pass_screen(second: SecondPass, descents: Sequence[Descent] = ()) -> RenderableType:
    """The explanation as a rich renderable."""
    parts: list[RenderableType] = [
        Prose(f"Run {second.first} looked at again; the second pass is run {second.second}.", style="dim")
    ]
    if not second.forks:
        parts.append(Prose("No answers fork in this run."))
    for fork in second.forks[:_FORKS]:
        parts += ["", *_fork(fork)]
    if len(second.forks) > _FORKS:
        parts.append(Text(f"and {some(len(second.forks) - _FORKS, 'later fork')}: see --json", style="dim"))
    parts += [*_near(second.positions), *_junctions(bins(second.positions)), *_descents(descents)]
    return Group(*parts)


def _fork(fork: ForkLook) -> Iterable[RenderableType]:
    yield Text(f"Prompt {beginning(fork.prompt, 40)}, character {fork.char}", style="bold").append(
        f"  after “{ending(fork.prefix, _CONTEXT)}”" if fork.prefix else "  at the first character",
        style="not bold dim",
    )
    yield _indented(Prose(conclusion(fork)))
    if any(look.choices for look in fork.looks):
        yield _indented(_choices(fork.looks))


def _choices(looks: Sequence[Look]) -> Table:
    table = plain_table("asked", "came here", "lead, median (min to max)", "likeliest tokens, logprobs")
    for look in looks:
        told = ", ".join(f"{token(one.text)} {logprob(one.logprob)}" for one in look.choices[:_CHOICES])
        table.add_row(
            Prose(f"{look.condition}, {look.way}"),
            f"{look.reached} of {look.completions}",
            lead(look),
            Prose(told or look.reason or UNKNOWN),
        )
    return table


def _near(seen: Sequence[Position]) -> Iterable[RenderableType]:
    near = sorted((one for one in seen if 0 <= one.margin <= NEAR_UP_TO and not one.has_forked), key=_closeness)
    if not seen:
        return
    yield Text("\nNear ties that did not fork", style="bold")
    if not near:
        yield _indented(Prose(f"None: no other token was within {NEAR_UP_TO} nats of the one chosen."))
        return
    table = plain_table("prompt", "character", "chosen", "rival", "lead", right=("character", "lead"))
    for one in near[:_POSITIONS]:
        table.add_row(
            beginning(one.prompt, 20), str(one.char), Text(token(one.text)), Text(token(one.rival)), number(one.margin)
        )
    yield _indented(table)
    if len(near) > _POSITIONS:
        yield _indented(Text(f"and {some(len(near) - _POSITIONS, 'more position')} within {NEAR_UP_TO}", style="dim"))


def _closeness(position: Position) -> tuple[float, str, int]:
    return position.margin, position.prompt, position.char


def _junctions(table_of: Sequence[MarginBin]) -> Iterable[RenderableType]:
    if not any(one.positions for one in table_of):
        return
    yield Text("\nIs an answer safe that passes no near tie?", style="bold")
    table = plain_table("lead (nats)", "positions", "forks", "share", right=("positions", "forks", "share"))
    for one in table_of:
        if one.positions:
            share = percent(one.forks / one.positions)
            table.add_row(range_of(one), f"{one.positions:,}", f"{one.forks:,}", Prose(share))
    yield _indented(table)


def range_of(one: MarginBin) -> str:
    """The margins of a bin in words."""
    if one.high == 0:
        return "0 (exact tie)"
    return f"{one.low:g} and more" if one.high is None else f"{one.low:g} to {one.high:g}"


def _descents(descents: Sequence[Descent]) -> Iterable[RenderableType]:
    if descents:
        yield Text("\nTo the bottom, in our own engine", style="bold")
    for descent in descents:
        yield _indented(Text(beginning(descent.prompt, 70), style="bold"))
        yield from (_indented(Prose(sentence)) for sentence in descent_sentences(descent))
        yield from _trees(descent)
        yield from _layers(descent)


def _trees(descent: Descent) -> Iterable[RenderableType]:
    """The two reduction trees side by side, as text."""
    trees = [one.tree for one in descent.trees or ()]
    if len(trees) == 2 and all(trees):
        table = plain_table("alone", "in company", gap=4)
        table.add_row(*(Text("\n".join(text_drawing(tree, most=_BOXES)), no_wrap=True) for tree in trees if tree))
        yield _indented(_indented(table))


def _layers(descent: Descent) -> Iterable[RenderableType]:
    differing = [layer for layer in descent.layers if layer.share > 0]
    if not differing:
        return
    step = max(1, len(differing) // 6)
    table = plain_table("after layer", "elements that differ", "relative difference", right=("after layer",))
    for layer in [*differing[:-1:step], differing[-1]]:
        table.add_row(str(layer.layer), Prose(percent(layer.share)), f"{layer.relative:.2g}")
    yield _indented(_indented(table))


def _indented(shown: RenderableType) -> Padding:
    return Padding(shown, (0, 0, 0, 2))
