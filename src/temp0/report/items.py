"""Scored items under two settings, in words, as a table and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from temp0.core.items import ItemsPairing, Side
from temp0.report.figure import UNKNOWN, percent, probability, some, spread
from temp0.report.prose import Prose
from temp0.report.table import plain_table
from temp0.report.visible import beginning

_LISTED = 8
_ALPHA = 0.05


def items_sentences(found: ItemsPairing) -> tuple[str, ...]:
    """What the comparison says, the most important first."""
    net = 100 * found.difference
    change = f"{net:+.2f}".replace("-", "\N{MINUS SIGN}")
    beyond = "is more than" if found.is_beyond_noise else "is no more than"
    sentences = [
        f"The score changes by {change} points (standard error {100 * found.error:.2f}), which {beyond} "
        f"another choice of items would give: {probability(found.p_items)}.",
        f"{some(len(found.up) + len(found.down), 'item')} of {found.items:,} changed: {len(found.up)} up, "
        f"{len(found.down)} down.",
    ]
    if found.p_repeats is not None:
        unlike = "do not answer alike" if found.p_repeats <= _ALPHA else "answer alike as far as their repeats tell"
        sentences.append(f"The two settings {unlike}: {probability(found.p_repeats)} over the repeats of items.")
    else:
        sentences.append("Nothing was repeated, so how far each setting varies by itself is not known.")
    return tuple(sentences)


def items_screen(found: ItemsPairing, *, names: tuple[str, str] = ("A", "B")) -> RenderableType:
    """The comparison as a rich renderable."""
    first, *others = items_sentences(found)
    table = plain_table("", "score", "worst to best of repeats", "TARr@N", "TARa@N", "characters (median)")
    for name, side in zip(names, (found.a, found.b), strict=True):
        table.add_row(Text(beginning(name, 40)), *map(Prose, _cells(side)))
    parts: list[RenderableType] = [Prose(first, style="bold"), *map(Prose, others), "", table]
    for word, ids in (("up", found.up), ("down", found.down)):
        if ids:
            parts.append(Prose(f"{word}: {_listed(ids)}"))
    return Group(*parts)


def _cells(side: Side) -> tuple[str, ...]:
    luck = f"{percent(side.lowest)} to {percent(side.highest)}" if side.repeats > 1 else UNKNOWN
    lengths = f"{spread(side.length.min, side.length.max)} ({side.length.median:,.0f})"
    n = f" (N={side.repeats})" if side.repeats > 1 else ""
    same = percent(side.same_text) + n if side.same_text is not None else UNKNOWN
    return percent(side.score), luck, same, percent(side.same_score), lengths


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
        "is_beyond_noise": found.is_beyond_noise,
        "words": " ".join(items_sentences(found)),
    }
    return json.dumps(document, allow_nan=False)
