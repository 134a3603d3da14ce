"""What a plan costs and what it can find, in words, before anything is sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from temp0.core.budget import Cost, blocks_of, cost, needed_blocks, seen_chance, smallest_p, smallest_p_of
from temp0.core.estimate import ALPHA
from temp0.core.plan import Block, Plan
from temp0.probe.endpoint import ColdMeans
from temp0.probe.filler import SAME_MAX_TOKENS

TELLING_RATES = (0.1, 0.005, 0.001)
"""Rates of unlike answers that a plan is held against: many small plans see the first, few the last."""


def price(blocks: Sequence[Block]) -> Cost:
    """The most that these blocks should cost."""
    return cost(blocks, filler_tokens=SAME_MAX_TOKENS)


def announcement(plan: Plan, blocks: Sequence[Block], cold: ColdMeans | None = None) -> list[str]:
    """The lines to say before a sitting: its cost, what it can find, and how a cold cache is made where one is planned.

    Notes follow where blocks are too few to prove anything.
    """
    if not blocks:
        return ["the run is finished already; nothing is sent"]
    lines = [*costs(plan, blocks), *_finds(plan)]
    if cold:
        before = " before each cold block" if cold.is_reset else ""
        lines.append(f"cold: by {cold.by}{before}; the server is {cold.server}")
    return [*lines, *_notes(plan)]


def cold_unknown(plan: Plan, *, is_optional: bool) -> list[str]:
    """What to say of cold conditions where the server may not be asked whether it can; nothing without any.

    `is_optional` is a preset's cold, which is left out where there is no means; what a flag asks for is refused.
    """
    if not any(condition.cache == "cold" for condition in plan.conditions):
        return []
    otherwise = "leaves cold out and says so" if is_optional else "stops and sends nothing"
    return [
        "cold: not known yet, since a dry run asks no server; before it begins, temp0 asks",
        f"  which server it is, and where it knows no way to make that cache cold, it {otherwise}",
    ]


def plan_document(plan: Plan, blocks: Sequence[Block]) -> dict[str, object]:
    """The same as the announcement, as the fields of a JSON document."""
    return {
        "schema": "temp0/plan",
        "version": 1,
        "exit_code": 0,
        **asdict(price(blocks)),
        "conditions": [
            {
                "name": condition.name,
                "blocks": count,
                "seen": [{"rate": rate, "chance": seen_chance(rate, count)} for rate in TELLING_RATES],
            }
            for condition, count in zip(plan.conditions, _fewest_blocks(plan), strict=True)
        ],
        "needed": [{"rate": rate, "blocks": needed_blocks(rate)} for rate in TELLING_RATES],
        "smallest_p": smallest_p(plan),
    }


def costs(plan: Plan, blocks: Sequence[Block]) -> list[str]:
    """How many requests and roughly how many tokens, as lines."""
    paid = price(blocks)
    parts = [_counted(paid.judged, "judged request")]
    parts += [f"{_counted(paid.primers, 'primer')} for a warm cache"] if paid.primers else []
    parts += [f"about {_counted(paid.fillers, 'filler')} for company"] if paid.fillers else []
    return [
        f"cost: {_counted(len(plan.prompts), 'prompt')} under {_counted(len(plan.conditions), 'condition')}",
        f"  {', '.join(parts)}",
        f"  about {_counted(paid.prompt_tokens, 'prompt token')}, "
        f"at most {_counted(paid.completion_tokens, 'answer token')}",
    ]


def _finds(plan: Plan) -> list[str]:
    """A table of how likely each number of blocks is to show telling rates, and how many blocks it would take."""
    names: dict[int, list[str]] = {}
    for condition, count in zip(plan.conditions, _fewest_blocks(plan), strict=True):
        names.setdefault(count, []).append(condition.name)
    rows = [("one block in", *(f"{1 / rate:,.0f}" for rate in TELLING_RATES))]
    for count, alike in sorted(names.items(), reverse=True):
        chances = (_percent(seen_chance(rate, count)) for rate in TELLING_RATES)
        rows.append((f"{_listed(alike)}: {_counted(count, 'block')}", *chances))
    rows.append(("blocks needed for a chance of 95%", *(f"{needed_blocks(rate):,}" for rate in TELLING_RATES)))
    width = max(len(name) for name, *_ in rows)
    return [
        "finds: the chance to see another answer that only one block in so many gives",
        "  (a block is one request alone, or one pool of requests in flight)",
        *(f"  {name:{width}}{''.join(f'{cell:>9}' for cell in cells)}" for name, *cells in rows),
    ]


def _notes(plan: Plan) -> list[str]:
    smallest = smallest_p(plan)
    if smallest is None or smallest <= ALPHA:
        untold = [one.name for one in plan.conditions if (smallest_p_of(plan, one) or 0) > ALPHA]
        return [f"note: too few blocks to tell {_listed(untold)} from any other; raise -n"] if untold else []
    if smallest ** len(plan.prompts) <= ALPHA:
        return [
            f"note: in one prompt alone no difference between conditions can be told from chance: p >= {smallest:.2g}; "
            "over all prompts together it can, where several differ"
        ]
    return [
        f"note: too few blocks to tell a difference between conditions from chance: p >= {smallest:.2g}; "
        "raise -n or --alone"
    ]


def _fewest_blocks(plan: Plan) -> list[int]:
    """How many blocks each condition has of the prompt with the fewest."""
    return [min(blocks_of(plan, prompt, condition) for prompt in plan.prompts) for condition in plan.conditions]


def _percent(share: float) -> str:
    """A share in whole percent; what is not 0 or 1 is never shown as such."""
    if 0 < share < 0.01:
        return "<1%"
    return ">99%" if 0.99 < share < 1 else f"{share:.0%}"


def _listed(names: Sequence[str]) -> str:
    """The first of the names and how many more there are; one that holds a comma is quoted among others."""
    first, *others = names
    quoted = f'"{first}"' if others and "," in first else first
    return first if not others else f"{quoted} and {_counted(len(others), 'other')}"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
