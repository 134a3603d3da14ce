"""What the name of a response header says: whether its value may tell a machine, or a hit of a response cache.

Every other header says nothing to a judgement.
"""

from __future__ import annotations

import re
from functools import lru_cache

_MACHINE = frozenset(
    {
        "backend",
        "build",
        "canary",
        "cell",
        "cluster",
        "colo",
        "color",
        "container",
        "datacenter",
        "dc",
        "deployment",
        "edge",
        "engine",
        "gateway",
        "gpu",
        "host",
        "hostname",
        "instance",
        "location",
        "machine",
        "model",
        "node",
        "pod",
        "pop",
        "provider",
        "rank",
        "region",
        "release",
        "replica",
        "revision",
        "ring",
        "route",
        "router",
        "served",
        "server",
        "shard",
        "slot",
        "stack",
        "task",
        "upstream",
        "variant",
        "version",
        "via",
        "worker",
        "zone",
    }
)
_NO_MACHINE = frozenset(
    {
        "age",
        "bytes",
        "cache",
        "characters",
        "compute",
        "content",
        "cost",
        "count",
        "credits",
        "current",
        "date",
        "depth",
        "duration",
        "elapsed",
        "latency",
        "length",
        "limit",
        "load",
        "memory",
        "ms",
        "percent",
        "price",
        "processing",
        "queue",
        "rate",
        "ratelimit",
        "remaining",
        "request",
        "reset",
        "score",
        "seconds",
        "size",
        "step",
        "time",
        "timing",
        "tokens",
        "trace",
        "ttl",
        "units",
        "usage",
        "used",
        "utilization",
        "wait",
    }
)
_OF_A_CACHE = frozenset({"cache", "cached", "hit", "replayed", "varnish"})
# A cache of the prompt's keys and values still computes every answer, and so does one of adapters or of tokens; the key
# of a cache, or what was found by looking it up, tells no hit.
_NO_STATUS = frozenset(
    {
        *("prompt", "prefix", "kv", "token", "tokens", "read", "write", "input", "key", "lookup"),
        *("adapter", "block", "encoder", "grammar", "image", "kvcache", "lora", "prefixcache", "radix", "schema"),
        *("template", "tokenizer", "weights"),
    }
)
_WORDS = re.compile(r"[a-z0-9]+")


@lru_cache(maxsize=1024)
def tells_machine(name: str) -> bool:
    """Whether a header's name says that its value may tell one machine, build or route from another.

    >>> tells_machine("x-replica"), tells_machine("x-envoy-upstream-service-time"), tells_machine("x-request-id")
    (True, False, False)
    """
    words = set(_WORDS.findall(name.lower()))
    return bool(words & _MACHINE) and not words & _NO_MACHINE


@lru_cache(maxsize=1024)
def tells_cache(name: str) -> bool:
    """Whether a header's name says that its value may tell whether a response cache was hit.

    >>> tells_cache("x-cache"), tells_cache("age"), tells_cache("x-prompt-cache-key")
    (True, True, False)
    """
    words = set(_WORDS.findall(name.lower()))
    return name.lower() == "age" or (bool(words & _OF_A_CACHE) and not words & _NO_STATUS)
