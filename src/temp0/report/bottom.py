"""What a second pass and our own engine show of a run, made ready for its page: conclusions, trees, growth, junctions.

Sentences are those of the terminal; a figure is drawn only from numbers that were measured.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, tostring

from markupsafe import Markup

from temp0.core.descent import Descent, LayerDifference
from temp0.core.junction import MarginBin, bins
from temp0.core.reduction_tree import ReductionTree
from temp0.core.second_pass import ForkLook, Look, SecondPass
from temp0.report.figure import UNKNOWN, logprob, number, some
from temp0.report.plot import OTHER, SERIES, SOFT, chart, count_axis, share_axis
from temp0.report.second_pass import descent_sentences, finding, lead, ways
from temp0.report.second_pass_screen import range_of
from temp0.report.sight import token
from temp0.report.tree_drawing import place, tree_drawing
from temp0.report.tree_words import tree_words
from temp0.report.visible import ending

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FORKS, _CONTEXT, _CHOICES = 12, 80, 4


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
    width, height = f"{inside.width + 8:.0f}", f"{inside.height + 8:.0f}"
    words = f"How the sum is added {name}: {tree_words(tree)}."
    size = {"viewBox": f"0 0 {width} {height}", "width": width}
    svg = Element("svg", {"class": "plot sum", "role": "img", "aria-label": words, **size})
    place(svg, inside, 4, 4)
    return Markup(tostring(svg, encoding="unicode"))


def growth_figure(layers: Sequence[LayerDifference]) -> Markup | None:
    """How far apart the two computations are, layer by layer, on a logarithmic scale; `None` where no bit differs."""
    differing = [one for one in layers if one.relative > 0]
    if len(differing) < 2:
        return None
    first, last = differing[0], differing[-1]

    def draw(axes: Axes) -> None:
        told = [one.relative for one in differing]
        decades = math.floor(math.log10(min(told))), math.ceil(math.log10(1.01 * max(told)))
        axes.plot([one.layer for one in differing], told, "s-", color=SERIES[0], markersize=4, linewidth=2)
        count_axis(axes, "after layer", layers[-1].layer)
        axes.set(title="relative difference", yscale="log", ylim=(10.0 ** decades[0], 10.0 ** decades[1]))
        axes.yaxis.set_major_formatter("{x:g}")
        axes.minorticks_off()
        axes.grid(axis="y")

    return chart(
        f"Relative difference of the hidden state, after layer {first.layer}: {first.relative:.2g}, "
        f"after layer {last.layer}: {last.relative:.2g}.",
        draw,
    )


def junction_figure(told: Sequence[MarginBin]) -> Markup | None:
    """The share of positions at which answers parted, by their margin; `None` where no margin was told."""
    known = [one for one in told if one.positions]
    if not known:
        return None

    def draw(axes: Axes) -> None:
        rows = range(len(known))
        bars = axes.barh(rows, [one.forks / one.positions for one in known], 0.7, color=OTHER)
        axes.bar_label(bars, [f"{one.forks:,} of {one.positions:,}" for one in known], padding=4, color=SOFT)
        share_axis(axes, "x")
        axes.set_yticks(rows, [_range(one) for one in known])
        axes.set(title="how far ahead the token was (nats)", ylim=(len(known) - 0.5, -0.5))

    words = "; ".join(f"{range_of(one)} nats: {some(one.forks, 'fork')} in {one.positions:,}" for one in known)
    return chart(f"Forks by margin. {words}.", draw, height=50 + 19 * len(known))


def _range(one: MarginBin) -> str:
    """The margins of a bin, short."""
    if one.high == 0:
        return "tie"
    low = number(one.low)
    return f"≥ {low}" if one.high is None else f"{low}\N{EN DASH}{number(one.high)}"
