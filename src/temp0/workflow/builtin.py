"""The built-in engine as an endpoint: a server in a process of its own, beside the probe.

Its address is `builtin:MODEL?arithmetic=...`, whatever its port, so that its runs can be resumed and compared. The
child ends with us however we end, because it watches its standard input.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from temp0.core.run import Address, Question
from temp0.errors import ModelError, Temp0Error
from temp0.probe.endpoint import Answer, Endpoint
from temp0.probe.opening import open_endpoint

_LISTENING = re.compile(r"listening on (?P<url>http://\S+) \(model (?P<model>.+), arithmetic (?P<arithmetic>\w+)\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Builtin:
    """Which model the built-in engine should load (`None`: our own), how it should add, and with how many threads."""

    weights: Path | None = None
    arithmetic: str = "stock"
    threads: int | None = None

    def command(self) -> list[str]:
        """The command that serves it on a free port."""
        weights = ["--weights", str(self.weights)] if self.weights else []
        threads = ["--threads", str(self.threads)] if self.threads else []
        serve = [sys.executable, "-m", "temp0", "serve", "--port", "0", "--exit-with-stdin"]
        return [*serve, "--arithmetic", self.arithmetic, *weights, *threads]


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

    async def close(self) -> None:
        await self.endpoint.close()


@dataclass(slots=True)
class _Server:
    """The child process and the last lines it wrote to its error stream."""

    process: asyncio.subprocess.Process
    said: deque[str] = field(default_factory=lambda: deque(maxlen=20))

    async def listen(self) -> None:
        """Keep reading the error stream, so that the child never waits for us."""
        assert self.process.stderr is not None
        async for line in self.process.stderr:
            self.said.append(line.decode(errors="replace").rstrip())

    async def address(self) -> re.Match[str]:
        """Wait for the line that says where it listens."""
        assert self.process.stdout is not None
        line = (await self.process.stdout.readline()).decode(errors="replace")
        found = _LISTENING.search(line)
        if not found:
            await self.process.wait()
            said = [text.removeprefix("temp0: ") for text in self.said if not text.startswith("See `")]
            raise ModelError("\n".join(said) or f"the built-in engine ended with {self.process.returncode}")
        return found

    async def stop(self) -> None:
        """Close its standard input, which it takes as the sign to end."""
        if self.process.stdin and self.process.returncode is None:
            self.process.stdin.close()
        try:
            await asyncio.wait_for(self.process.wait(), timeout=10)
        except TimeoutError:
            self.process.kill()
            await self.process.wait()


@asynccontextmanager
async def builtin_endpoint(builtin: Builtin, *, timeout_s: float) -> AsyncIterator[Endpoint]:
    """Start the engine, give its endpoint, and stop it. Raises `ModelError` with what the engine said."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *builtin.command(), stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
    )
    server = _Server(process)
    listening = asyncio.create_task(server.listen())
    try:
        found = await server.address()
        endpoint = await open_endpoint(
            found["url"], model=found["model"], api="openai-chat", key_env=None, timeout_s=timeout_s, environ={}
        )
        address = Address(
            url=f"builtin:{found['model']}?arithmetic={found['arithmetic']}", api="openai-chat", model=found["model"]
        )
        try:
            yield _Named(endpoint, address)
        finally:
            await endpoint.close()
    finally:
        await server.stop()
        listening.cancel()


def resumed(url: str, given: Builtin) -> Builtin:
    """The engine that a recorded `builtin:` address names; weights of one's own must be given again."""
    found = re.fullmatch(r"builtin:(?P<model>.+)\?arithmetic=(?P<arithmetic>\w+)", url)
    if not found:
        raise Temp0Error(f"{url!r} is not a built-in address, expected builtin:MODEL?arithmetic=stock")
    return replace(given, arithmetic=found["arithmetic"])
