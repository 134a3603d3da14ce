"""GET /metrics: the counts of a server as Prometheus text.

`temp0_requests_running` is what a probe samples to learn what company a request really had.
"""

from __future__ import annotations

from collections import Counter
from typing import Literal, get_args

from aiohttp import web

from temp0.engine.server.served import ServedEngine

Outcome = Literal["stop", "length", "stop_sequence", "cancelled", "refused", "queue_full", "fault"]


class Outcomes:
    """How requests for a completion ended, counted since the start."""

    def __init__(self) -> None:
        self._counts: Counter[Outcome] = Counter()

    def count(self, outcome: Outcome) -> None:
        """Count one more request that ended this way."""
        self._counts[outcome] += 1

    def __getitem__(self, outcome: Outcome) -> int:
        return self._counts[outcome]


def exposition(engine: ServedEngine, outcomes: Outcomes) -> str:
    """All metrics in Prometheus' text format, version 0.0.4."""
    by_outcome = [(f'{{outcome="{outcome}"}}', outcomes[outcome]) for outcome in get_args(Outcome)]
    families = (
        _family("temp0_requests_running", "gauge", "Requests being worked on.", [("", engine.running)]),
        _family("temp0_requests_waiting", "gauge", "Requests in the queue.", [("", engine.waiting)]),
        _family("temp0_generated_tokens_total", "counter", "Tokens generated.", [("", engine.emitted_tokens)]),
        _family("temp0_requests_total", "counter", "Requests for a completion, by how they ended.", by_outcome),
    )
    return "".join(families)


def metrics_response(engine: ServedEngine, outcomes: Outcomes) -> web.Response:
    """The exposition under the content type that Prometheus asks for."""
    headers = {"Content-Type": "text/plain; version=0.0.4; charset=utf-8"}
    return web.Response(body=exposition(engine, outcomes).encode(), headers=headers)


def _family(name: str, kind: str, help_text: str, samples: list[tuple[str, int]]) -> str:
    head = f"# HELP {name} {help_text}\n# TYPE {name} {kind}\n"
    return head + "".join(f"{name}{labels} {value}\n" for labels, value in samples)
