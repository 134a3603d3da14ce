"""A reduction tree as SVG: summands or boxes of them on top, every addition a joint below, the whole sum at the foot.

Lines never cross: what is added later stands further down. Colours follow the reader's light or dark setting, and
nothing is said by colour alone. Lengths are CSS pixels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement, tostring

from temp0.core.reduction_tree import ReductionTree, heights
from temp0.report.figure import some
from temp0.report.tree_cut import Cut, cut

_MOST_SUMMANDS, _MOST_BOXES = 32, 20
_CHARACTER, _LINE = 6.4, 16.0
_BOX_HEIGHT, _GAP, _LEAF_WIDTH = 22.0, 8.0, 24.0
_TALLEST, _WIDEST_STEP, _NARROWEST_STEP = 240.0, 26.0, 7.0
_STYLE = """
svg { color-scheme: light dark; font: 12px system-ui, sans-serif; }
.ground { fill: #ffffff; } text { fill: #1b1f24; } .dim { fill: #59636e; } .title { font-weight: 600; }
.line { stroke: #0b6bcb; stroke-width: 1.6; fill: none; } .joint { fill: #0b6bcb; }
.box { fill: #eaf3fc; stroke: #0b6bcb; } .folded { stroke-dasharray: 4 3; } .rule { stroke: #d0d7de; }
.shade0 { fill: #cfe3fa; } .shade1 { fill: #fbdfb8; } .shade2 { fill: #d3efd0; } .shade3 { fill: #ead7f7; }
.shade4 { fill: #f9d0d6; } .shade5 { fill: #e3e3e3; } .shade6 { fill: #fff3a8; }
@media (prefers-color-scheme: dark) {
.ground { fill: #0f1419; } text { fill: #e6edf3; } .dim { fill: #9aa4af; }
.line { stroke: #6cb6ff; } .joint { fill: #6cb6ff; } .box { fill: #16283b; stroke: #6cb6ff; } .rule { stroke: #30363d; }
.shade0 { fill: #1d3d63; } .shade1 { fill: #5c3f12; } .shade2 { fill: #214a1f; } .shade3 { fill: #46285c; }
.shade4 { fill: #5f232c; } .shade5 { fill: #3d444d; } .shade6 { fill: #5a5010; } }
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A group of SVG elements with its size, to be placed in a larger picture."""

    group: Element
    width: float
    height: float


def tree_svg(tree: ReductionTree, title: str) -> str:
    """One tree as an SVG document; `title` is its heading and its name for a screen reader."""
    drawn = tree_drawing(tree)
    width = max(drawn.width, len(title) * _CHARACTER * 1.1) + 32
    svg = canvas(width, drawn.height + 56, title)
    text(svg, 16, 26, title, "title")
    place(svg, drawn, 16, 44)
    return document(svg)


def tree_drawing(tree: ReductionTree) -> Drawn:
    """The tree above its cut, and below it the inside of one box where the boxes are equal and have one."""
    group, top, width = Element("g"), 0.0, 0.0
    now: ReductionTree | None = tree
    heading = ""
    while now is not None:
        shown = cut(now, most=_MOST_SUMMANDS if now.leaves <= _MOST_SUMMANDS else _MOST_BOXES)
        if heading:
            text(group, 0, top + 14, heading, "dim")
            top += 24
        part = _above(shown)
        place(group, part, 0, top)
        top, width = top + part.height + 12, max(width, part.width, len(heading) * _CHARACTER)
        now = shown.inside
        heading = f"inside one box, its {some(now.leaves, 'summand')} numbered from 0" if now else ""
    return Drawn(group=group, width=width, height=top - 12)


def canvas(width: float, height: float, title: str) -> Element:
    """An empty SVG document with its ground and style."""
    size = {"width": f"{width:.0f}", "height": f"{height:.0f}", "viewBox": f"0 0 {width:.0f} {height:.0f}"}
    svg = Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "role": "img", "aria-label": title, **size})
    SubElement(svg, "title").text = title
    SubElement(svg, "style").text = _STYLE
    SubElement(svg, "rect", {"class": "ground", "width": size["width"], "height": size["height"]})
    return svg


def document(svg: Element) -> str:
    """The text of an SVG document, with its newline at the end."""
    return tostring(svg, encoding="unicode") + "\n"


def place(parent: Element, drawn: Drawn, x: float, y: float) -> None:
    """Put a drawing into a larger one."""
    drawn.group.set("transform", f"translate({x:.1f} {y:.1f})")
    parent.append(drawn.group)


def text(parent: Element, x: float, y: float, words: str, kind: str = "", *, anchor: str = "start") -> None:
    """A line of text whose base line is at `y`."""
    SubElement(parent, "text", {"x": f"{x:.1f}", "y": f"{y:.1f}", "class": kind, "text-anchor": anchor}).text = words


def _above(shown: Cut) -> Drawn:
    tree = shown.above
    widths = [max(_LEAF_WIDTH, len(label) * _CHARACTER + 12) for label in shown.labels]
    middle, right = dict[int, float](), 0.0
    for box in _planar(tree):
        middle[box] = right + widths[box] / 2
        right += widths[box] + _GAP
    for node, children in enumerate(tree.nodes, start=tree.leaves):
        middle[node] = sum(middle[child] for child in children) / len(children)
    height = heights(tree)
    step = max(_NARROWEST_STEP, min(_WIDEST_STEP, _TALLEST / max(1, height[-1])))
    low = [_BOX_HEIGHT + step * level for level in height]
    group = Element("g")
    for node, children in enumerate(tree.nodes, start=tree.leaves):
        for child in children:
            path = f"M{middle[child]:.1f} {low[child]:.1f}V{low[node]:.1f}H{middle[node]:.1f}"
            SubElement(group, "path", {"class": "line", "d": path})
    for node, children in enumerate(tree.nodes, start=tree.leaves):
        radius = 2.6 if len(children) == 2 else 4.5
        _joint(group, middle[node], low[node], radius)
    _boxes(group, shown, middle, widths)
    bottom = low[tree.root]
    if tree.nodes:
        SubElement(group, "path", {"class": "line", "d": f"M{middle[tree.root]:.1f} {bottom:.1f}V{bottom + 12:.1f}"})
        text(group, middle[tree.root] + 6, bottom + 15, "sum", "dim")
    return Drawn(group=group, width=max(right - _GAP, middle[tree.root] + 40), height=bottom + 20)


def _boxes(group: Element, shown: Cut, middle: dict[int, float], widths: list[float]) -> None:
    for box, label in enumerate(shown.labels):
        left = middle[box] - widths[box] / 2
        if shown.counts[box] > 1:
            corner = {"x": f"{left:.1f}", "y": "0.5", "rx": "4"}
            size = {"width": f"{widths[box]:.1f}", "height": f"{_BOX_HEIGHT:.1f}"}
            rect = SubElement(group, "rect", {"class": "box folded" if shown.folded[box] else "box", **corner, **size})
            SubElement(rect, "title").text = some(shown.counts[box], "summand")
        text(group, middle[box], _BOX_HEIGHT - 7, label, anchor="middle")


def _joint(group: Element, x: float, y: float, radius: float) -> None:
    SubElement(group, "circle", {"class": "joint", "cx": f"{x:.1f}", "cy": f"{y:.1f}", "r": f"{radius}"})


def _planar(tree: ReductionTree) -> Iterator[int]:
    """The summands in an order in which no two lines cross."""
    waiting = [tree.root]
    while waiting:
        node = waiting.pop()
        if node < tree.leaves:
            yield node
        waiting.extend(reversed(tree.children(node)))
