"""Carries out a plan: blocks in their seeded order, a pool kept at k, every request recorded once.

Nothing is retried unseen: a question that is asked again is another attempt, in the same block. While a block of
company k has a judged attempt in flight, k requests of ours are in flight, less those that were refused for the moment
and wait; when an attempt alone leaves, nothing else of ours is. A cold or warm block begins when the cache is so.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from random import Random

from temp0.core.plan import Block
from temp0.core.run import Attempt, Completion, Failure, Sample
from temp0.probe.dialect.reason import INTERRUPTED, REFUSED, TLS
from temp0.probe.endpoint import Answer, Endpoint
from temp0.probe.filler import Fillers
from temp0.probe.line import Job, Line, Primers
from temp0.probe.patience import LONGEST_WAIT_S, PATIENCE_S, Patience, Pause
from temp0.probe.pool import Pool

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

    `clock` gives seconds since the run was created. `on_received` gets a raw body
    that is kept, before the attempt that it came to. `resets` says that the endpoint's cache is made cold by emptying
    it, which comes before each cold block. `on_pause` hears of each question that will be asked again, after at most
    `patience_s` seconds of waiting in all; `sleep` waits, `draw` spreads waits that no server named. Not `greedy`:
    questions go out without a temperature. `stopped` says why the sitting ended early, if it did.
    """

    endpoint: Endpoint
    fillers: Fillers
    clock: Callable[[], float]
    on_attempt: Callable[[Attempt], None]
    on_sample: Callable[[Sample], None]
    past: Past = Past()
    resets: bool = False
    greedy: bool = True
    max_requests: int | None = None
    patience_s: float = PATIENCE_S
    on_received: Callable[[bytes], None] = lambda _: None
    on_pause: Callable[[Pause], None] = lambda _: None
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    draw: Random = field(default_factory=lambda: Random(0))
    stopped: Failure | None = None
    _sent: int = 0
    _in_flight: int = 0
    _has_completion: bool = False
    _is_worn: bool = False  # patience with one question has ended, and nothing was answered since

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
        pool = Pool(line)
        sampling = asyncio.create_task(self._sample(pool))
        workers = [asyncio.create_task(self._work(pool)) for _ in range(line.block.condition.company)]
        try:
            await asyncio.gather(*workers)
        finally:
            for task in (*workers, sampling):
                task.cancel()
            await asyncio.gather(*workers, sampling, return_exceptions=True)

    async def _work(self, pool: Pool) -> None:
        line = pool.line
        while not self.stopped and (job := line.next()) is not None:
            began_s = self.clock()
            outcome = await self._answered(job, pool)
            if outcome is not None:
                line.finish(job, outcome)
            if self.stopped or line.is_over:
                pool.end()
            if job.role == "judged" and line.is_filling and self.clock() - began_s > GRACE_AFTER_S:
                await asyncio.sleep(GRACE_S)
            await pool.company_wanted()

    async def _answered(self, job: Job, pool: Pool) -> Completion | Failure | None:
        """What came of a job in the end, of however many attempts; `None` where no more requests may be sent."""
        patience = Patience(left_s=self.patience_s, draw=self.draw)
        while self._may_send():
            answer = await self._attempt(job, pool)
            failure = answer.outcome
            if isinstance(failure, Completion):
                self._is_worn = False
                return failure
            if answer.again is None or self.stopped:
                return failure
            pause_s = patience.pause_s(answer.again)
            if job.role == "filler":
                await self._wait(LONGEST_WAIT_S if pause_s is None else pause_s, job, pool)
                return failure
            if pause_s is None or (pause_s and self._is_worn):
                self._is_worn = True
                return failure
            self.on_pause(Pause(seconds=pause_s, why=failure))
            await self._wait(pause_s, job, pool)
            if self.stopped:
                return failure
        return None

    def _may_send(self) -> bool:
        if self.max_requests is None or self._sent < self.max_requests:
            return True
        self._stop(Failure(reason="max-requests", message=f"the limit of {self.max_requests} requests is reached"))
        return False

    async def _wait(self, seconds: float, job: Job, pool: Pool) -> None:
        """Keep a place empty for so long, or until its pool is over."""
        sleeping = asyncio.ensure_future(self.sleep(seconds))
        over = asyncio.create_task(pool.over.wait())
        try:
            with pool.waiting(job):
                await asyncio.wait((sleeping, over), return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleeping.cancel()
            over.cancel()

    async def _attempt(self, job: Job, pool: Pool) -> Answer:
        order = self.past.attempts + self._sent
        self._sent += 1
        self._in_flight += 1
        in_flight, started_s = self._in_flight, self.clock()
        answer = Answer(outcome=Failure(reason=INTERRUPTED, message="stopped before the answer came"))
        try:
            with pool.in_flight(job):
                answer = await self.endpoint.complete(replace(job.question, greedy=self.greedy))
        finally:
            self._in_flight -= 1
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
                    sent=answer.sent,
                    received=None if answer.received is None else hashlib.sha256(answer.received).hexdigest(),
                ),
                answer,
            )
        return answer

    def _record(self, attempt: Attempt, answer: Answer) -> None:
        if answer.received is not None:
            self.on_received(answer.received)
        self.on_attempt(attempt)
        if isinstance(attempt.outcome, Completion):
            self._has_completion = True
        elif answer.stop:
            self._stop(replace(attempt.outcome, message=f"{attempt.outcome.message}; {answer.stop}"))
        elif not self._has_completion and _says_nothing_is_there(attempt.outcome):
            self._stop(attempt.outcome)

    def _stop(self, why: Failure) -> None:
        self.stopped = self.stopped or why

    async def _sample(self, pool: Pool) -> None:
        """Note the server's own running count while the pool is at work; who tells none is cheap to ask."""
        pauses = iter(SAMPLE_AFTER_S)
        while True:
            pause = next(pauses, SAMPLE_EVERY_S)
            await asyncio.sleep(pause)
            if pool.judged:
                await self._sample_once(pool, at_least=1 if pause else self._in_flight)

    async def _sample_once(self, pool: Pool, *, at_least: int) -> None:
        """Keep a count that was taken while a judged attempt of one block ran, from leaving to coming back.

        A count lower than `at_least` was taken before our requests had arrived, and says nothing.
        """
        at_s, block = self.clock(), pool.line.block.index
        running = await self.endpoint.running()
        if running is not None and running >= at_least and pool.judged and pool.line.block.index == block:
            self.on_sample(Sample(at_s=at_s, block=block, running=running))


def _says_nothing_is_there(failure: Failure) -> bool:
    return failure.status in FATAL_STATUSES or failure.reason in FATAL_REASONS
