"""Which response headers are kept: those that tell about the request, a cache, a limit or the machine behind.

An explicit choice, so that a cookie or a key can never slip into a record.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from temp0.probe.dialect.reason import printable

_KEPT = frozenset(
    {
        "age",
        "apim-request-id",
        "cf-ray",
        "location",
        "openai-model",
        "openai-processing-ms",
        "openai-version",
        "request-id",
        "retry-after",
        "retry-after-ms",
        "server",
        "server-timing",
        "via",
        "x-amz-cf-id",
        "x-amzn-requestid",
        "x-backend",
        "x-envoy-upstream-service-time",
        "x-instance",
        "x-instance-id",
        "x-model",
        "x-node",
        "x-pod",
        "x-pod-name",
        "x-process-time",
        "x-provider",
        "x-region",
        "x-replica",
        "x-replica-id",
        "x-request-id",
        "x-server",
        "x-served-by",
        "x-upstream",
        "x-worker",
        "x-worker-id",
    }
)
_KEPT_PREFIXES = ("anthropic-ratelimit-", "x-litellm-", "x-ms-", "x-ratelimit-")
_NEVER = frozenset({"cache-control"})


def kept_headers(headers: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The headers worth a record, names in lower case, sorted; several of one name in the order they came."""
    return tuple(sorted((name.lower(), printable(value)) for name, value in headers.items() if _is_kept(name)))


@lru_cache(maxsize=1024)  # a server sends the same few names with every answer
def _is_kept(name: str) -> bool:
    name = name.lower()
    return name in _KEPT or name.startswith(_KEPT_PREFIXES) or ("cache" in name and name not in _NEVER)
