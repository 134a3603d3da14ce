"""What a second pass and our own engine show of a run, made ready for its page: conclusions, trees, growth, junctions.

Sentences are those of the terminal; a figure is drawn only from numbers that were measured.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from temp0.core.descent import Descent, LayerDifference
from temp0.core.junction import MarginBin, bins
from temp0.core.reduction_tree import ReductionTree
from temp0.core.second_pass import ForkLook, Look, SecondPass
from temp0.report.figure import UNKNOWN, logprob, number, some
from temp0.report.plot import Scale, count_axis, drawn, mark, share_axis, sheet, write
from temp0.report.second_pass import descent_sentences, finding, lead, ways
from temp0.report.second_pass_screen import range_of
from temp0.report.sight import token
from temp0.report.tree_drawing import place, tree_drawing
from temp0.report.tree_words import tree_words
from temp0.report.visible import ending

_FORKS, _CONTEXT, _CHOICES = 12, 80, 4
_HEIGHT = 190.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 60.0, 464.0, 22.0, 142.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What one condition saw at a fork: how it was asked, how many came and went on how, and the likeliest tokens."""

    asked: str
    came: str
    went: str
    lead: str
    tokens: tuple[tuple[str, str], ...]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LookedAt:
    """A fork looked at again: where it is, the end of what its branches share, the looks and what they come to."""

    prompt: str
    char: int
    before: str
    conclusion: str
    looks: tuple[Seen, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """A fork of our own engine followed down: its sentences, its two trees with their names, and its growth."""

    prompt: str
    sentences: tuple[str, ...]
    trees: tuple[tuple[str, Markup], ...]
    growth: Markup | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bottom:
    """Everything the page says beyond the analysis; `more` forks are left out."""

    second: str
    forks: tuple[LookedAt, ...]
    more: int
    junctions: Markup | None
    floors: tuple[Floor, ...]


def bottom(second: SecondPass, descents: Sequence[Descent] = ()) -> Bottom:
    """The second pass and the descents, drawn."""
    return Bottom(
        second=second.second,
        forks=tuple(
            LookedAt(
                prompt=fork.prompt,
                char=fork.char,
                before=ending(fork.prefix, _CONTEXT),
                conclusion=finding(fork),
                looks=tuple(_seen(fork, look) for look in fork.looks),
            )
            for fork in second.forks[:_FORKS]
        ),
        more=max(0, len(second.forks) - _FORKS),
        junctions=junction_figure(bins(second.positions)),
        floors=tuple(_floor(one) for one in descents),
    )


def _seen(fork: ForkLook, look: Look) -> Seen:
    return Seen(
        asked=f"{look.condition}, {look.way}",
        came=f"{look.reached} of {look.completions}",
        went=ways(fork, look) if look.reached else UNKNOWN,
        lead=lead(look),
        tokens=tuple((token(one.text), logprob(one.logprob)) for one in look.choices[:_CHOICES]),
        reason=look.reason or UNKNOWN,
    )


def _floor(descent: Descent) -> Floor:
    named = zip(("alone", f"in a company of {descent.company}"), descent.trees or (), strict=False)
    return Floor(
        prompt=descent.prompt,
        sentences=descent_sentences(descent),
        trees=tuple((name, _tree(name, one.tree)) for name, one in named if one.tree is not None),
        growth=growth_figure(descent.layers),
    )


def _tree(name: str, tree: ReductionTree) -> Markup:
    inside = tree_drawing(tree)
    svg = sheet(f"How the sum is added {name}: {tree_words(tree)}.", inside.height + 8)
    svg.set("class", "plot sum")
    svg.set("viewBox", f"0 0 {inside.width + 8:.0f} {inside.height + 8:.0f}")
    svg.set("width", f"{inside.width + 8:.0f}")
    place(svg, inside, 4, 4)
    return drawn(svg)


def growth_figure(layers: Sequence[LayerDifference]) -> Markup | None:
    """How far apart the two computations are, layer by layer, on a logarithmic scale; `None` where no bit differs."""
    differing = [one for one in layers if one.relative > 0]
    if len(differing) < 2:
        return None
    low, high = (math.log10(pick(one.relative for one in differing)) for pick in (min, max))
    y = Scale(low=math.floor(low), high=max(math.floor(low) + 1, math.ceil(high)), start=_BOTTOM, end=_TOP)
    x = Scale(low=0, high=layers[-1].layer, start=_LEFT, end=_RIGHT)
    first, last = differing[0], differing[-1]
    svg = sheet(
        f"Relative difference of the hidden state, after layer {first.layer}: {first.relative:.2g}, "
        f"after layer {last.layer}: {last.relative:.2g}.",
        _HEIGHT,
    )
    for power in range(int(y.low), int(y.high) + 1):
        mark(svg, "line", "grid", x1=_LEFT, x2=_RIGHT, y1=y.at(power), y2=y.at(power))
        write(svg, _LEFT - 7, y.at(power) + 4, f"{10.0**power:g}", "dim", anchor="end")
    points = [(x.at(one.layer), y.at(math.log10(one.relative))) for one in differing]
    mark(svg, "path", "curve s0", d="M" + "L".join(f"{across:.1f} {up:.1f}" for across, up in points))
    mark(svg, "path", "dots s0", d="".join(f"M{across:.1f} {up:.1f}h0" for across, up in points))
    count_axis(svg, x, _BOTTOM, "after layer")
    return drawn(svg)


def junction_figure(told: Sequence[MarginBin]) -> Markup | None:
    """The share of positions at which answers parted, by their margin; `None` where no margin was told."""
    known = [one for one in told if one.positions]
    if not known:
        return None
    x = Scale(low=0, high=len(known), start=_LEFT, end=_RIGHT)
    y = Scale(low=0, high=1, start=_BOTTOM, end=_TOP)
    words = "; ".join(f"{range_of(one)} nats: {some(one.forks, 'fork')} in {one.positions:,}" for one in known)
    svg = sheet(f"Forks by margin. {words}.", _HEIGHT)
    share_axis(svg, y, _LEFT, _RIGHT)
    for at, one in enumerate(known):
        middle, top = x.at(at + 0.5), y.at(one.forks / one.positions)
        mark(svg, "rect", "bin", x=middle - 13, y=top, width=26, height=_BOTTOM - top)
        write(svg, middle, top - 5, f"{one.forks:,} of {one.positions:,}", "dim", anchor="middle")
        write(svg, middle, _BOTTOM + 17, _range(one), "dim", anchor="middle")
    write(svg, (_LEFT + _RIGHT) / 2, _BOTTOM + 33, "how far ahead the token was (nats)", "dim", anchor="middle")
    return drawn(svg)


def _range(one: MarginBin) -> str:
    """The margins of a bin, short."""
    if one.high == 0:
        return "tie"
    low = number(one.low)
    return f"≥ {low}" if one.high is None else f"{low}\N{EN DASH}{number(one.high)}"
