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
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from temp0 import __version__
from temp0.core.plan import Block, Condition, Plan
from temp0.core.run import Attempt, Completion, Failure, Question, Run
from temp0.engine.builtin import builtin_weights
from temp0.errors import EndpointError, StoreError, UsageError
from temp0.probe.asking import Asking, Past
from temp0.probe.connection import CONNECT_TIMEOUT_S
from temp0.probe.endpoint import ColdMeans, Endpoint, NoColdMeans
from temp0.probe.filler import Fillers
from temp0.probe.opening import OpenedEndpoint, open_endpoint
from temp0.probe.patience import PATIENCE_S, Pause
from temp0.store import Store
from temp0.workflow import builtin
from temp0.workflow.interruption import interrupted_during
from temp0.workflow.preset import fitted
from temp0.workflow.recording import Recorder

__all__ = ["Pause", "Sitting", "Start", "Where", "probe", "rehearse"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Which endpoint to ask, and how to address it; without `url` it is the built-in engine.

    `headers` go out with every request, `extra` is merged into every body. `keep_raw` has raw answers stored.
    """

    url: str | None = None
    model: str | None = None
    api: str | None = None
    key_env: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    extra: Mapping[str, object] = field(default_factory=dict)
    timeout_s: float = 300.0
    connect_timeout_s: float = CONNECT_TIMEOUT_S
    first_byte_timeout_s: float | None = None
    keep_raw: bool = False
    engine: builtin.Builtin = field(default_factory=builtin.Builtin)

    def __post_init__(self) -> None:
        """Refuse a time-out that is none, and what makes no sense for an endpoint of that kind."""
        for name in ("timeout_s", "connect_timeout_s", "first_byte_timeout_s"):
            value = getattr(self, name)
            if value is not None and not 0 < value < math.inf:
                raise UsageError(f"{name} is {value}, expected a number of seconds above 0")
        if (self.headers or self.extra) and not (self.url or "").startswith(("http:", "https:")):
            raise UsageError("headers and extra fields go to an endpoint over HTTP; give its URL, or leave them out")
        if self.url and self.url.startswith("import:"):
            raise UsageError(f"{self.url} was imported: nobody can be asked there; probe the endpoint it came from")
        if self.url and not self.url.startswith("builtin:") and self.engine != builtin.Builtin():
            raise UsageError(
                "weights, arithmetic and threads are those of the built-in engine; leave them out, or the URL"
            )

    @property
    def is_builtin(self) -> bool:
        """Whether this is the built-in engine, which answers nobody else."""
        return self.url is None or self.url.startswith("builtin:")

    @asynccontextmanager
    async def endpoint(self, plan: Plan) -> AsyncIterator[Endpoint]:
        """The endpoint, open for the time of the context; the built-in engine gets the prefix cache a plan is about."""
        if self.url is None or self.is_builtin:
            engine = builtin.resumed(self.url, self.engine) if self.url else self.engine
            if any(condition.cache != "as-found" for condition in plan.conditions):
                engine = replace(engine, prefix_cache=True)
            async with builtin.builtin_endpoint(engine, timeout_s=self.timeout_s, keeps_raw=self.keep_raw) as endpoint:
                yield endpoint
            return
        endpoint = await open_endpoint(
            self.url,
            model=self.model,
            api=self.api,
            key_env=self.key_env,
            headers=self.headers,
            extra=self.extra,
            timeout_s=self.timeout_s,
            connect_timeout_s=self.connect_timeout_s,
            first_byte_timeout_s=self.first_byte_timeout_s,
            keeps_raw=self.keep_raw,
            environ=os.environ,
        )
        try:
            yield endpoint
        finally:
            await endpoint.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What is known before the first question: the run, what is left to ask, and how the cache is made cold, if it is.

    `notes` say which dialect is spoken and why, and what of a preset the endpoint cannot do.
    """

    run: Run
    blocks: tuple[Block, ...]
    cold: ColdMeans | None = None
    notes: tuple[str, ...] = ()


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
    optional: frozenset[str] = frozenset(),
    store: Store | None = None,
    resume: Run | None = None,
    max_requests: int | None = None,
    patience_s: float = PATIENCE_S,
    on_start: Callable[[Start], None] | None = None,
    on_attempt: Callable[[Attempt], None] | None = None,
    on_pause: Callable[[Pause], None] | None = None,
) -> Sitting:
    """Carry out `plan`, or what is left of the run `resume`, and give the run.

    `optional` names the factors of a preset, whose conditions are left out where the endpoint cannot do them. A
    question that is refused for the moment is asked again for at most `patience_s` seconds, of which `on_pause` hears.
    Cancelling (Ctrl-C) ends the sitting, not the caller: the run so far is given, marked `interrupted`. Raises
    `EndpointError`, `ModelError` or `StoreError` where nothing can be asked or kept. A store that fails on the way
    stops the sitting, and what was asked is still given.
    """
    if where.keep_raw and store is None:
        raise UsageError("raw bodies are kept in a store; name one")
    async with where.endpoint(plan) as endpoint:
        start = await (_resumed(resume, endpoint) if resume else _begun(plan, where, endpoint, optional))
        run = start.run
        if store and not resume:
            store.begin(run, version=__version__, environment=_environment())
        if on_start:
            on_start(start)
        with Recorder(run, store) as recorder:
            asking = _asking(start, endpoint, recorder, on_attempt)
            asking.max_requests, asking.patience_s = max_requests, patience_s
            asking.on_pause = on_pause or asking.on_pause
            interrupted = await _is_interrupted(asking.ask(start.blocks), recorder)
        stopped = asking.stopped or _unwritten(recorder)
        if store and not (interrupted or stopped):
            store.finish(run.id)
        return Sitting(run=recorder.run, stopped=stopped, interrupted=interrupted)


async def rehearse(plan: Plan, where: Where) -> None:
    """Raise what `probe` would before its first question, and ask none; the built-in engine is only looked for.

    Raises `UnreachableError` where the server must be asked for its model and does not answer.
    """
    if where.is_builtin:
        if where.engine.weights is None:
            builtin_weights()
        return
    async with where.endpoint(plan) as endpoint:
        await _begun(plan, where, endpoint, frozenset())


async def _begun(plan: Plan, where: Where, endpoint: Endpoint, optional: frozenset[str]) -> Start:
    cold = await _cold(plan.conditions, endpoint)
    plan, notes = fitted(plan, optional, dialect=endpoint.address.api, can_logprobs=endpoint.can_logprobs, cold=cold)
    _check(plan, endpoint)
    cold = cold if isinstance(cold, ColdMeans) else None
    run = Run(
        id=secrets.token_hex(6),
        created=datetime.now(UTC).isoformat(timespec="milliseconds"),
        address=endpoint.address,
        plan=replace(plan, exclusive=plan.exclusive or where.is_builtin),
        cold_by=cold.by if cold else None,
    )
    return Start(run=run, blocks=run.plan.blocks(), cold=cold, notes=(*_dialect(endpoint), *notes))


def _check(plan: Plan, endpoint: Endpoint) -> None:
    """Refuse what the dialect cannot say while nothing is stored; a simulated endpoint takes any question."""
    if isinstance(endpoint, OpenedEndpoint):
        for prompt in plan.prompts:
            endpoint.check(Question(messages=prompt.messages, max_tokens=prompt.max_tokens))


def _dialect(endpoint: Endpoint) -> tuple[str, ...]:
    """Which dialect is spoken and what says so; of an endpoint that is not asked over HTTP there is nothing to say."""
    return (f"dialect {endpoint.address.api}: {endpoint.because}",) if isinstance(endpoint, OpenedEndpoint) else ()


async def _resumed(run: Run, endpoint: Endpoint) -> Start:
    """What is left of a run, in its plan's own order if nothing was asked, else in a new seeded one."""
    refuse_lacking_headers(run, endpoint.address.headers.split())
    if endpoint.address != run.address:
        raise EndpointError(f"run {run.id} was made with {run.address}, not with {endpoint.address}")
    blocks = list(run.remaining())
    if run.attempts:
        random.Random(run.plan.seed + len(run.attempts)).shuffle(blocks)
    conditions = [block.condition for block in blocks]
    cold = await _cold(conditions, endpoint)
    fitted(run.plan, frozenset(), dialect=run.address.api, can_logprobs=endpoint.can_logprobs, cold=cold)
    if isinstance(cold, ColdMeans) and cold.by != run.cold_by:
        raise EndpointError(f"run {run.id} was made cold by {run.cold_by}, and here it would be by {cold.by}")
    return Start(run=run, blocks=tuple(blocks), cold=cold if isinstance(cold, ColdMeans) else None)


def refuse_lacking_headers(run: Run, given: Iterable[str]) -> None:
    """Raise UsageError where a run was made with headers that are not among the names given."""
    if lacking := sorted({*run.address.headers.split()} - {name.lower() for name in given}):
        raise UsageError(
            f"run {run.id} was made with headers whose values are not kept; give again: {', '.join(lacking)}"
        )


async def _cold(conditions: Iterable[Condition], endpoint: Endpoint) -> ColdMeans | NoColdMeans | None:
    """How the endpoint's cache is made cold; nobody is asked where nothing cold is to be asked."""
    return await endpoint.cold_means() if any(one.cache == "cold" for one in conditions) else None


def _environment() -> tuple[tuple[str, str], ...]:
    """Where the asking was done; what the endpoint ran on is not known from here."""
    return (("python", platform.python_version()), ("system", platform.platform()), ("machine", platform.machine()))


def _asking(
    start: Start,
    endpoint: Endpoint,
    recorder: Recorder,
    on_attempt: Callable[[Attempt], None] | None,
) -> Asking:
    run = start.run

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
        resets=start.cold is not None and start.cold.is_reset,
        greedy=run.plan.greedy,
        on_received=recorder.body,
        draw=random.Random(f"{run.plan.seed}|{len(run.attempts)}|patience"),
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
