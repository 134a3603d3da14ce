"""Fillers: requests that only keep company, so that a pool stays at k.

Which filler comes next is a pure function of the seed and of how many came before.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from temp0.core.plan import Block, Message, Prompt

SAME_MAX_TOKENS = 16
"""A filler of the judged prompt is cut short, so that little is paid and little is waited for when its block ends."""

_PASSAGE = (
    "A server that answers many people at once gathers their requests into batches, because a processor reads its "
    "weights once for all of them. The more requests are gathered, the less each one costs, and the longer each one "
    "waits. Nobody who sends a request can see who else is in the batch, how long the other prompts are, or whether "
    "any of them has just begun. "
)

_OTHERS = (
    ("short", "Name a colour.", 8),
    ("list", "List the planets of the solar system with one fact about each.", 96),
    ("passage", f"Summarise this in two sentences.\n\n{_PASSAGE * 2}", 48),
    ("long", f"Count the sentences of this text and quote the first.\n\n{_PASSAGE * 6}", 32),
)


def _built_in() -> tuple[Prompt, ...]:
    return tuple(
        Prompt(id=f"filler {name}", messages=(Message(role="user", content=text),), n=1, max_tokens=most)
        for name, text, most in _OTHERS
    )


@dataclass(slots=True)
class Fillers:
    """Chooses fillers: the judged prompt again, or other prompts of other lengths."""

    prompts: Sequence[Prompt]
    seed: int
    _random: random.Random = field(init=False)

    def __post_init__(self) -> None:
        """Start the seeded choice."""
        self._random = random.Random(self.seed)

    def next(self, block: Block) -> Prompt:
        """The next filler for a block; never the judged prompt itself where the condition says `mixed`."""
        if block.condition.filler == "same":
            return replace(block.prompt, max_tokens=min(block.prompt.max_tokens, SAME_MAX_TOKENS))
        others = [prompt for prompt in self.prompts if prompt.id != block.prompt.id]
        return self._random.choice([*others, *_built_in()])
