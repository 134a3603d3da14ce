"""The share of forks by margin as a static SVG: a point and its interval for each bin and format of activations."""

from __future__ import annotations

from collections.abc import Iterator

from junction.table import Seen, interval, margin_bins, range_of
from temp0.core.junction import MarginBin

_LEFT, _TOP, _STEP, _HEIGHT, _BOTTOM = 70, 50, 72, 220, 60
_COLOURS = ("#0b6e99", "#b4540a", "#5b5b5b")


def svg(seen: Seen) -> str:
    """The picture; its title says in words what it shows."""
    sides = {name: margin_bins(side) for name, side in seen.items()}
    places = [at for at, same in enumerate(zip(*sides.values(), strict=True)) if any(one.positions for one in same)]
    width, height = _LEFT + _STEP * len(places) + 20, _TOP + _HEIGHT + _BOTTOM
    shown = [*_frame(width, [next(iter(sides.values()))[at] for at in places]), *_sides(sides, places)]
    title = "Share of positions at which company left the answer, by the lead of the likeliest token"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="sans-serif" font-size="12" role="img"><title>{title}</title>'
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>'
        f'<text x="12" y="20" font-size="13">{title}</text>\n' + "\n".join(shown) + "\n</svg>\n"
    )


def _frame(width: int, columns: list[MarginBin]) -> Iterator[str]:
    for percent in range(0, 101, 25):
        y = _y(percent / 100)
        yield f'<line x1="{_LEFT}" x2="{width - 10}" y1="{y:.1f}" y2="{y:.1f}" stroke="#dddddd"/>'
        yield f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{percent} %</text>'
    for place, one in enumerate(columns):
        y = _TOP + _HEIGHT + 20
        yield f'<text x="{_x(place):.1f}" y="{y}" text-anchor="middle">{range_of(one)}</text>'
    yield f'<text x="{(_LEFT + width) / 2:.1f}" y="{_TOP + _HEIGHT + 44}" text-anchor="middle">lead (nats)</text>'


def _sides(sides: dict[str, tuple[MarginBin, ...]], places: list[int]) -> Iterator[str]:
    for number, (name, columns) in enumerate(sides.items()):
        colour, aside = _COLOURS[number], (number - (len(sides) - 1) / 2) * 14
        yield f'<text x="{_LEFT + 120 * number}" y="40" fill="{colour}">{"●■▲"[number]} {name} activations</text>'
        for place, at in enumerate(places):
            one, x = columns[at], _x(place) + aside
            if not one.positions:
                continue
            low, high = interval(one.forks, one.positions)
            yield f'<line x1="{x}" x2="{x}" y1="{_y(low):.1f}" y2="{_y(high):.1f}" stroke="{colour}" stroke-width="2"/>'
            yield _mark(number, x, _y(one.forks / one.positions), colour)


def _mark(number: int, x: float, y: float, colour: str) -> str:
    if number % 2:
        return f'<rect x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8" fill="{colour}"/>'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{colour}"/>'


def _x(place: int) -> float:
    return _LEFT + _STEP * (place + 0.5)


def _y(share: float) -> float:
    return _TOP + _HEIGHT * (1 - share)
