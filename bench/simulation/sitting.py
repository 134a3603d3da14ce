"""Carries out a plan against a simulated server, as a client would: blocks in their order, a pool kept at k.

What is recorded is what happened: the places of attempts, who was in flight, and when. When an attempt alone leaves,
nothing else of ours is in flight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from random import Random

from simulation.agenda import Agenda
from simulation.server import Outcome, Request, Service
from temp0.core.plan import Block, Condition, Message, Plan, Prompt
from temp0.core.run import Attempt, Role, Sample

BETWEEN_POOLS_S = 0.001
FILLER_TOKENS, PRIMER_TOKENS = 16, 1
GRACE_S, GRACE_AFTER_S = 0.005, 0.25
FIRST_SAMPLES_S, SAMPLE_EVERY_S = (0.0, 0.05), 0.25
FIRST_BYTE = 0.2
"""The share of its time after which an answer begins."""

OTHERS = tuple(
    Prompt(id=f"filler {name}", messages=(Message(role="user", content=f"A {name} text."),), n=1, max_tokens=most)
    for name, most in (("short", 8), ("middle", 24), ("long", 40))
)
"""What fillers ask where other prompts are wanted, beside the plan's own."""


@dataclass(slots=True, kw_only=True)
class Pool:
    """The jobs of consecutive blocks of one prompt and condition, which share places."""

    blocks: Sequence[Block]
    at: int = 0
    sent: int = 0
    ended: int = 0
    places: int = 0

    @property
    def block(self) -> Block:
        """The block whose judged attempts are being sent."""
        return self.blocks[self.at]

    @property
    def is_waiting(self) -> bool:
        """Whether a judged attempt is in flight."""
        return self.sent > self.ended

    def next_role(self) -> Role | None:
        """What the next free place is for, or `None` when every judged attempt has ended."""
        if self.ended == self.block.size:
            if self.at + 1 == len(self.blocks):
                return None
            self.at, self.sent, self.ended = self.at + 1, 0, 0
        return "judged" if self.can_judge() else "filler"

    def can_judge(self) -> bool:
        """Whether a judged attempt is left to send; beside mixed fillers one at a time may be in flight."""
        one_at_a_time = self.block.condition.filler == "mixed"
        return self.sent < self.block.size and not (one_at_a_time and self.is_waiting)


@dataclass(slots=True, kw_only=True)
class Sitting:
    """`running` is the server's own count where it tells one."""

    plan: Plan
    agenda: Agenda
    service: Service
    random: Random
    running: Callable[[], float] | None = None
    attempts: list[Attempt] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    _sent: int = 0
    _judged: int = 0
    _in_flight: int = 0
    _last: str | None = None

    def carry_out(self) -> None:
        """Send every block of the plan in turn."""
        for _, together in groupby(self.plan.blocks(), key=_pool_of):
            pool = Pool(blocks=list(together))
            if pool.block.condition.cache == "warm":
                self._prime(pool)
            self._fill(pool)
            if self.running is not None:
                self._sample(pool, iter(FIRST_SAMPLES_S))
            self.agenda.run()
            self.agenda.after(BETWEEN_POOLS_S, lambda: None)
            self.agenda.run()

    def _prime(self, pool: Pool) -> None:
        """Put the prompt into the server's prefix cache, once for each place."""
        primer = replace(pool.block.prompt, max_tokens=PRIMER_TOKENS)
        for _ in range(pool.block.condition.company):
            self._send(pool, primer, "filler", lambda: None)
        self.agenda.run()

    def _fill(self, pool: Pool) -> None:
        pool.places = pool.block.condition.company
        for _ in range(pool.places):
            self._take_place(pool)

    def _take_place(self, pool: Pool) -> None:
        role = pool.next_role()
        if role is None:
            pool.places -= 1
            return
        prompt = pool.block.prompt if role == "judged" else self._filler(pool.block)
        began_s = self.agenda.now_s
        pool.sent += role == "judged"

        def ended() -> None:
            pool.ended += role == "judged"
            is_filling = pool.ended < pool.block.size and not pool.can_judge()
            has_grace = role == "judged" and is_filling and self.agenda.now_s - began_s > GRACE_AFTER_S
            self.agenda.after(GRACE_S if has_grace else 0.0, lambda: self._take_place(pool))

        self._send(pool, prompt, role, ended)

    def _filler(self, block: Block) -> Prompt:
        if block.condition.filler == "same":
            return replace(block.prompt, max_tokens=min(block.prompt.max_tokens, FILLER_TOKENS))
        return self.random.choice([*(prompt for prompt in self.plan.prompts if prompt.id != block.prompt.id), *OTHERS])

    def _send(self, pool: Pool, prompt: Prompt, role: Role, ended: Callable[[], None]) -> None:
        self._in_flight += 1
        request = Request(
            prompt=prompt,
            condition=pool.block.condition,
            block=pool.block.index,
            role=role,
            order=self._sent,
            progress=self._judged / self.plan.attempts,
            predecessor=self._last,
            started_s=self.agenda.now_s,
            in_flight=self._in_flight,
        )
        self._sent += 1
        self._judged += role == "judged"
        self._last = prompt.id

        def done(outcome: Outcome) -> None:
            self._in_flight -= 1
            self._record(request, outcome)
            ended()

        self.service.submit(request, done)

    def _record(self, request: Request, outcome: Outcome) -> None:
        ended_s = self.agenda.now_s
        self.attempts.append(
            Attempt(
                order=request.order,
                prompt=request.prompt.id,
                condition=request.condition.name,
                block=request.block,
                role=request.role,
                started_s=request.started_s,
                first_byte_s=request.started_s + FIRST_BYTE * (ended_s - request.started_s),
                ended_s=ended_s,
                in_flight=request.in_flight,
                predecessor=request.order - 1 if request.order else None,
                outcome=outcome,
            )
        )

    def _sample(self, pool: Pool, pauses: Iterator[float]) -> None:
        """Note the server's count again and again for as long as the pool has a place in use."""

        def look() -> None:
            if not pool.places:
                return
            if pool.is_waiting and self.running is not None:
                self.samples.append(Sample(at_s=self.agenda.now_s, block=pool.block.index, running=self.running()))
            self._sample(pool, pauses)

        self.agenda.after(next(pauses, SAMPLE_EVERY_S), look)


def _pool_of(block: Block) -> tuple[str, Condition, int | None]:
    """What blocks that share a pool have in common; one whose cache is prepared has a pool of its own."""
    return block.prompt.id, block.condition, None if block.condition.cache == "as-found" else block.index
