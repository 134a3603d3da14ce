"""One request on its way through the engine, and its share of a step.

A ticket outlives its slot: preempted, it keeps its tokens and its generator, which is all that its answer depends on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from temp0.engine.page import PAGE_TOKENS
from temp0.engine.request import Emission, Request, Score
from temp0.engine.sampling import generator_of
from temp0.errors import Temp0Error


@dataclass(slots=True, kw_only=True, eq=False)
class Ticket:
    """A request on its way: its tokens so far, how many of them are in the cache, and its slot while it runs.

    `cached_tokens` of its prompt came from the prefix cache in the reading that led to its first token. `scores` are
    those of its prompt so far, where asked for.
    """

    number: int
    request: Request
    on_emission: Callable[[Emission], None]
    on_failure: Callable[[Temp0Error], None] | None = None
    tokens: list[int] = field(init=False)
    generator: np.random.Generator | None = field(init=False)
    computed: int = 0
    cached_tokens: int = 0
    scores: list[Score] = field(default_factory=list)
    slot: int | None = None

    def __post_init__(self) -> None:
        """Start from the prompt."""
        self.tokens = list(self.request.tokens)
        self.generator = generator_of(self.request)

    @property
    def emitted(self) -> int:
        """Tokens emitted so far."""
        return len(self.tokens) - len(self.request.tokens)

    @property
    def pending(self) -> int:
        """Tokens that are not in the cache yet."""
        return len(self.tokens) - self.computed

    @property
    def is_decoding(self) -> bool:
        """Whether the token emitted last is all that is to be computed; anything else is reading."""
        return self.emitted > 0 and self.pending == 1

    @property
    def soon(self) -> int:
        """Positions for all tokens there are and one page more, or for all there can ever be."""
        return min(len(self.tokens) + PAGE_TOKENS, self.request.most_tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What one request computes in a step: `count` positions from `start` on; the last of its tokens or not."""

    ticket: Ticket
    slot: int
    start: int
    count: int

    @property
    def is_last(self) -> bool:
        """Whether the share reaches the newest token, so that the next one can be chosen."""
        return self.start + self.count == len(self.ticket.tokens)

    @property
    def scored(self) -> range:
        """The positions whose logits score the prompt's next token, which has no score yet."""
        if not self.ticket.request.prompt_logprobs:
            return range(0)
        end = min(self.start + self.count, len(self.ticket.request.tokens) - 1)
        return range(max(self.start, len(self.ticket.scores)), end)
