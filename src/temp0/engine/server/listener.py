"""Listens on a port and serves an engine until told to stop.

An answer that is not done within the grace period is cut, and its client sees a broken connection: never a whole
answer that is not one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from aiohttp import web

from temp0.engine.server.app import make_app
from temp0.engine.server.served import ServedEngine
from temp0.errors import UsageError

_GRACE_S = 1.0
_BACKLOG = 1024  # a probe may open a thousand connections at once


async def serve(
    engine: ServedEngine,
    host: str,
    port: int,
    *,
    api_key: str | None = None,
    on_listening: Callable[[int], None],
    until: asyncio.Event,
) -> None:
    """Serve a started engine on `host` and `port` (0: a free one, told to `on_listening`) until `until` is set.

    Raises `UsageError` where the address cannot be listened on.
    """
    runner = web.AppRunner(
        make_app(engine, api_key=api_key), handler_cancellation=True, access_log=None, shutdown_timeout=_GRACE_S
    )
    await runner.setup()
    try:
        await _listen(runner, host, port)
        on_listening(runner.addresses[0][1])
        await until.wait()
    finally:
        await runner.cleanup()


async def _listen(runner: web.AppRunner, host: str, port: int) -> None:
    try:
        await web.TCPSite(runner, host, port, backlog=_BACKLOG).start()
    except OSError as error:
        message = (
            f"cannot listen on {host} port {port}: {error.strerror or error}; choose another, or 0 for a free port"
        )
        raise UsageError(message) from error
