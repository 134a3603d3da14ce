"""Scored items under two settings, in words, as a table and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from temp0.core.estimate import ALPHA
from temp0.core.items import ItemsPairing, Side
from temp0.report.figure import UNKNOWN, percent, probability, some, spread
from temp0.report.naming import listed
from temp0.report.prose import Prose
from temp0.report.table import plain_table
from temp0.report.visible import beginning

_LISTED = 8


def items_sentences(found: ItemsPairing) -> tuple[str, ...]:
    """What the comparison says, the most important first."""
    return (*_change(found), *_repeats(found), *_limits(found))


def _change(found: ItemsPairing) -> Iterator[str]:
    """By how much the score changed, and whether that is more than another choice of items would give."""
    unit, scale = ("points", 100) if _is_share(found) else ("", 1)
    by = f" ({beginning(found.scored_by, 40)})" if found.scored_by and found.scored_by != "score" else ""
    change = f"{scale * found.difference:+.2f} {unit}".strip().replace("-", "\N{MINUS SIGN}")
    beyond = "is more than" if found.is_beyond_noise else "is no more than"
    yield (
        f"The score{by} changes by {change} (standard error {scale * found.error:.2f}), which {beyond} "
        f"another choice of items would give: {probability(found.p_items)}."
    )
    if found.detectable is not None and not found.is_beyond_noise:
        least = f"{scale * found.detectable:.2f} {unit}".strip()
        yield f"With so many items that change like these, one of {least} would be found four times of five."
    yield (
        f"{some(len(found.up) + len(found.down), 'item')} of {found.items:,} changed: {len(found.up):,} up, "
        f"{len(found.down):,} down."
    )


def _repeats(found: ItemsPairing) -> Iterator[str]:
    """Whether the two settings answer alike as far as repeats tell, and how far luck moves each."""
    if found.p_repeats is None:
        yield "No item was scored more than once, so how far each setting varies by itself is not known."
        return
    unlike = "do not answer alike" if found.p_repeats <= ALPHA else "answer alike as far as their repeats tell"
    yield f"The two settings {unlike}: {probability(found.p_repeats)} over the repeats of items."
    sway = max(found.a.highest - found.a.lowest, found.b.highest - found.b.lowest)
    if abs(found.difference) <= sway and sway > 0:
        yield "The change is no larger than what the luck of a single repeat can make of one setting."


def _limits(found: ItemsPairing) -> Iterator[str]:
    if found.left_out:
        yield f"Left out without a score in one of the two: {listed(found.left_out)}."
    if found.reworded:
        yield f"Asked in other words by the two, which may be what changed: {listed(found.reworded)}."


def items_screen(found: ItemsPairing, *, names: tuple[str, str] = ("A", "B")) -> RenderableType:
    """The comparison as a rich renderable."""
    first, *others = items_sentences(found)
    table = plain_table("", "score", "worst to best of repeats", "TARr@N", "TARa@N", "characters (median)")
    for name, side in zip(names, (found.a, found.b), strict=True):
        table.add_row(Text(beginning(name, 40)), *map(Prose, _cells(side, is_share=_is_share(found))))
    parts: list[RenderableType] = [Prose(first, style="bold"), *map(Prose, others), "", table]
    for word, ids in (("up", found.up), ("down", found.down)):
        if ids:
            parts.append(Prose(f"{word}: {_listed(ids)}"))
    return Group(*parts)


def _is_share(found: ItemsPairing) -> bool:
    """Whether scores are between 0 and 1, so that they can be told as percentages."""
    return all(0 <= side.lowest <= side.highest <= 1 for side in (found.a, found.b))


def _cells(side: Side, *, is_share: bool) -> tuple[str, ...]:
    luck = f"{_score(side.lowest, is_share)} to {_score(side.highest, is_share)}" if side.repeats > 1 else UNKNOWN
    lengths = f"{spread(side.length.min, side.length.max)} ({side.length.median:,.0f})"
    n = f" (N={side.repeats})" if side.repeats > 1 else ""
    same = percent(side.same_text) + n if side.same_text is not None else UNKNOWN
    agreed = percent(side.same_parsed) if side.same_parsed is not None else percent(side.same_score)
    by_score = " by score" if side.same_parsed is None and side.same_score is not None else ""
    return _score(side.score, is_share), luck, same, agreed + by_score, lengths


def _score(value: float, is_share: bool) -> str:
    return percent(value) if is_share else f"{value:,.3f}"


def _listed(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - _LISTED:,} more" if len(ids) > _LISTED else ""
    return ", ".join(beginning(name, 30) for name in ids[:_LISTED]) + more


def items_json(found: ItemsPairing) -> str:
    """The comparison as a JSON document on one line; its exit code is 1 where the score changed beyond noise."""
    document: dict[str, Any] = {
        "schema": "temp0/items",
        "version": 1,
        "exit_code": int(found.is_beyond_noise),
        **asdict(found),
        "detectable": found.detectable,
        "is_beyond_noise": found.is_beyond_noise,
        "words": " ".join(items_sentences(found)),
    }
    return json.dumps(document, allow_nan=False)
