"""What a plan will cost and what it can find, said before anything is sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, comb, log1p

from temp0.core.plan import Block, Condition, Plan, Prompt

CHARACTERS_PER_TOKEN = 4
"""A rough rule for English text; only used to say what a plan may cost."""


PRIMER_MAX_TOKENS = 1
"""A primer only has the server read a prompt, so that the next request finds it cached."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Requests that will be judged, primers before them, fillers beside them at most about, tokens at most about."""

    judged: int
    fillers: int
    primers: int
    prompt_tokens: int
    completion_tokens: int


def cost(blocks: Sequence[Block], *, filler_tokens: int) -> Cost:
    """The most that `blocks` should cost. `filler_tokens` is the longest answer of a filler of the same prompt.

    A pool needs about one filler for each place but one when the answers of a block are of like length; answers of
    very different lengths, and `mixed` fillers, need about as many for each judged attempt.
    """
    return Cost(
        judged=sum(block.size for block in blocks),
        fillers=sum(_fillers(block) for block in blocks),
        primers=sum(primers(block) for block in blocks),
        prompt_tokens=sum((block.size + _fillers(block) + primers(block)) * _prompt_tokens(block) for block in blocks),
        completion_tokens=sum(
            block.size * block.prompt.max_tokens
            + _fillers(block) * _filler_tokens(block, filler_tokens)
            + primers(block) * PRIMER_MAX_TOKENS
            for block in blocks
        ),
    )


def primers(block: Block) -> int:
    """How many requests go before a warm block: as many as are in flight in it, since each place may have a cache."""
    return block.condition.company if block.condition.cache == "warm" else 0


def _fillers(block: Block) -> int:
    others = block.condition.company - 1
    return others * block.size if block.condition.filler == "mixed" else others


def _filler_tokens(block: Block, same: int) -> int:
    return block.prompt.max_tokens if block.condition.filler == "mixed" else min(same, block.prompt.max_tokens)


def _prompt_tokens(block: Block) -> int:
    return ceil(sum(len(message.content) for message in block.prompt.messages) / CHARACTERS_PER_TOKEN)


def smallest_p(plan: Plan) -> float | None:
    """The smallest p that any prompt and comparison of this plan could reach; `None` where nothing is compared.

    Compared are conditions that one factor sets apart. 1 / C(all blocks, blocks of one side), twice that where both
    sides have equally many: the exact permutation test cannot give less. Above 0.05, no effect of a condition can be
    shown on one prompt, however large it is.
    """
    return min((p for one in plan.conditions if (p := smallest_p_of(plan, one)) is not None), default=None)


def smallest_p_of(plan: Plan, condition: Condition) -> float | None:
    """The same for the comparisons of one condition with others."""
    sides = {
        (blocks_of(plan, prompt, condition), blocks_of(plan, prompt, other))
        for other in plan.conditions
        if len(condition.factors_apart(other)) == 1
        for prompt in plan.prompts
    }
    return min((_smallest_p(a, b) for a, b in sides), default=None)


def blocks_of(plan: Plan, prompt: Prompt, condition: Condition) -> int:
    """How many blocks the plan cuts a prompt under a condition into."""
    return ceil(plan.judged(prompt, condition) / condition.company)


def _smallest_p(a: int, b: int) -> float:
    return min(1.0, (2 if a == b else 1) / comb(a + b, a))


def seen_chance(rate: float, n: int) -> float:
    """The chance that n blocks hold at least one unlike answer, where each holds one at this rate: 1 - (1 - rate)^n.

    Misleads where blocks are not alike, such as in a burst.

    >>> round(seen_chance(0.005, 30), 2)
    0.14
    """
    return float(1 - (1 - rate) ** n)


def needed_blocks(rate: float, chance: float = 0.95) -> int:
    """How many blocks it takes to see such a rate with this chance: log(1 - chance) / log(1 - rate), rounded up.

    >>> needed_blocks(0.1), needed_blocks(0.005), needed_blocks(0.001)
    (29, 598, 2995)
    """
    return ceil(log1p(-chance) / log1p(-rate))
