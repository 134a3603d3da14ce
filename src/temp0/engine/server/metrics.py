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
        _gauge("temp0_requests_running", "Requests being worked on.", engine.running),
        _gauge("temp0_requests_waiting", "Requests in the queue, preempted ones included.", engine.waiting),
        _gauge("temp0_kv_free_tokens", "Positions of the KV cache that no request holds.", engine.free_tokens),
        _gauge("temp0_prefix_cache_enabled", "1 where computed prefixes are kept, else 0.", int(engine.prefix_cache)),
        _gauge("temp0_prefix_cache_kept_tokens", "Free positions with prefixes kept in them.", engine.kept_tokens),
        _counter("temp0_preemptions_total", "Times a request gave up its room and was put back.", engine.preemptions),
        _counter("temp0_prompt_tokens_total", "Tokens of prompts, cached ones included.", engine.prompt_tokens),
        _counter("temp0_prompt_tokens_cached_total", "Prompt tokens that the prefix cache had.", engine.cached_tokens),
        _counter("temp0_generated_tokens_total", "Tokens generated.", engine.emitted_tokens),
        _family("temp0_requests_total", "counter", "Requests for a completion, by how they ended.", by_outcome),
    )
    return "".join(families)


def metrics_response(engine: ServedEngine, outcomes: Outcomes) -> web.Response:
    """The exposition under the content type that Prometheus asks for."""
    headers = {"Content-Type": "text/plain; version=0.0.4; charset=utf-8"}
    return web.Response(body=exposition(engine, outcomes).encode(), headers=headers)


def _gauge(name: str, help_text: str, value: int) -> str:
    return _family(name, "gauge", help_text, [("", value)])


def _counter(name: str, help_text: str, value: int) -> str:
    return _family(name, "counter", help_text, [("", value)])


def _family(name: str, kind: str, help_text: str, samples: list[tuple[str, int]]) -> str:
    head = f"# HELP {name} {help_text}\n# TYPE {name} {kind}\n"
    return head + "".join(f"{name}{labels} {value}\n" for labels, value in samples)
