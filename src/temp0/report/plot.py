"""The plane that a figure is drawn on: an SVG element whose colours and fonts are the page's own.

Every figure has its content in words as its name, so that a screen reader needs no picture. Lengths are CSS pixels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement, tostring

from markupsafe import Markup

from temp0.report.figure import UNBROKEN
from temp0.report.visible import beginning

WIDTH = 480.0
_LINE = 14.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Maps numbers from `low` to `high` to pixels from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """The pixel of a number."""
        return self.start + (self.end - self.start) * (value - self.low) / ((self.high - self.low) or 1)


def sheet(words: str, height: float) -> Element:
    """An empty figure of the usual width; `words` say what it shows."""
    box = f"0 0 {WIDTH:.0f} {height:.0f}"
    return Element("svg", {"class": "plot", "viewBox": box, "role": "img", "aria-label": words})


def mark(parent: Element, tag: str, kind: str, **numbers: float | str) -> Element:
    """An element of a kind; underscores in names stand for hyphens."""
    told = {name.replace("_", "-"): one if isinstance(one, str) else f"{one:.1f}" for name, one in numbers.items()}
    return SubElement(parent, tag, {"class": kind, **told})


def write(parent: Element, x: float, y: float, words: str, kind: str = "", *, anchor: str = "start") -> None:
    """A line of text whose base line is at `y`."""
    mark(parent, "text", kind, x=x, y=y, text_anchor=anchor).text = words


def drawn(svg: Element) -> Markup:
    """The figure as part of a page."""
    return Markup(tostring(svg, encoding="unicode"))


def share_axis(svg: Element, y: Scale, left: float, right: float) -> None:
    """Lines at 0, 50 and 100 %, named at the left."""
    for share in (0.0, 0.5, 1.0):
        mark(svg, "line", "grid", x1=left, x2=right, y1=y.at(share), y2=y.at(share))
        write(svg, left - 7, y.at(share) + 4, f"{100 * share:.0f}{UNBROKEN}%", "dim", anchor="end")


def count_axis(svg: Element, x: Scale, top: float, name: str) -> None:
    """Whole numbers below a figure, and what they count."""
    for value in ticks(x.high):
        mark(svg, "line", "grid", x1=x.at(value), x2=x.at(value), y1=top, y2=top + 4)
        write(svg, x.at(value), top + 17, f"{value:,}", "dim", anchor="middle")
    write(svg, (x.start + x.end) / 2, top + 33, name, "dim", anchor="middle")


def ticks(high: float, most: int = 5) -> tuple[int, ...]:
    """Round whole numbers from 0 up to `high`.

    >>> ticks(330), ticks(3)
    ((0, 100, 200, 300), (0, 1, 2, 3))
    """
    rough = max(1.0, high / most)
    power = 10 ** math.floor(math.log10(rough))
    step = int(next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough))
    return tuple(range(0, int(high) + 1, step))


def apart(places: Sequence[float], top: float, bottom: float) -> list[float]:
    """Where to write lines of text that want to stand at these heights, so that none covers another."""
    order = sorted(range(len(places)), key=lambda place: places[place])
    found, free = list(places), top
    for place in order:
        found[place] = free = max(free, places[place])
        free += _LINE
    over = max(0.0, free - _LINE - bottom)
    return [one - over for one in found]


def label(text: str, limit: int) -> str:
    """A name of the user's own or a stranger's token, short and safe to draw."""
    return beginning(text, limit)
