"""What a plan will cost and what it can find, said before anything is sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil, comb

from temp0.core.plan import Block, Plan, Prompt

CHARACTERS_PER_TOKEN = 4
"""A rough rule for English text; only used to say what a plan may cost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Requests that will be judged, fillers beside them at most about, and tokens at most about."""

    judged: int
    fillers: int
    prompt_tokens: int
    completion_tokens: int


def cost(blocks: Sequence[Block], *, filler_tokens: int) -> Cost:
    """The most that `blocks` should cost. `filler_tokens` is the longest answer of a filler of the same prompt.

    A pool needs about one filler for each place but one when the answers of a block are of like length; answers of
    very different lengths, and `mixed` fillers, need about as many for each judged attempt.
    """
    judged = sum(block.size for block in blocks)
    fillers = sum(_fillers(block) for block in blocks)
    prompt_tokens = sum((block.size + _fillers(block)) * _prompt_tokens(block) for block in blocks)
    completion_tokens = sum(
        block.size * block.prompt.max_tokens + _fillers(block) * _filler_tokens(block, filler_tokens)
        for block in blocks
    )
    return Cost(judged=judged, fillers=fillers, prompt_tokens=prompt_tokens, completion_tokens=completion_tokens)


def _fillers(block: Block) -> int:
    others = block.condition.company - 1
    return others * block.size if block.condition.filler == "mixed" else others


def _filler_tokens(block: Block, same: int) -> int:
    return block.prompt.max_tokens if block.condition.filler == "mixed" else min(same, block.prompt.max_tokens)


def _prompt_tokens(block: Block) -> int:
    return ceil(sum(len(message.content) for message in block.prompt.messages) / CHARACTERS_PER_TOKEN)


def smallest_p(plan: Plan) -> float | None:
    """The smallest p that any prompt and pair of conditions of this plan could reach; `None` with one condition.

    1 / C(all blocks, blocks of one side), twice that where both sides have equally many: the exact permutation
    test cannot give less. Above 0.05, no effect of a condition can be shown however large it is.
    """
    shapes = {tuple(_blocks_of(plan, prompt)) for prompt in plan.prompts}
    return min((_smallest_p(a, b) for shape in shapes for a, b in combinations(shape, 2)), default=None)


def _blocks_of(plan: Plan, prompt: Prompt) -> list[int]:
    return [ceil(plan.judged(prompt, condition) / condition.company) for condition in plan.conditions]


def _smallest_p(a: int, b: int) -> float:
    return min(1.0, (2 if a == b else 1) / comb(a + b, a))


def unseen_rate(n: int) -> float:
    """The largest variant rate that n clean blocks leave possible, one-sided 95 %: 1 - 0.05^(1/n).

    >>> round(unseen_rate(30), 3)
    0.095
    """
    return float(1 - 0.05 ** (1 / n))
