"""The servers that a price is made of, all open the whole time: children of ours, or servers that someone else runs.

Whatever could make one side faster than the other, but for what is priced, is the same on both and stated.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from temp0.core.run import Failure, Question
from temp0.core.tax_plan import SideName, TaxPlan
from temp0.core.tax_record import Fault, Machine, Side, Terms
from temp0.errors import UsageError
from temp0.kernels import usable_cores
from temp0.probe.dialect import reason
from temp0.probe.streamed_chat import StreamedAnswer
from temp0.probe.timed_endpoint import Extras, open_timed_endpoint
from temp0.workflow.child import SERVE, Child, child_server

_KINDS: dict[SideName, tuple[str, str]] = {
    "stock": ("stock", "fp32"),
    "invariant": ("invariant", "bf16"),
    "equal-bytes": ("invariant", "fp32"),
}
"""The arithmetic of each side of ours, and how it keeps its weights in memory."""
_HOPELESS = frozenset(
    {
        *(
            reason.REFUSED,
            reason.TLS,
            reason.PROXY,
            reason.TIMEOUT,
            reason.TIMEOUT_CONNECT,
            reason.CUT,
            reason.NOT_HTTP,
        ),
        *("http-401", "http-403", "http-404"),
    }
)
"""Reasons after which nothing else of the plan could be measured either."""
_LEAST_KV_TOKENS, _LEAST_RUNNING = 16_384, 32
_PROMPT_ROOM_TOKENS = 256


class Timeable(Protocol):
    """Something that answers a question with the times of its tokens."""

    async def ask(self, question: Question, extras: Extras) -> StreamedAnswer | Failure:
        """Send one request, once, and read its answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenSide:
    """A side that can be asked; `child` is its process where it is ours."""

    side: Side
    endpoint: Timeable
    child: Child | None = None

    async def fault(self, in_flight: int | None, failure: Failure) -> Fault:
        """Why a step of this side could not be measured, with the last words of a server that died."""
        words = await self.child.last_words() if self.child else None
        message = failure.message if words is None else f"{failure.message}; {words}"
        stops = failure.reason in _HOPELESS
        return Fault(side=self.side.name, in_flight=in_flight, reason=failure.reason, message=message, stops=stops)


class Servers(Protocol):
    """Where the sides come from."""

    def opened(self, plan: TaxPlan, *, timeout_s: float) -> AbstractAsyncContextManager[tuple[OpenSide, ...]]:
        """The sides of the plan, open for the time of the context."""

    def terms(self, sides: tuple[Side, ...], machine: Machine, *, ignores_eos: bool) -> Terms:
        """What is to be stated beside every figure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OurServers:
    """One built-in engine for each side, in a process of its own, with the prefix cache off."""

    weights: Path | None = None
    activations: str = "bf16"
    threads: int = field(default_factory=usable_cores)

    @asynccontextmanager
    async def opened(self, plan: TaxPlan, *, timeout_s: float) -> AsyncIterator[tuple[OpenSide, ...]]:
        """Start every server of the plan; raises `ModelError` with what one said that could not start."""
        async with AsyncExitStack() as stack:
            yield tuple([await self._open(name, plan, stack, timeout_s) for name in plan.sides])

    def terms(self, sides: tuple[Side, ...], machine: Machine, *, ignores_eos: bool) -> Terms:
        """Everything is known of servers of ours."""
        return Terms(
            sides=sides,
            machine=machine,
            cache="off",
            ignores_eos=ignores_eos,
            weights=None if self.weights is None else str(self.weights),
            activations=self.activations,
            threads=self.threads,
        )

    def command(self, name: SideName, plan: TaxPlan) -> list[str]:
        """The command that serves a side: room for all that is in flight at once, and nothing left to a default."""
        arithmetic, weight_dtype = _KINDS[name]
        running = max(_LEAST_RUNNING, *plan.in_flight)
        settings = {
            "--arithmetic": arithmetic,
            "--weight-dtype": weight_dtype,
            "--activations": self.activations,
            "--threads": self.threads,
            "--max-running": running,
            "--queue": running,
            "--kv-tokens": max(_LEAST_KV_TOKENS, running * (plan.max_tokens + _PROMPT_ROOM_TOKENS)),
        } | ({} if self.weights is None else {"--weights": self.weights})
        return [*SERVE, "--no-prefix-cache", *(str(part) for setting in settings.items() for part in setting)]

    async def _open(self, name: SideName, plan: TaxPlan, stack: AsyncExitStack, timeout_s: float) -> OpenSide:
        child = await stack.enter_async_context(child_server(self.command(name, plan)))
        endpoint = await open_timed_endpoint(child.url, model=child.model, timeout_s=timeout_s, environ={})
        stack.push_async_callback(endpoint.close)
        arithmetic, weight_dtype = _KINDS[name]
        side = Side(name=name, url=None, model=child.model, arithmetic=arithmetic, weight_dtype=weight_dtype)
        return OpenSide(side=side, endpoint=endpoint, child=child)


@dataclass(frozen=True, slots=True, kw_only=True)
class TheirServers:
    """Two servers that someone else runs, `base` and one that claims to be invariant, as they are found."""

    base: str
    invariant: str
    model: str | None = None
    api: str | None = None
    key_env: str | None = None

    @asynccontextmanager
    async def opened(self, plan: TaxPlan, *, timeout_s: float) -> AsyncIterator[tuple[OpenSide, ...]]:
        """Both servers; raises `EndpointError` for one that cannot be addressed."""
        if plan.equal_bytes:
            raise UsageError(
                "equal bytes are measured on the built-in engine only; leave out --equal-bytes, or the URLs"
            )
        async with AsyncExitStack() as stack:
            yield (
                await self._open("stock", self.base, stack, timeout_s),
                await self._open("invariant", self.invariant, stack, timeout_s),
            )

    def terms(self, sides: tuple[Side, ...], machine: Machine, *, ignores_eos: bool) -> Terms:
        """What runs behind a URL is not known from here."""
        return Terms(sides=sides, machine=machine, cache="as-found", ignores_eos=ignores_eos)

    async def _open(self, name: SideName, url: str, stack: AsyncExitStack, timeout_s: float) -> OpenSide:
        endpoint = await open_timed_endpoint(
            url, model=self.model, api=self.api, key_env=self.key_env, timeout_s=timeout_s, environ=os.environ
        )
        stack.push_async_callback(endpoint.close)
        address = endpoint.address
        return OpenSide(side=Side(name=name, url=address.url, model=address.model), endpoint=endpoint)
