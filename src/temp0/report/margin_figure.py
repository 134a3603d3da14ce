"""Margins along an answer: how far ahead of its rival each token was, and where answers forked.

The scale is logarithmic, so that near ties stand apart; what is tied, or behind its rival, lies on the lowest line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from temp0.core.detail import Position
from temp0.core.margin import NEAR_UP_TO
from temp0.report.figure import logprob, some
from temp0.report.plot import MARK, MODE, OTHER, SOFT, chart, count_axis, label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEAST = 0.001
_LINES = (0.001, 0.01, 0.1, 1.0, 10.0)
_NAMED, _LONGEST = 3, 14
_ROOM = 3.2
"""By how much the scale goes on above the margins, for each fork that is named there."""


def margin_words(positions: Sequence[Position]) -> str:
    """How many positions are near ties, and how many of those answers parted at."""
    near = [one for one in positions if one.margin <= NEAR_UP_TO]
    forks = [one for one in positions if one.has_forked]
    parted = sum(one.has_forked for one in near)
    ahead = f"; {some(len(forks) - parted, 'fork')} elsewhere" if len(forks) > parted else ""
    return (
        f"{some(len(positions), 'position')}, {len(near):,} of them near ties (at most {NEAR_UP_TO} nats); "
        f"answers forked at {parted:,} of those{ahead}."
    )


def margin_figure(positions: Sequence[Position]) -> Markup | None:
    """The margins, drawn; `None` where none was told."""
    if not positions:
        return None
    longest = max(1, positions[-1].char)
    forks = [one for one in positions if one.has_forked]
    named = sorted(forks, key=lambda one: (one.margin, one.char))[:_NAMED]
    most = max(_LINES[-1], *(one.margin for one in positions)) * _ROOM ** (len(named) + 0.5)

    def draw(axes: Axes) -> None:
        plain = [one for one in positions if not one.has_forked]
        axes.axhspan(_LEAST, NEAR_UP_TO, color=MARK, linewidth=0, alpha=0.45)
        axes.hlines(*_places(plain)[::-1], [one.char for one in plain], color=MODE, linewidth=4.4, capstyle="round")
        axes.vlines(*_places(forks), _LEAST, color=OTHER, linewidth=1)
        axes.plot(*_places(forks), "D", color=OTHER, markersize=7)
        for place, one in enumerate(sorted(named, key=lambda one: min(one.char, longest - one.char)), start=1):
            height, side = most / _ROOM**place, ("left", "center", "right")[min(2, 3 * one.char // longest)]
            axes.vlines(one.char, max(_LEAST, one.margin), height, color=OTHER, linewidth=1, linestyle=(0, (2, 2)))
            axes.text(one.char, height, _told(one), ha=side, va="bottom")
        axes.annotate("near ties", (0, NEAR_UP_TO), (5, -4), textcoords="offset points", color=SOFT, va="top")
        count_axis(axes, "character of the answer", longest)
        axes.set(title="nats", yscale="log", ylim=(_LEAST, most))
        axes.set_yticks(_LINES, [f"{'≤ ' if value == _LEAST else ''}{value:g}" for value in _LINES])
        axes.minorticks_off()
        axes.grid(axis="y")

    return chart(f"Margins along the answer. {margin_words(positions)}", draw, height=240)


def _places(positions: Sequence[Position]) -> tuple[list[int], list[float]]:
    return [one.char for one in positions], [max(_LEAST, one.margin) for one in positions]


def _told(one: Position) -> str:
    rival = f"“{label(one.rival, _LONGEST)}”" if one.rival else "the end"
    chosen = f"“{label(one.text, _LONGEST)}”" if one.text else "the end"
    return f"{one.char:,}: {chosen} over {rival} by {logprob(one.margin)}"
