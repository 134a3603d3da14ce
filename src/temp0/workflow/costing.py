"""What a plan costs and what it can find, in words, before anything is sent."""

from __future__ import annotations

from collections.abc import Sequence

from temp0.core.budget import Cost, cost, smallest_p
from temp0.core.estimate import ALPHA
from temp0.core.plan import Block, Plan
from temp0.probe.filler import SAME_MAX_TOKENS


def price(blocks: Sequence[Block]) -> Cost:
    """The most that these blocks should cost."""
    return cost(blocks, filler_tokens=SAME_MAX_TOKENS)


def announcement(plan: Plan, blocks: Sequence[Block]) -> list[str]:
    """The lines to say before a sitting: its cost, and a warning where its blocks are too few to prove anything."""
    paid = price(blocks)
    lines = [
        f"cost: {paid.judged} judged requests and about {paid.fillers} fillers; "
        f"about {paid.prompt_tokens:,} prompt tokens, at most {paid.completion_tokens:,} answer tokens"
    ]
    smallest = smallest_p(plan)
    if smallest is not None and smallest > ALPHA:
        lines.append(
            f"note: with so few blocks p cannot fall below {smallest:.2g}: a difference between conditions "
            "can be seen, but not told from chance; more attempts (-n, --alone) would"
        )
    return lines
