"""The charts of a page: matplotlib draws them, and their SVG becomes part of the page, in its colours and fonts.

Every chart has its content in words as its name, so that a screen reader needs no picture. Equal charts give equal
bytes whatever a user's own settings of matplotlib are, and nothing of it is loaded before a chart is drawn.
"""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal
from xml.etree.ElementTree import Element, SubElement, fromstring, tostring

from markupsafe import Markup
from rich.cells import cell_len

from temp0.report.figure import percent
from temp0.report.visible import beginning

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_VARIABLES = ("ink", "soft", "line", "mode", "other", "mark", "c0", "c1", "c2", "c3", "c4")
_COLOURS = {f"#0000{place:02x}": f"var(--{name})" for place, name in enumerate(_VARIABLES, start=1)}
INK, SOFT, LINE, MODE, OTHER, MARK, *SERIES = _COLOURS
"""What matplotlib is told for a colour of the page, which has another one in the dark and on paper."""
DASHES = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 2, 1, 2)), (0, (2.5, 1.5)))
"""What tells curves apart where colours cannot."""
WIDTH = 440
_STYLE: dict[Any, object] = {
    "axes.edgecolor": LINE, "axes.labelcolor": SOFT, "axes.labelsize": 11, "axes.spines.left": False,
    "axes.spines.right": False, "axes.spines.top": False, "axes.axisbelow": True, "axes.titlecolor": SOFT,
    "axes.titlelocation": "left", "axes.titlesize": 11, "font.size": 11, "grid.color": LINE, "legend.frameon": False,
    "legend.labelcolor": INK, "lines.solid_capstyle": "butt", "path.simplify": False, "svg.fonttype": "none",
    "text.color": INK, "text.parse_math": False, "xtick.color": LINE, "xtick.labelcolor": SOFT, "ytick.color": LINE,
    "ytick.labelcolor": SOFT, "ytick.major.size": 0, "ytick.minor.size": 0,
}  # fmt: skip
_KEPT = {"fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "opacity", "text-anchor"}
_PAIR = re.compile(r"(-?[\d.]+(?:e-\d+)?) (-?[\d.]+(?:e-\d+)?)")
_SVG, _LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"


def chart(words: str, draw: Callable[[Axes], None], *, height: float = 210) -> Markup:
    """A figure of the usual width, `height` CSS pixels high, as part of a page; `words` say what it shows."""
    with _quiet():
        import matplotlib
        from matplotlib.figure import Figure

        with matplotlib.rc_context():
            matplotlib.rcdefaults()
            matplotlib.rcParams.update(_STYLE)
            figure = Figure(figsize=(WIDTH / 72, height / 72), layout="constrained")
            draw(figure.subplots())
            written = BytesIO()
            figure.savefig(written, format="svg", transparent=True)
    svg = Element("svg", {"class": "plot", "viewBox": f"0 0 {WIDTH} {height:g}", "role": "img", "aria-label": words})
    for (tag, told), same in groupby(_shapes(fromstring(written.getvalue())), itemgetter(0, 1)):
        content = "".join(one for _, _, one in same)
        if tag == "path":
            SubElement(svg, tag, {**told, "d": content})
        else:
            SubElement(svg, tag, told).text = content
    return Markup(tostring(svg, encoding="unicode"))


@contextmanager
def _quiet() -> Iterator[None]:
    """Keeps what matplotlib says of its font cache and its fonts from the user: a browser has fonts of its own."""
    logger = logging.getLogger("matplotlib")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
            yield
    finally:
        logger.setLevel(level)


def share_axis(axes: Axes, name: Literal["x", "y"] = "y") -> None:
    """Lines at 0, 50 and 100 %, and their names."""
    shares = (0, 0.5, 1)
    axes.set(**{f"{name}lim": (0, 1), f"{name}ticks": shares, f"{name}ticklabels": [percent(one) for one in shares]})
    axes.grid(axis=name)


def count_axis(axes: Axes, name: str, most: float) -> None:
    """Whole numbers from 0 to `most` below a figure, and what they count."""
    axes.set(xlabel=name, xlim=(0, most))
    axes.locator_params(axis="x", nbins=5, integer=True)
    axes.xaxis.set_major_formatter("{x:,.0f}")


def label(text: str, limit: int) -> str:
    """A name of the user's own or a stranger's token, short and safe to draw; wide characters count twice."""
    return beginning(text, limit * len(text) // max(1, len(text), cell_len(text)))


def _shapes(svg: Element) -> Iterator[tuple[str, dict[str, str], str]]:
    """Paths and texts as they are drawn, with their looks and without ids: a mark's outline stands wherever it is."""
    outlines = {f"#{one.get('id')}": one.get("d", "") for group in svg.iter(f"{_SVG}defs") for one in group}
    for one in svg.iter():
        style = dict(part.split(": ", 1) for part in one.get("style", "").split("; ") if part)
        told = {name: _COLOURS.get(value, value) for name, value in style.items() if name in _KEPT}
        x, y = float(one.get("x", "0")), float(one.get("y", "0"))
        path = outlines.get(one.get(_LINK, ""), one.get("d", ""))
        if one.tag == f"{_SVG}text":
            yield "text", {**told, "x": f"{x:.1f}", "y": f"{y:.1f}"}, one.text or ""
        elif path and "id" not in one.attrib and (told.get("fill") != "none" or "stroke" in told):
            yield "path", told, _moved(path, x, y)


def _moved(path: str, x: float, y: float) -> str:
    """A path, moved, to a tenth of a pixel and without needless blanks."""
    found = _PAIR.sub(lambda pair: f"{float(pair[1]) + x:.1f} {float(pair[2]) + y:.1f}", path)
    return re.sub(r"\.0\b|\s*(?=[A-Za-z])|(?<=[A-Za-z])\s*|\s+$", "", found)
