"""When each attempt of a prompt ran and which text it gave: one row for each text, below what was asked meanwhile.

A text is known by its row and its letter; its colour only repeats that. Attempts keep their own times, so that a
change that stays, or one that comes with company, is seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase
from typing import TYPE_CHECKING

from markupsafe import Markup

from temp0.core.analysis import PromptAnalysis
from temp0.core.detail import TimelineEntry
from temp0.report.figure import some
from temp0.report.plot import INK, LINE, MODE, OTHER, SERIES, SOFT, chart, count_axis, label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW, _BETWEEN, _PIXELS = 20, 0.5, 300
_MOST_CONDITIONS = 5
_LEAST_SECONDS = 2.0
_COLOURS = (MODE, OTHER, SERIES[2], SERIES[1], SERIES[3], SERIES[4], SERIES[0])

Row = tuple[str, str, int, list[TimelineEntry]]
"""What a row is named, the colour and the width of its strokes (pixels), and its attempts."""


def timeline_figure(prompt: PromptAnalysis) -> Markup | None:
    """The attempts, drawn; `None` where all were alike, or no time is known, as of an imported run."""
    bands, rows = _bands(prompt), _rows(prompt)
    if len(rows) < 2 or not any(one.ended_s > one.started_s for one in prompt.timeline):
        return None
    first = min(one.started_s for one in prompt.timeline)
    took_s = max(0.001, max(one.ended_s for one in prompt.timeline) - first)
    unit, scale = ("seconds", 1) if took_s >= _LEAST_SECONDS else ("milliseconds", 1000)
    heights = [*range(len(bands)), *(len(bands) + _BETWEEN + place for place in range(len(rows)))]

    def draw(axes: Axes) -> None:
        axes.hlines(heights[len(bands) :], 0, scale * took_s, color=LINE, linewidth=0.8)
        axes.set_yticks(heights, [name for name, *_ in (*bands, *rows)])
        for height, tick, (_, colour, width, own) in zip(heights, axes.get_yticklabels(), (*bands, *rows), strict=True):
            tick.set_color(SOFT if height < len(bands) else INK)
            spans = _spans(own, first, took_s / _PIXELS)
            starts, ends = [scale * start for start, _ in spans], [scale * end for _, end in spans]
            axes.hlines([height] * len(spans), starts, ends, color=colour, linewidth=width)
        count_axis(axes, f"{unit} since its first attempt", scale * took_s)
        axes.set_ylim(heights[-1] + 0.6, -0.5)

    told = "; ".join(f"{name}: {some(len(own), 'attempt')}" for name, *_, own in rows)
    return chart(f"Attempts in time. {told}.", draw, height=48 + _ROW * len(heights))


def _spans(own: Sequence[TimelineEntry], first: float, pixel: float) -> list[tuple[float, float]]:
    """From when to when attempts ran (seconds): wide enough to be seen, a little apart, and one where they overlap."""
    spans: list[tuple[float, float]] = []
    for one in sorted(own, key=lambda one: one.started_s):
        start, end = one.started_s - first, max(one.ended_s - 0.6 * pixel, one.started_s + 1.6 * pixel) - first
        if spans and start <= spans[-1][1]:
            start, end = spans[-1][0], max(end, spans.pop()[1])
        spans.append((start, end))
    return spans


def _bands(prompt: PromptAnalysis) -> list[Row]:
    """What is told of what was asked: the conditions, or the levels of company where those are many."""
    named = [(label(one.name, 18), {one.name}) for one in prompt.conditions]
    if len(named) > _MOST_CONDITIONS:
        levels = sorted({one.company.asked for one in prompt.conditions})[:_MOST_CONDITIONS]
        own = [{one.name for one in prompt.conditions if one.company.asked == level} for level in levels]
        named = list(zip(["alone" if k == 1 else f"company {k}" for k in levels], own, strict=True))
    ran = [[one for one in prompt.timeline if one.condition in conditions] for _, conditions in named]
    return [(name, colour, 5, own) for (name, _), colour, own in zip(named, SERIES, ran, strict=False)]


def _rows(prompt: PromptAnalysis) -> list[Row]:
    """The commonest texts by letter, then the other texts, what does not count, and what failed."""
    kept = [one for one in prompt.timeline if one.sha256 is not None and not one.is_excluded]
    shown = list(zip(ascii_lowercase, _COLOURS, prompt.texts, strict=False))
    known = {text.sha256 for _, _, text in shown}
    others = [one for one in kept if one.sha256 not in known]
    excluded = [one for one in prompt.timeline if one.sha256 is not None and one.is_excluded]
    failed = [one for one in prompt.timeline if one.sha256 is None]
    rows = [
        *(
            (f"{letter}  {text.sha256[:8]}  ({text.count:,})", colour, 13, [x for x in kept if x.sha256 == text.sha256])
            for letter, colour, text in shown
        ),
        (some(len({one.sha256 for one in others}), "other text"), SOFT, 13, others),
        (f"{len(excluded):,} excluded", SOFT, 13, excluded),
        (f"{len(failed):,} failed", SOFT, 5, failed),
    ]
    return [row for row in rows if row[-1]]
