"""Carries out a plan: blocks in their seeded order, a pool kept at k, every request recorded once.

Nothing is retried unseen. While a block of company k has a judged attempt in flight, k requests of ours are in
flight; when an attempt alone leaves, nothing else of ours is. A cold or warm block begins when the cache is so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

from temp0.core.plan import Block
from temp0.core.run import Attempt, Completion, Failure, Sample
from temp0.probe.dialect.reason import INTERRUPTED, REFUSED, TLS
from temp0.probe.endpoint import Answer, Endpoint
from temp0.probe.filler import Fillers
from temp0.probe.line import Job, Line, Primers

FATAL_STATUSES = frozenset({401, 403, 404})
"""Answers that will not change by asking again: no access, or nothing there."""

FATAL_REASONS = frozenset({REFUSED, TLS})
"""No server where one was expected, or none that can be talked to."""

GRACE_S, GRACE_AFTER_S = 0.005, 0.25
"""After an attempt of more than a quarter of a second, its place stays empty so long before a filler takes it.

Twins that a server computes together end together; without this each of them but the last would be followed by a
filler that keeps nobody company.
"""

PRIMING_ROUNDS = 3
"""How often primers are sent where some fail. Where none is answered the block would not be warm, and is not asked."""

NOT_WARM = "not-warm"
"""Why a sitting stops: no primer of a warm block was answered."""

SAMPLE_AFTER_S = (0.0, 0.05)
SAMPLE_EVERY_S = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """What a resumed run already holds: how many attempts, and whether any of them gave a completion."""

    attempts: int = 0
    has_completion: bool = False


@dataclass(slots=True)
class Asking:
    """One sitting at an endpoint: sends the jobs of blocks and reports each attempt as it ends.

    `clock` gives seconds since the run was created. `resets` says that the endpoint's cache is made cold by emptying
    it, which comes before each cold block. `stopped` says why the sitting ended early, if it did.
    """

    endpoint: Endpoint
    fillers: Fillers
    clock: Callable[[], float]
    on_attempt: Callable[[Attempt], None]
    on_sample: Callable[[Sample], None]
    past: Past = Past()
    resets: bool = False
    max_requests: int | None = None
    stopped: Failure | None = None
    _sent: int = 0
    _in_flight: int = 0
    _judged: int = 0
    _has_completion: bool = False

    def __post_init__(self) -> None:
        """Go on where the past ended."""
        self._has_completion = self.past.has_completion

    async def ask(self, blocks: Sequence[Block]) -> None:
        """Send every block in turn; consecutive blocks of one prompt and condition share one pool, unless prepared.

        Cancelling ends the requests in flight, each recorded as a failure `interrupted`.
        """
        for _, together in groupby(blocks, key=self._pool_of):
            line = Line(list(together), self.fillers)
            if not self.stopped:
                await self._prepare(line.block)
            if self.stopped:
                return
            await self._pool(line)

    def _pool_of(self, block: Block) -> tuple[object, ...]:
        """What blocks have in common that may share a pool; one that is prepared has it for itself."""
        is_prepared = block.condition.cache == "warm" or (block.condition.cache == "cold" and self.resets)
        return (block.prompt.id, block.condition, block.index if is_prepared else None)

    async def _prepare(self, block: Block) -> None:
        """Bring the server's prefix cache into the state that the block is about, or stop; nothing is in flight."""
        if block.condition.cache == "cold" and self.resets:
            refusal = await self.endpoint.make_cold()
            if refusal:
                self._stop(refusal)
        elif block.condition.cache == "warm":
            await self._prime(block)

    async def _prime(self, block: Block) -> None:
        answered, wanted = 0, block.condition.company
        primers = Primers(block, wanted)
        for _ in range(PRIMING_ROUNDS):
            primers = Primers(block, wanted - answered)
            await self._pool(primers)
            answered += primers.answered
            if answered == wanted:
                return
        if not answered and primers.last_failure:
            why = f"no primer of block {block.index} was answered: {primers.last_failure.message}"
            self._stop(Failure(reason=NOT_WARM, message=why))

    async def _pool(self, line: Line | Primers) -> None:
        sampling = asyncio.create_task(self._sample(line))
        workers = [asyncio.create_task(self._work(line)) for _ in range(line.block.condition.company)]
        try:
            await asyncio.gather(*workers)
        finally:
            for task in (*workers, sampling):
                task.cancel()
            await asyncio.gather(*workers, sampling, return_exceptions=True)

    async def _work(self, line: Line | Primers) -> None:
        while not self.stopped and (job := line.next()) is not None:
            if self.max_requests is not None and self._sent >= self.max_requests:
                self._stop(
                    Failure(reason="max-requests", message=f"the limit of {self.max_requests} requests is reached")
                )
                return
            began_s = self.clock()
            line.finish(job, await self._attempt(job))
            if job.role == "judged" and line.is_filling and self.clock() - began_s > GRACE_AFTER_S:
                await asyncio.sleep(GRACE_S)

    async def _attempt(self, job: Job) -> Completion | Failure:
        order = self.past.attempts + self._sent
        self._sent += 1
        self._in_flight += 1
        self._judged += job.role == "judged"
        in_flight, started_s = self._in_flight, self.clock()
        answer = Answer(outcome=Failure(reason=INTERRUPTED, message="stopped before the answer came"))
        try:
            answer = await self.endpoint.complete(job.question)
        finally:
            self._in_flight -= 1
            self._judged -= job.role == "judged"
            self._record(
                Attempt(
                    order=order,
                    prompt=job.prompt.id,
                    condition=job.block.condition.name,
                    block=job.block.index,
                    role=job.role,
                    started_s=started_s,
                    first_byte_s=None if answer.first_byte_s is None else started_s + answer.first_byte_s,
                    ended_s=self.clock(),
                    in_flight=in_flight,
                    predecessor=order - 1 if order else None,
                    outcome=answer.outcome,
                )
            )
        return answer.outcome

    def _record(self, attempt: Attempt) -> None:
        self.on_attempt(attempt)
        if isinstance(attempt.outcome, Completion):
            self._has_completion = True
        elif not self._has_completion and _says_nothing_is_there(attempt.outcome):
            self._stop(attempt.outcome)

    def _stop(self, why: Failure) -> None:
        self.stopped = self.stopped or why

    async def _sample(self, line: Line | Primers) -> None:
        """Note the server's own running count while the pool is at work; who tells none is cheap to ask."""
        pauses = iter(SAMPLE_AFTER_S)
        while True:
            pause = next(pauses, SAMPLE_EVERY_S)
            await asyncio.sleep(pause)
            if self._judged:
                await self._sample_once(line, at_least=1 if pause else self._in_flight)

    async def _sample_once(self, line: Line | Primers, *, at_least: int) -> None:
        """Keep a count that was taken while a judged attempt of one block ran, from leaving to coming back.

        A count lower than `at_least` was taken before our requests had arrived, and says nothing.
        """
        at_s, block = self.clock(), line.block.index
        running = await self.endpoint.running()
        if running is not None and running >= at_least and self._judged and line.block.index == block:
            self.on_sample(Sample(at_s=at_s, block=block, running=running))


def _says_nothing_is_there(failure: Failure) -> bool:
    return failure.status in FATAL_STATUSES or failure.reason in FATAL_REASONS
