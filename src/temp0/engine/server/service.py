"""What every handler of one application shares.

Clock and ids are parameters, so that tests can fix them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from aiohttp import web

from temp0.engine.server.metrics import Outcomes
from temp0.engine.server.served import ServedEngine


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """The engine behind the routes, the tally of outcomes, and where ids and times come from."""

    engine: ServedEngine
    outcomes: Outcomes
    default_max_tokens: int
    started: int
    new_id: Callable[[], str]
    clock: Callable[[], float]

    def now(self) -> int:
        """Seconds since 1970, whole, as both dialects write times."""
        return int(self.clock())


SERVICE = web.AppKey("service", Service)
