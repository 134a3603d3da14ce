"""Serves a model over HTTP until somebody ends it.

SIGINT and SIGTERM, and with `exit_with_stdin` the end of standard input, are all the same wish: stop listening, cut
what is still being answered, return. Standard input ends even when a parent process is killed, so a server that
watches it outlives nobody.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from temp0.engine import Engine
from temp0.engine.builtin import builtin_weights
from temp0.engine.server import serve


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """Which model (`None`: the built-in one), how it adds and rounds, and how much it holds; see `Engine.load`."""

    weights: Path | None
    arithmetic: str
    activations: str
    weight_dtype: str | None
    threads: int | None
    prefix_cache: bool | None
    kv_tokens: int
    max_running: int
    chunk_tokens: int
    queue: int

    def load(self) -> Engine:
        """The engine, loaded. Raises `ModelError` and `UsageError`."""
        return Engine.load(
            self.weights or builtin_weights(),
            arithmetic=self.arithmetic,
            activations=self.activations,
            weight_dtype=self.weight_dtype,
            threads=self.threads,
            prefix_cache=self.prefix_cache,
            kv_tokens=self.kv_tokens,
            max_running=self.max_running,
            chunk_tokens=self.chunk_tokens,
            queue=self.queue,
        )


async def serve_model(
    served: Served,
    *,
    host: str,
    port: int,
    api_key: str | None,
    exit_with_stdin: bool,
    announce: Callable[[Engine, int], None],
) -> None:
    """Load a model and serve it; `announce` is told the engine and the port once it listens.

    Takes over the process's SIGINT and SIGTERM. Raises `ModelError`, and `UsageError` for an argument or an address
    that cannot be right.
    """
    ended = _ended(exit_with_stdin=exit_with_stdin)
    engine = await asyncio.to_thread(served.load)
    with engine:
        engine.start()
        await serve(
            engine,
            host,
            port,
            api_key=api_key,
            on_listening=lambda actual_port: announce(engine, actual_port),
            until=ended,
        )


def _ended(*, exit_with_stdin: bool) -> asyncio.Event:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    if exit_with_stdin:
        threading.Thread(target=_watch_stdin, args=(loop, ended), name="temp0-stdin", daemon=True).start()
    return ended


def _watch_stdin(loop: asyncio.AbstractEventLoop, ended: asyncio.Event) -> None:
    while os.read(sys.stdin.fileno(), 4096):
        pass
    loop.call_soon_threadsafe(ended.set)
