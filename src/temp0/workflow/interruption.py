"""Interruption (Ctrl-C) as a fact to record: it ends the work under way, not whoever has what was done by then."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable


async def interrupted_during(work: Awaitable[None]) -> bool:
    """Do the work to its end, or until it is cancelled: whether it was."""
    try:
        await work
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task:
            task.uncancel()
        return True
    return False
