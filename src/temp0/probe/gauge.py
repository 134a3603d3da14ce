"""The server's own running count, read from its Prometheus metrics.

A server that does not tell at the first question is never asked again; one that has told may miss once. Read with
one regular expression: of the whole format we need one gauge out of four names, and a strict parser would lose it to
any odd line elsewhere on the page.
"""

from __future__ import annotations

import math
import re
from urllib.parse import urlsplit

from temp0.probe.connection import Connection, Reply
from temp0.probe.dialect.dialect import with_path
from temp0.probe.host import known_host

TIMEOUT_S = 2.0
_NAMES = (
    "vllm:num_requests_running",
    "sglang:num_running_reqs",
    "llamacpp:requests_processing",
    "temp0_requests_running",
)
_LABELS = r'(?:\{(?:[^"{}]|"(?:[^"\\]|\\.)*")*\})?'
_LINE = re.compile(rf"^(?:{'|'.join(_NAMES)}){_LABELS}[ \t]+(\S+)", re.MULTILINE)


class Gauge:
    """Asks a server how many requests it is working on; hosted APIs are never asked."""

    def __init__(self, connection: Connection, url: str, *, timeout_s: float = TIMEOUT_S) -> None:
        self._connection = connection
        self._timeout_s = timeout_s
        self._url = with_path(url, "/metrics")
        self._has_told = False
        self._is_silent = known_host(urlsplit(url).hostname) is not None

    async def running(self) -> float | None:
        """Requests running now, summed over the server's replicas, or `None` where it does not tell."""
        if self._is_silent:
            return None
        reply = await self._connection.exchange("GET", self._url, timeout_s=self._timeout_s)
        told = running_count(reply.body) if isinstance(reply, Reply) and reply.status == 200 else None
        self._has_told = self._has_told or told is not None
        self._is_silent = not self._has_told
        return told


def running_count(metrics: bytes) -> float | None:
    r"""The running count in a Prometheus page, summed over label sets, or `None` where there is none.

    >>> running_count(b'vllm:num_requests_running{engine="0"} 3.0\nvllm:num_requests_running{engine="1"} 2.0\n')
    5.0
    """
    try:
        counts = [float(value) for value in _LINE.findall(metrics.decode("utf-8", "replace"))]
    except ValueError:
        return None
    total = math.fsum(counts) if counts and all(map(math.isfinite, counts)) else -1.0
    return total if total >= 0 else None
