"""Which response headers are kept: those that tell about the request, a cache, a limit or the machine behind.

A rule over the words of a name, since every server has names of its own for its replicas. What may be a secret is
never kept, whatever else its name says, so that a cookie or a key cannot slip into a record.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from operator import itemgetter

from temp0.probe.dialect.reason import printable

_KEPT = frozenset(
    {
        "age",
        "cf-ray",
        "location",
        "openai-processing-ms",
        "retry-after",
        "retry-after-ms",
        "via",
        "x-amz-cf-id",
        "x-process-time",
        "x-varnish",
    }
)
_KEPT_PREFIXES = ("akamai-", "x-akamai-", "x-litellm-", "x-ms-", "x-portkey-")
# Who asked and how often one may: names such as x-amzn-requestid, x-generation-id, ratelimit-policy, x-rate-limit-reset
_OF_THE_REQUEST = re.compile(r"(?:request|correlation|generation|trace)-?id$|rate-?limit")

# Beginnings of words: `host` is in x-hostname, `rout` in x-route, x-router and x-routed-to. The last line tells an
# answer that was kept from an earlier one, the others one machine, replica, route or release from another.
_TELLING = (
    *("accelerator", "backend", "balancer", "cluster", "compute", "container", "datacenter", "deployment"),
    *("device", "edge", "engine", "gateway", "gpu", "hardware", "host", "instance", "machine", "node"),
    *("partition", "pod", "provider", "rack", "region", "replica", "rout", "serve", "shard", "slot"),
    *("tpu", "upstream", "worker", "zone", "build", "commit", "model", "release", "revision", "variant", "version"),
    *("cache", "memoiz", "replay"),
)
_TELLING_WORDS = frozenset(
    {"az", "canary", "cell", "colo", "color", "dc", "hit", "hits", "pid", "pop", "rank", "ring", "slot", "stack"}
)

_SECRET = re.compile(r"auth|cookie|credential|csrf|jwt|passw|secret|session|signature|xsrf")
# Whole words: portkey keeps no key, and `tokens` are counted. A cache key names what was found and opens nothing.
_SECRET_WORD = re.compile(r"(?:access|api|client|id|license|master|private|refresh|subscription)?(?:keys?|token)")
_CACHE_KEY = re.compile(r"cache-?key")
_POLICY = "cache-control"


def kept_headers(headers: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The headers worth a record, names in lower case, sorted; several of one name in the order they came."""
    kept = [(name.lower(), printable(value)) for name, value in headers.items() if _is_kept(name.lower())]
    return tuple(sorted(kept, key=itemgetter(0)))


@lru_cache(maxsize=1024)  # a server sends the same few names with every answer
def _is_kept(name: str) -> bool:
    if may_be_secret(name) or name.endswith(_POLICY):
        return False
    is_telling = any(word.startswith(_TELLING) or word in _TELLING_WORDS for word in _words(name))
    is_named = name in _KEPT or name.startswith(_KEPT_PREFIXES)
    return is_telling or is_named or bool(_OF_THE_REQUEST.search(name))


def may_be_secret(name: str) -> bool:
    """Whether a header of this name, in lower case, may hold what lets one in: a key, a token, a cookie."""
    words = _words(_CACHE_KEY.sub("cache", name))
    return bool(_SECRET.search(name)) or any(map(_SECRET_WORD.fullmatch, words))


def _words(name: str) -> list[str]:
    return re.split(r"[-_.]", name)
