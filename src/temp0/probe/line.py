"""What is sent next, and when: the judged attempts of blocks with their fillers, and the primers of a warm block.

It knows no endpoint and no clock: it hands out jobs and is told when they have ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from temp0.core.budget import PRIMER_MAX_TOKENS
from temp0.core.plan import Block, Prompt
from temp0.core.run import Completion, Failure, Question, Role
from temp0.probe.filler import Fillers


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One request to send, and what it is for."""

    prompt: Prompt
    role: Role
    block: Block

    @property
    def question(self) -> Question:
        """The request itself."""
        condition = self.block.condition
        return Question(
            messages=self.prompt.messages,
            max_tokens=self.prompt.max_tokens,
            logprobs=condition.logprobs,
            stream=condition.stream,
            cache=condition.cache,
        )


@dataclass(slots=True)
class Line:
    """Hands out the jobs of consecutive blocks that share one pool.

    While a judged attempt of the current block is unfinished, every free place gets a job, so that the pool stays
    full; the next block begins when the last judged attempt of this one is done, and takes over its places as
    they fall free.
    """

    blocks: Sequence[Block]
    fillers: Fillers
    at: int = 0
    sent: int = 0
    finished: int = 0

    @property
    def block(self) -> Block:
        """The block whose judged attempts are being sent."""
        return self.blocks[self.at]

    def next(self) -> Job | None:
        """The next job, or `None` when every judged attempt is done."""
        if self.finished == self.block.size:
            if self.at + 1 == len(self.blocks):
                return None
            self.at, self.sent, self.finished = self.at + 1, 0, 0
        if self._can_judge():
            self.sent += 1
            return Job(prompt=self.block.prompt, role="judged", block=self.block)
        return Job(prompt=self.fillers.next(self.block), role="filler", block=self.block)

    def _can_judge(self) -> bool:
        alone_among_fillers = self.block.condition.filler == "mixed"
        return self.sent < self.block.size and not (alone_among_fillers and self.sent > self.finished)

    @property
    def is_filling(self) -> bool:
        """Whether every judged attempt of the block has left and some are still awaited."""
        return self.finished < self.block.size and not self._can_judge()

    @property
    def is_over(self) -> bool:
        """Whether every judged attempt of every block is done."""
        return self.finished == self.block.size and self.at + 1 == len(self.blocks)

    def finish(self, job: Job, _outcome: Completion | Failure) -> None:
        """Count a judged attempt that has ended, well or not."""
        if job.role == "judged":
            self.finished += 1


@dataclass(slots=True)
class Primers:
    """Hands out requests that put a block's prompt into the server's prefix cache, as many at once as are `wanted`.

    A server may keep one cache for each place in its batch, so that a pool needs as many as it has places.
    """

    block: Block
    wanted: int
    sent: int = 0
    answered: int = 0
    last_failure: Failure | None = None

    @property
    def is_filling(self) -> bool:
        """Never: nothing takes the place of a primer."""
        return False

    @property
    def is_over(self) -> bool:
        """Never: each primer is waited for."""
        return False

    def next(self) -> Job | None:
        """The next primer, or `None` when all have left."""
        if self.sent == self.wanted:
            return None
        self.sent += 1
        return Job(prompt=replace(self.block.prompt, max_tokens=PRIMER_MAX_TOKENS), role="filler", block=self.block)

    def finish(self, _job: Job, outcome: Completion | Failure) -> None:
        """Count a primer that was answered, or keep why it was not."""
        if isinstance(outcome, Completion):
            self.answered += 1
        else:
            self.last_failure = outcome
