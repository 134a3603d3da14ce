"""Lets SIGTERM, which CI and `timeout` send, end a long job as Ctrl-C does: with a report on what there is."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

_Result = TypeVar("_Result")


def carried_out(job: Coroutine[Any, Any, _Result]) -> _Result:
    """Carry out a job that gives what it has when it is cancelled; both signals cancel it."""
    return asyncio.run(_ended_by_sigterm(job))


async def _ended_by_sigterm(job: Coroutine[Any, Any, _Result]) -> _Result:
    task = asyncio.current_task()
    if task is not None and hasattr(signal, "SIGTERM"):
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await job


@contextmanager
def ended_by_sigterm() -> Iterator[None]:
    """Let SIGTERM raise what Ctrl-C does, for work that no event loop carries out."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
