"""Margins along an answer: how far ahead of its rival each token was, and where answers forked.

The scale is logarithmic, so that near ties stand apart; what is tied, or behind its rival, lies on the lowest line.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from xml.etree.ElementTree import Element

from markupsafe import Markup

from temp0.core.detail import Position
from temp0.core.margin import NEAR_UP_TO
from temp0.report.figure import logprob, some
from temp0.report.plot import Scale, count_axis, drawn, label, mark, sheet, write

_HEIGHT = 224.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 48.0, 464.0, 12.0, 180.0
_LEAST = 0.001
_LINES = (0.001, 0.01, 0.1, 1.0, 10.0)
_NAMED, _LONGEST = 3, 14


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
    most = max(_LINES[-1], *(one.margin for one in positions))
    x = Scale(low=0, high=max(1, positions[-1].char), start=_LEFT, end=_RIGHT)
    y = Scale(low=math.log10(_LEAST), high=math.log10(most), start=_BOTTOM, end=_TOP)
    svg = sheet(f"Margins along the answer. {margin_words(positions)}", _HEIGHT)
    near = _height(y, NEAR_UP_TO)
    mark(svg, "rect", "band", x=_LEFT, y=near, width=_RIGHT - _LEFT, height=_BOTTOM - near)
    for value in _LINES:
        mark(svg, "line", "grid", x1=_LEFT, x2=_RIGHT, y1=_height(y, value), y2=_height(y, value))
        told = f"{'≤ ' if value == _LEAST else ''}{value:g}"
        write(svg, _LEFT - 7, _height(y, value) + 4, told, "dim", anchor="end")
    count_axis(svg, x, _BOTTOM, "character of the answer")
    places = [f"M{x.at(one.char):.1f} {_height(y, one.margin):.1f}h0" for one in positions if not one.has_forked]
    mark(svg, "path", "dots", d="".join(places))
    write(svg, _RIGHT - 4, near - 5, "above: no near tie", "dim", anchor="end")
    _forks(svg, [one for one in positions if one.has_forked], x, y)
    return drawn(svg)


def _height(y: Scale, margin: float) -> float:
    return y.at(math.log10(max(_LEAST, margin)))


def _forks(svg: Element, forks: Sequence[Position], x: Scale, y: Scale) -> None:
    """Forks as diamonds on stems, the least margins with their tokens."""
    named = sorted(forks, key=lambda one: (one.margin, one.char))[:_NAMED]
    for one in forks:
        across, up = x.at(one.char), _height(y, one.margin)
        mark(svg, "line", "stem", x1=across, x2=across, y1=up, y2=_BOTTOM)
        diamond = mark(svg, "path", "fork", d=f"M{across:.1f} {up - 6:.1f}l6 6l-6 6l-6-6z")
        mark(diamond, "title", "").text = _told(one)
    free = [_TOP + 10 + 15 * place for place in range(_NAMED)]
    for one, height in zip(sorted(named, key=lambda one: one.char), free, strict=False):
        is_left = x.at(one.char) > (_LEFT + _RIGHT) / 2
        across = x.at(one.char)
        mark(svg, "path", "lead", d=f"M{across:.1f} {_height(y, one.margin) - 6:.1f}V{height + 3:.1f}")
        write(svg, across + (-5 if is_left else 5), height, _told(one), "name", anchor="end" if is_left else "start")


def _told(one: Position) -> str:
    rival = f"“{label(one.rival, _LONGEST)}”" if one.rival else "the end"
    chosen = f"“{label(one.text, _LONGEST)}”" if one.text else "the end"
    return f"{one.char:,}: {chosen} over {rival} by {logprob(one.margin)}"
