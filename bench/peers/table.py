"""What the contenders gave, as Markdown tables: rates, ratios and times to the first token.

What has no figure stands in its cell with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from peers.contender import OURS
from peers.rounds import Level
from peers.spread import ratio, spread

_NOT_ASKED = "it was not asked"

# A cell for a contender at a level; the level before is for the growth.
Cell = Callable[[str, Level, Level | None], str]


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; a bar within a cell would end it and becomes a stroke."""
    lines = (head, ["---"] * len(head), *rows)
    return "".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |\n" for line in lines)


def rates(levels: Mapping[int, Level]) -> str:
    """Tokens/s by contender and requests in flight, the slots where others were better, and the growth."""
    return _by_contender("tokens/s", levels, _rate_cell)


def ratios(levels: Mapping[int, Level]) -> str:
    """Ours over each other contender, within rounds."""
    return _by_contender(f"{OURS} over", levels, _ratio_cell, but=OURS)


def first_tokens(level: Level | None) -> str:
    """Milliseconds to the first token of one streamed request, by contender and length of the prompt."""
    if level is None or not level.first_token_s:
        return "Time to the first token: not measured.\n"
    rows = []
    for name in _names([level]):
        figures = (by_name.get(name) for by_name in level.first_token_s.values())
        cells = (spread([1e3 * s for s in seen]).text("{:.1f}") if seen else missing(name, level) for seen in figures)
        rows.append((name, *cells))
    return markdown(("ms to first token", *(f"prompt of {tokens}" for tokens in level.first_token_s)), rows)


def missing(name: str, level: Level) -> str:
    """Why a contender has no figure."""
    return f"not measured: {level.missing.get(name, _NOT_ASKED)}"


def _by_contender(title: str, levels: Mapping[int, Level], cell: Cell, *, but: str = "") -> str:
    before = dict(zip(levels, [None, *levels.values()], strict=False))
    rows = [
        (name, *(cell(name, level, before[in_flight]) for in_flight, level in levels.items()))
        for name in _names(list(levels.values()))
        if name != but
    ]
    return markdown((title, *(f"{in_flight} in flight" for in_flight in levels)), rows)


def _names(levels: Sequence[Level]) -> list[str]:
    return list(dict.fromkeys(name for level in levels for name in (*level.rates, *level.missing)))


def _rate_cell(name: str, level: Level, before: Level | None) -> str:
    if not level.rates.get(name):
        return missing(name, level)
    seen = spread(level.rates[name])
    cell = seen.text("{:.1f}")
    if level.slots.get(name, level.in_flight) != level.in_flight:
        cell += f", {level.slots[name]} slots"
    if before is not None and before.rates.get(name):
        cell += f", grew {seen.middle / spread(before.rates[name]).middle:.2f}x"
    return cell


def _ratio_cell(name: str, level: Level, before: Level | None) -> str:  # noqa: ARG001 - every cell is asked the same
    ours, theirs = level.rates.get(OURS), level.rates.get(name)
    return ratio(ours, theirs).text("{:.2f}x") if ours and theirs else "not measured"
