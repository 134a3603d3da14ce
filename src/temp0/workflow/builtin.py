"""The built-in engine as an endpoint: a server in a process of its own, beside the probe.

Its address is `builtin:MODEL?arithmetic=...`, whatever its port, so that its runs can be resumed and compared; a
prefix cache that was asked for is part of it.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from temp0.core.run import Address, Failure, Question
from temp0.errors import UsageError
from temp0.probe.endpoint import Answer, ColdMeans, Endpoint, NoColdMeans
from temp0.probe.opening import open_endpoint
from temp0.workflow.child import SERVE, child_server

_API = "openai-chat"


@dataclass(frozen=True, slots=True, kw_only=True)
class Builtin:
    """Which model the built-in engine should load (`None`: our own), how it should add, and with how many threads.

    `prefix_cache` asks for one, which the engine has of itself only in invariant arithmetic. `model` is the name that
    the model must have, where an address has it.
    """

    weights: Path | None = None
    arithmetic: str = "stock"
    threads: int | None = None
    prefix_cache: bool = False
    model: str | None = field(default=None, compare=False)

    def check_model(self, loaded: str) -> None:
        """Raise `UsageError` where another model was loaded than the address names."""
        if self.model not in {None, loaded}:
            raise UsageError(
                f"the built-in engine has loaded {loaded}, and {self.address(str(self.model))} names another model; "
                "give that model's weights, or leave the address out"
            )

    def command(self) -> list[str]:
        """The command that serves it on a free port."""
        weights = ["--weights", str(self.weights)] if self.weights else []
        threads = ["--threads", str(self.threads)] if self.threads else []
        cache = ["--prefix-cache"] if self.prefix_cache else []
        return [*SERVE, "--arithmetic", self.arithmetic, *weights, *threads, *cache]

    def address(self, model: str) -> str:
        """Where this engine is, with the name of the model that it has loaded."""
        cache = "&prefix_cache=on" if self.prefix_cache else ""
        return f"builtin:{model}?arithmetic={self.arithmetic}{cache}"


@dataclass(frozen=True, slots=True)
class _Named:
    """An endpoint under another address."""

    endpoint: Endpoint
    address: Address

    @property
    def can_logprobs(self) -> bool:
        return self.endpoint.can_logprobs

    async def complete(self, question: Question) -> Answer:
        return await self.endpoint.complete(question)

    async def running(self) -> float | None:
        return await self.endpoint.running()

    async def cold_means(self) -> ColdMeans | NoColdMeans:
        return await self.endpoint.cold_means()

    async def make_cold(self) -> Failure | None:
        return await self.endpoint.make_cold()

    async def close(self) -> None:
        await self.endpoint.close()


@asynccontextmanager
async def builtin_endpoint(builtin: Builtin, *, timeout_s: float, keeps_raw: bool = False) -> AsyncIterator[Endpoint]:
    """Start the engine, give its endpoint, and stop it.

    Raises `ModelError` with what the engine said, and `UsageError` where its model is not the one that is meant.
    """
    async with child_server(builtin.command()) as child:
        builtin.check_model(child.model)
        endpoint = await open_endpoint(
            child.url, model=child.model, api=_API, timeout_s=timeout_s, keeps_raw=keeps_raw, environ={}
        )
        address = Address(url=builtin.address(child.model), api=_API, model=child.model)
        try:
            yield _Named(endpoint, address)
        finally:
            await endpoint.close()


def resumed(url: str, given: Builtin) -> Builtin:
    """The engine that a recorded `builtin:` address names; weights of one's own must be given again."""
    found = re.fullmatch(r"builtin:(?P<model>.+)\?arithmetic=(?P<arithmetic>\w+)(?P<cache>&prefix_cache=on)?", url)
    if not found:
        raise UsageError(f"{url!r} is not a built-in address, expected builtin:MODEL?arithmetic=stock")
    return replace(given, arithmetic=found["arithmetic"], prefix_cache=found["cache"] is not None, model=found["model"])
