"""Which headers say that an answer was replayed, in the words of each cache, and which only seem to."""

import pytest

from temp0.core.replay import replays
from temp0.core.run import Attempt, Completion


def is_replay(name: str, value: str) -> bool:
    attempt = Attempt(
        order=7,
        prompt="p",
        condition="c",
        block=0,
        role="judged",
        started_s=0,
        first_byte_s=None,
        ended_s=1,
        in_flight=1,
        predecessor=None,
        outcome=Completion(text="a", headers=((name, value),)),
    )
    return bool(replays([attempt], shared_ids=frozenset()))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cache-status", "x; hit"),
        ("cache-status", "Origin; hit; ttl=1100, CDN; fwd=uri-miss"),
        ("cache-status", '"the edge"; fwd=miss, Shield;hit;ttl=3'),
        ("x-cache", "TCP_HIT from a1 (AkamaiGHost/1)"),
        ("x-cache", "TCP_MEM_HIT"),
        ("x-cache", "TCP_REFRESH_FAIL_HIT"),
        ("x-cache-remote", "TCP_HIT"),
        ("akamai-cache-status", "Hit from child"),
        ("x-cache", "Hit from cloudfront"),
        ("x-cache", "RefreshHit from cloudfront"),
        ("x-from-cache", "1"),
        ("x-cached", "true"),
        ("idempotent-replayed", "true"),
        ("cf-aig-cache-status", "HIT"),
        ("cf-cache-status", "HIT"),
        ("x-litellm-cache-hit", "True"),
        ("x-portkey-cache-status", "HIT"),
        ("x-portkey-cache-status", "SEMANTIC HIT"),
        ("helicone-cache", "HIT"),
        ("x-varnish", "32770 3"),
        ("age", "12"),
    ],
)
def test_a_header_that_says_so_is_a_replay(name: str, value: str) -> None:
    assert is_replay(name, value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cache-status", "x; fwd=miss"),
        ("cache-status", "hit; fwd=miss"),
        ("cache-status", "x; fwd=miss; detail=hit-rate"),
        ("x-cache", "TCP_MISS"),
        ("x-cache", "TCP_REFRESH_MISS"),
        ("x-cache", "hit-for-pass"),
        ("x-cache", "hit-for-miss"),
        ("x-cache", "white"),
        ("x-cache-lookup", "HIT from proxy:3128"),
        ("x-check-cacheable", "YES"),
        ("x-lora-cache", "HIT"),
        ("x-tokenizer-cache", "hit"),
        ("x-kv-cache", "hit"),
        ("x-prefix-cache", "HIT"),
        ("x-prefix-cache-hit", "1"),
        ("x-litellm-cache-key", "hit"),
        ("x-from-cache", "0"),
        ("cf-aig-cache-status", "MISS"),
        ("x-portkey-cache-status", "DISABLED"),
        ("x-cache", "MISS; hit-rate=0.3"),
        ("x-varnish", "32770"),
        ("age", "0"),
    ],
)
def test_a_header_of_another_cache_or_another_word_is_none(name: str, value: str) -> None:
    assert not is_replay(name, value)
