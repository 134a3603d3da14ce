"""Which response headers are kept, and that no secret is among them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from temp0.probe.header import kept_headers


def is_kept(name: str) -> bool:
    return kept_headers({name: "x"}) == ((name.lower(), "x"),)


@pytest.mark.parametrize(
    "name",
    [
        "Server",
        "Via",
        "X-Served-By",
        "X-Backend",
        "X-Backend-Server",
        "x-replica-id",
        "x-replicaset",
        "X-Instance",
        "x-node",
        "x-pod-name",
        "x-podname",
        "X-Hostname",
        "x-host",
        "x-upstream-addr",
        "x-worker-id",
        "x-shard",
        "x-ms-deployment-name",
        "azureml-model-deployment",
        "fireworks-backend-host",
        "fireworks-deployment",
        "x-groq-region",
        "x-zone",
        "x-az",
        "x-cluster",
        "x-provider",
        "x-gpu",
        "x-machine",
        "x-container-id",
        "x-engine-version",
        "x-route",
        "x-routed-to",
        "x-router_node",
        "x-data-parallel-rank",
        "x-slot-id",
        "x-compute-type",
        "x-model-version",
        "openai-model",
        "cf-ray",
        "x-envoy-upstream-service-time",
    ],
)
def test_what_can_tell_one_machine_or_route_from_another_is_kept(name: str) -> None:
    assert is_kept(name)


@pytest.mark.parametrize(
    "name",
    [
        "Age",
        "X-Cache",
        "X-Cache-Hits",
        "cf-cache-status",
        "cf-aig-cache-status",
        "x-litellm-cache-key",
        "x-litellm-cache-hit",
        "x-cache-key",
        "helicone-cache",
        "Helicone-Cache-Bucket-Idx",
        "x-portkey-cache-status",
        "x-vsr-cache-hit",
        "x-response-hit",
        "x-from-cache",
        "x-varnish",
        "idempotent-replayed",
        "cache-status",
        "cdn-cache-status",
        "x-cache-remote",
        "x-check-cacheable",
        "akamai-cache-status",
        "x-cache-status",
        "x-proxy-cache",
        "x-litellm-semantic-similarity",
    ],
)
def test_what_tells_a_response_cache_is_kept(name: str) -> None:
    assert is_kept(name)


@pytest.mark.parametrize(
    "name",
    [
        "x-request-id",
        "Retry-After",
        "retry-after-ms",
        "x-ratelimit-remaining-tokens",
        "anthropic-ratelimit-tokens-remaining",
        "x-litellm-model-id",
        "openai-processing-ms",
        "server-timing",
        "request-id",
        "x-amzn-requestid",
        "apim-request-id",
        "x-generation-id",
        "mistral-correlation-id",
        "x-portkey-trace-id",
        "ratelimit-limit",
        "ratelimit",
        "ratelimitbysize-remaining",
        "x-rate-limit-reset",
        "anthropic-ratelimit-requests-reset",
    ],
)
def test_what_tells_of_the_request_and_its_limits_is_kept(name: str) -> None:
    assert is_kept(name)


@pytest.mark.parametrize(
    "name",
    [
        "Set-Cookie",
        "Authorization",
        "Proxy-Authorization",
        "WWW-Authenticate",
        "x-api-key",
        "api-key",
        "x-apikey-server",
        "x-node-token",
        "x-upstream-key",
        "x-session-affinity-node",
        "x-backend-session",
        "x-auth-server",
        "x-server-secret",
        "x-litellm-key-alias",
        "x-ms-access-token",
        "x-amz-security-token",
        "x-server-signature",
        "x-host-password",
        "x-csrf-node",
        "x-cache-token",
        "x-akamai-session-info",
        "x-portkey-api-key",
        "x-ratelimit-token",
        "x-session-request-id",
    ],
)
def test_what_may_be_a_secret_is_never_kept(name: str) -> None:
    assert not is_kept(name)
    assert not is_kept(name.upper())


@pytest.mark.parametrize(
    "name",
    [
        "Date",
        "Content-Type",
        "Content-Length",
        "Cache-Control",
        "CDN-Cache-Control",
        "ETag",
        "Vary",
        "Alt-Svc",
        "Strict-Transport-Security",
        "X-Content-Type-Options",
        "Access-Control-Allow-Origin",
        "X-Frame-Options",
        "Keep-Alive",
    ],
)
def test_what_says_nothing_of_the_answer_is_left_out(name: str) -> None:
    assert not is_kept(name)


@given(
    words=st.lists(st.sampled_from(["x", "node", "cache", "key", "token", "auth", "cookie", "id", "host"]), min_size=1)
)
def test_no_company_of_words_makes_a_secret_kept(words: list[str]) -> None:
    secret = "auth" in words or "cookie" in words or "token" in words
    assert not (secret and is_kept("-".join(words)))


def test_headers_are_sorted_and_several_of_one_name_stay_in_order() -> None:
    class Several(dict[str, str]):
        def items(self) -> list[tuple[str, str]]:  # type: ignore[override]
            return [("Via", "b"), ("Age", "1"), ("via", "a")]

    assert kept_headers(Several()) == (("age", "1"), ("via", "b"), ("via", "a"))


def test_a_value_is_written_so_that_it_can_be_shown() -> None:
    assert kept_headers({"Server": "a\x1b[31m\udcff"}) == (("server", "a\\x1b[31m\\udcff"),)
