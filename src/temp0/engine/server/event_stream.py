"""Writes server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html.

The status line is sent with the first event, not before, so that whatever goes wrong earlier still gets a status
of its own.
"""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass

from aiohttp import web

from temp0.errors import Temp0Error

_HEADERS = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-cache",
    "X-Accel-Buffering": "no",  # asks nginx not to collect events into blocks
}


_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event: its data, and its name in dialects that name events."""

    data: str
    name: str | None = None

    def encoded(self) -> bytes:
        """The event as bytes; the data must hold no line end, which compact JSON never does."""
        head = f"event: {self.name}\n" if self.name else ""
        return f"{head}data: {self.data}\n\n".encode()


def json_event(data: object, *, name: str | None = None) -> Event:
    """An event that carries a JSON document."""
    return Event(data=compact_json(data), name=name)


def compact_json(data: object) -> str:
    """JSON on one line; raises `ValueError` for a number that JSON cannot carry."""
    return json.dumps(data, allow_nan=False, separators=(",", ":"))


async def streamed(
    request: web.Request, events: AsyncGenerator[Event], *, on_fault: Callable[[], Event]
) -> web.StreamResponse:
    """Send all events as they come; once the status line is out, an engine's failure ends them with `on_fault`'s."""
    response = web.StreamResponse(headers=_HEADERS)
    try:
        async with aclosing(events) as opened:
            async for event in opened:
                if not response.prepared:
                    await response.prepare(request)
                await response.write(event.encoded())
    except Temp0Error:
        if not response.prepared:
            raise
        _log.exception("the engine failed in the middle of a stream")
        await response.write(on_fault().encoded())
    await response.write_eof()
    return response
