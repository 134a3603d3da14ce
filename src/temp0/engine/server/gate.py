"""Lets only clients with the key reach the routes under /v1, and any other that changes something.

/health and /metrics stay open, as monitors and probes expect. Keys are compared in constant time and never
repeated.
"""

from __future__ import annotations

import hmac

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from temp0.engine.server.refusal import UNAUTHORIZED, RefusedError


def gate(api_key: str) -> Middleware:
    """A middleware that asks for `api_key` as a bearer token or in `x-api-key`."""
    expected = api_key.encode()

    @web.middleware
    async def keyed(request: web.Request, handler: Handler) -> web.StreamResponse:
        if (request.path.startswith("/v1/") or request.method == "POST") and not _has_key(request, expected):
            message = "the key is missing or wrong; send it as 'Authorization: Bearer KEY' or as 'x-api-key: KEY'"
            raise RefusedError(message, status=UNAUTHORIZED, code="invalid_api_key")
        return await handler(request)

    return keyed


def _has_key(request: web.Request, expected: bytes) -> bool:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    candidates = [request.headers.get("x-api-key", "")]
    if scheme.lower() == "bearer":
        candidates.append(token.strip())
    return any(hmac.compare_digest(_octets(candidate), expected) for candidate in candidates)


def _octets(header: str) -> bytes:
    return header.encode("utf-8", "surrogateescape")
