"""What a plan costs and what it can find, in words, before anything is sent."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from temp0.core.budget import Cost, cost, smallest_p, unseen_rate
from temp0.core.estimate import ALPHA
from temp0.core.plan import Block, Condition, Plan
from temp0.probe.filler import SAME_MAX_TOKENS


def price(blocks: Sequence[Block]) -> Cost:
    """The most that these blocks should cost."""
    return cost(blocks, filler_tokens=SAME_MAX_TOKENS)


def announcement(plan: Plan, blocks: Sequence[Block]) -> list[str]:
    """The lines to say before a sitting: its cost, and a warning where its blocks are too few to prove anything."""
    if not blocks:
        return ["the run is finished already; nothing is sent"]
    paid = price(blocks)
    costs = (
        f"cost: {_counted(len(plan.prompts), 'prompt')} under {_counted(len(plan.conditions), 'condition')}: "
        f"{_counted(paid.judged, 'judged request')} and about {_counted(paid.fillers, 'filler')}; "
        f"about {paid.prompt_tokens:,} prompt tokens, at most {paid.completion_tokens:,} answer tokens"
    )
    finds = "finds: " + "; ".join(_finds(plan, condition) for condition in plan.conditions)
    smallest = smallest_p(plan)
    if smallest is None or smallest <= ALPHA:
        return [costs, finds]
    note = f"note: too few blocks to tell a difference between conditions from chance: p >= {smallest:.2g}"
    return [costs, finds, f"{note}; raise -n or --alone"]


def _finds(plan: Plan, condition: Condition) -> str:
    """What a condition would leave unseen for the prompt with the fewest blocks, if every answer were the same."""
    blocks = min(ceil(plan.judged(prompt, condition) / condition.company) for prompt in plan.prompts)
    if blocks == 1:
        return f"{condition.name}: 1 block, which bounds nothing"
    return f"{condition.name}: {blocks} blocks, so unlike answers in up to {unseen_rate(blocks):.1%} could go unseen"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
