"""What is to happen, in the order of its times: the clock of a simulation.

Time only moves forward, and of two events at one time the one that was entered first happens first.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(slots=True)
class Agenda:
    """Events still to come, and the time of the one that is happening, in seconds since the run was created."""

    now_s: float = 0.0
    _entered: int = 0
    _waiting: list[tuple[float, int, Callable[[], None]]] = field(default_factory=list)

    def after(self, wait_s: float, event: Callable[[], None]) -> None:
        """Let an event happen so many seconds from now."""
        self._entered += 1
        heapq.heappush(self._waiting, (self.now_s + wait_s, self._entered, event))

    def run(self) -> None:
        """Let everything happen, what is entered meanwhile included, until nothing is left."""
        while self._waiting:
            self.now_s, _, event = heapq.heappop(self._waiting)
            event()
