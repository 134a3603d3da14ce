"""The main job: open an endpoint, carry out a plan, keep everything, give the run.

However a sitting ends (done, stopped by the server's refusal, interrupted), what was recorded is given back.
"""

from __future__ import annotations

import math
import os
import platform
import random
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from temp0 import __version__
from temp0.core.plan import Block, Plan
from temp0.core.run import Attempt, Completion, Failure, Run
from temp0.errors import EndpointError, StoreError, UsageError
from temp0.probe.asking import Asking, Past
from temp0.probe.endpoint import Endpoint
from temp0.probe.filler import Fillers
from temp0.probe.opening import open_endpoint
from temp0.store import Store
from temp0.workflow import builtin
from temp0.workflow.interruption import interrupted_during
from temp0.workflow.recording import Recorder


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Which endpoint to ask, and how to address it; without `url` it is the built-in engine."""

    url: str | None = None
    model: str | None = None
    api: str | None = None
    key_env: str | None = None
    timeout_s: float = 300.0
    engine: builtin.Builtin = field(default_factory=builtin.Builtin)

    def __post_init__(self) -> None:
        """Refuse a time-out that is none, and settings of the built-in engine for an endpoint that is not it."""
        if not 0 < self.timeout_s < math.inf:
            raise UsageError(f"timeout_s is {self.timeout_s}, expected a number of seconds above 0")
        if self.url and not self.url.startswith("builtin:") and self.engine != builtin.Builtin():
            raise UsageError(
                "weights, arithmetic and threads are those of the built-in engine; leave them out, or the URL"
            )

    @asynccontextmanager
    async def endpoint(self) -> AsyncIterator[Endpoint]:
        """The endpoint, open for the time of the context."""
        if self.url is None or self.url.startswith("builtin:"):
            engine = builtin.resumed(self.url, self.engine) if self.url else self.engine
            async with builtin.builtin_endpoint(engine, timeout_s=self.timeout_s) as endpoint:
                yield endpoint
            return
        endpoint = await open_endpoint(
            self.url,
            model=self.model,
            api=self.api,
            key_env=self.key_env,
            timeout_s=self.timeout_s,
            environ=os.environ,
        )
        try:
            yield endpoint
        finally:
            await endpoint.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sitting:
    """What one sitting gave: the whole run so far, and why it ended early if it did."""

    run: Run
    stopped: Failure | None
    interrupted: bool


async def probe(
    plan: Plan,
    where: Where,
    *,
    store: Store | None = None,
    resume: Run | None = None,
    max_requests: int | None = None,
    on_start: Callable[[Run, Sequence[Block]], None] | None = None,
    on_attempt: Callable[[Attempt], None] | None = None,
) -> Sitting:
    """Carry out `plan`, or what is left of the run `resume`, and give the run.

    Cancelling (Ctrl-C) ends the sitting, not the caller: the run so far is given, marked `interrupted`. Raises
    `EndpointError`, `ModelError` or `StoreError` where nothing can be asked or kept. A store that fails on the way
    stops the sitting, and what was asked is still given.
    """
    async with where.endpoint() as endpoint:
        run = resume or _new_run(plan, endpoint)
        if endpoint.address != run.address:
            raise EndpointError(f"run {run.id} was made with {run.address}, not with {endpoint.address}")
        if not endpoint.can_logprobs and any(condition.logprobs for condition in run.plan.conditions):
            raise EndpointError(f"the dialect {run.address.api} has no logprobs; leave out --logprobs")
        if store and not resume:
            store.begin(run, version=__version__, environment=_environment())
        blocks = _remaining(run)
        if on_start:
            on_start(run, blocks)
        with Recorder(run, store) as recorder:
            asking = _asking(run, endpoint, recorder, max_requests, on_attempt)
            interrupted = await _is_interrupted(asking.ask(blocks), recorder)
        stopped = asking.stopped or _unwritten(recorder)
        if store and not (interrupted or stopped):
            store.finish(run.id)
        return Sitting(run=recorder.run, stopped=stopped, interrupted=interrupted)


def _environment() -> tuple[tuple[str, str], ...]:
    """Where the asking was done; what the endpoint ran on is not known from here."""
    return (("python", platform.python_version()), ("system", platform.platform()), ("machine", platform.machine()))


def _new_run(plan: Plan, endpoint: Endpoint) -> Run:
    created = datetime.now(UTC).isoformat(timespec="milliseconds")
    return Run(id=secrets.token_hex(6), created=created, address=endpoint.address, plan=plan)


def _remaining(run: Run) -> tuple[Block, ...]:
    """What is left to ask; the plan's own order at first, a new seeded one when a run goes on."""
    if not run.attempts:
        return run.plan.blocks()
    blocks = list(run.remaining())
    random.Random(run.plan.seed + len(run.attempts)).shuffle(blocks)
    return tuple(blocks)


def _asking(
    run: Run,
    endpoint: Endpoint,
    recorder: Recorder,
    max_requests: int | None,
    on_attempt: Callable[[Attempt], None] | None,
) -> Asking:
    def record(attempt: Attempt) -> None:
        recorder.attempt(attempt)
        if on_attempt:
            on_attempt(attempt)

    return Asking(
        endpoint=endpoint,
        fillers=Fillers(run.plan.prompts, run.plan.seed + len(run.attempts)),
        clock=_clock(run.created),
        on_attempt=record,
        on_sample=recorder.sample,
        past=Past(
            attempts=1 + max((attempt.order for attempt in run.attempts), default=-1),
            has_completion=any(isinstance(attempt.outcome, Completion) for attempt in run.attempts),
        ),
        max_requests=max_requests,
    )


def _clock(created: str) -> Callable[[], float]:
    """Seconds since the run was created: the wall clock once, so that a resumed run goes on, then a steady one."""
    begun = time.time() - datetime.fromisoformat(created).timestamp()
    zero = time.perf_counter()
    return lambda: round(begun + time.perf_counter() - zero, 6)


def _unwritten(recorder: Recorder) -> Failure | None:
    """What kept the store from being written: a reason to stop, not to lose what was paid for."""
    if recorder.error is None:
        return None
    if not isinstance(recorder.error, StoreError):
        raise recorder.error
    return Failure(reason="not-stored", message=str(recorder.error))


async def _is_interrupted(asking: Awaitable[None], recorder: Recorder) -> bool:
    try:
        return await interrupted_during(asking)
    except StoreError:
        if recorder.error is None:
            raise
        return True
