"""When each attempt of a prompt ran and which text it gave: one row for each text, below what was asked meanwhile.

A text is known by its row and its letter; its colour only repeats that. Attempts keep their own times, so that a
change that stays, or one that comes with company, is seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase
from xml.etree.ElementTree import Element

from markupsafe import Markup

from temp0.core.analysis import PromptAnalysis
from temp0.core.detail import TimelineEntry
from temp0.report.figure import some
from temp0.report.plot import Scale, count_axis, drawn, label, mark, sheet, write

_LEFT, _RIGHT, _TOP = 132.0, 464.0, 8.0
_BAND, _ROW = 17.0, 20.0
_MOST_CONDITIONS, _MOST_TEXTS = 5, 7
_LEAST_WIDTH = 1.6
_LEAST_SECONDS = 2.0

Row = tuple[str, str, list[TimelineEntry]]
"""What a row is named, its kind, and its attempts."""


def timeline_figure(prompt: PromptAnalysis) -> Markup | None:
    """The attempts, drawn; `None` where all were alike, or no time is known, as of an imported run."""
    rows = _rows(prompt)
    if len(rows) < 2 or not any(one.ended_s > one.started_s for one in prompt.timeline):
        return None
    first = min(one.started_s for one in prompt.timeline)
    took_s = max(0.001, max(one.ended_s for one in prompt.timeline) - first)
    x = Scale(low=0, high=took_s, start=_LEFT, end=_RIGHT)
    bands = _bands(prompt)
    bottom = _TOP + _BAND * len(bands) + 10 + _ROW * len(rows)
    told = "; ".join(f"{name}: {some(len(own), 'attempt')}" for name, _, own in rows)
    svg = sheet(f"Attempts in time. {told}.", bottom + 40)
    for place, (name, conditions) in enumerate(bands):
        ran = [one for one in prompt.timeline if one.condition in conditions]
        middle = _TOP + _BAND * (place + 0.5)
        write(svg, _LEFT - 8, middle + 4, label(name, 18), "dim", anchor="end")
        mark(svg, "path", f"ran s{place}", d=_bars(ran, x, first, middle))
    for place, (name, kind, own) in enumerate(rows):
        middle = _TOP + _BAND * len(bands) + 10 + _ROW * (place + 0.5)
        _row(svg, name, kind, middle, _bars(own, x, first, middle))
    unit, scale = ("seconds", 1) if took_s >= _LEAST_SECONDS else ("milliseconds", 1000)
    axis = Scale(low=0, high=scale * took_s, start=_LEFT, end=_RIGHT)
    count_axis(svg, axis, bottom, f"{unit} since its first attempt")
    return drawn(svg)


def _bands(prompt: PromptAnalysis) -> list[tuple[str, set[str]]]:
    """What is told of what was asked: the conditions, or the levels of company where those are many."""
    if len(prompt.conditions) <= _MOST_CONDITIONS:
        return [(one.name, {one.name}) for one in prompt.conditions]
    levels = sorted({one.company.asked for one in prompt.conditions})[:_MOST_CONDITIONS]
    named = [(level, {one.name for one in prompt.conditions if one.company.asked == level}) for level in levels]
    return [("alone" if level == 1 else f"company {level}", conditions) for level, conditions in named]


def _row(svg: Element, name: str, kind: str, middle: float, bars: str) -> None:
    mark(svg, "line", "grid", x1=_LEFT, x2=_RIGHT, y1=middle, y2=middle)
    write(svg, _LEFT - 8, middle + 4, name, "name", anchor="end")
    mark(svg, "path", f"took {kind}", d=bars)


def _bars(own: Sequence[TimelineEntry], x: Scale, first: float, middle: float) -> str:
    """A stroke for each attempt from its start to its end."""
    spans = sorted({(x.at(one.started_s - first), x.at(one.ended_s - first)) for one in own})
    return "".join(f"M{start:.1f} {middle:.1f}h{max(_LEAST_WIDTH, end - start - 0.6):.1f}" for start, end in spans)


def _rows(prompt: PromptAnalysis) -> list[Row]:
    """The commonest texts by letter, then the other texts, what does not count, and what failed."""
    kept = [one for one in prompt.timeline if one.sha256 is not None and not one.is_excluded]
    shown = prompt.texts[:_MOST_TEXTS]
    known = {text.sha256 for text in shown}
    rows: list[Row] = [
        (
            f"{letter}  {text.sha256[:8]}  ({text.count:,})",
            "mode" if place == 0 else f"t{place}",
            [one for one in kept if one.sha256 == text.sha256],
        )
        for place, (letter, text) in enumerate(zip(ascii_lowercase, shown, strict=False))
    ]
    others = [one for one in kept if one.sha256 not in known]
    excluded = [one for one in prompt.timeline if one.sha256 is not None and one.is_excluded]
    failed = [one for one in prompt.timeline if one.sha256 is None]
    rows += [
        (f"{some(len({one.sha256 for one in others}), 'other text')}", "rest", others),
        (f"{len(excluded):,} excluded", "out", excluded),
        (f"{len(failed):,} failed", "failed", failed),
    ]
    return [row for row in rows if row[2]]
