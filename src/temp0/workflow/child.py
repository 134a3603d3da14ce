"""A server of ours in a process of its own, for as long as a context is open.

It ends with us however we end, because it watches its standard input. What it says on its error stream is kept, so
that a server that dies can be quoted.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from temp0.errors import ModelError

SERVE = (sys.executable, "-m", "temp0", "serve", "--port", "0", "--exit-with-stdin")
"""How the command of every child begins."""

_LISTENING = re.compile(r"listening on (?P<url>http://\S+) \(model (?P<model>.+), arithmetic (?P<arithmetic>\w+)\)")
_LINES_KEPT = 20
_END_WITHIN_S = 10.0
_DEATH_WITHIN_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    """A server that listens at `url` and has one model; `said` holds the last lines of its error stream."""

    process: asyncio.subprocess.Process
    url: str
    model: str
    arithmetic: str
    said: deque[str]

    async def last_words(self) -> str | None:
        """How the process ended and what it said last; `None` while it lives."""
        try:
            code = await asyncio.wait_for(self.process.wait(), timeout=_DEATH_WITHIN_S)
        except TimeoutError:
            return None
        return f"the server ended with {code}" + (f" after saying: {self.said[-1]}" if self.said else "")


@asynccontextmanager
async def child_server(command: Sequence[str]) -> AsyncIterator[Child]:
    """Start `temp0 serve` by this command and stop it at the end. Raises `ModelError` with what it said."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
    )
    said: deque[str] = deque(maxlen=_LINES_KEPT)
    listening = asyncio.create_task(_listen(process, said))
    try:
        found = await _address(process)
        if found is None:
            await listening
            raise ModelError(_complaint(said) or f"the built-in engine ended with {process.returncode}")
        yield Child(process=process, said=said, **found.groupdict())
    finally:
        await _stop(process)
        listening.cancel()


async def _listen(process: asyncio.subprocess.Process, said: deque[str]) -> None:
    """Keep reading the error stream, so that the child never waits for us."""
    assert process.stderr is not None
    async for line in process.stderr:
        said.append(line.decode(errors="replace").rstrip())


async def _address(process: asyncio.subprocess.Process) -> re.Match[str] | None:
    """The line that says where the child listens, or `None` where it ends without saying so."""
    assert process.stdout is not None
    line = (await process.stdout.readline()).decode(errors="replace")
    found = _LISTENING.search(line)
    if not found:
        await process.wait()
    return found


def _complaint(said: deque[str]) -> str:
    return "\n".join(text.removeprefix("temp0: ") for text in said if not text.startswith("See `"))


async def _stop(process: asyncio.subprocess.Process) -> None:
    """Close its standard input, which it takes as the sign to end."""
    if process.stdin and process.returncode is None:
        process.stdin.close()
    try:
        await asyncio.wait_for(process.wait(), timeout=_END_WITHIN_S)
    except TimeoutError:
        process.kill()
        await process.wait()
