"""Turns whatever goes wrong into the error body of the client's own dialect.

Nothing but a status, a kind and a message leaves the server: no traceback, no key, no path.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from aiohttp import web
from aiohttp.typedefs import Handler

from temp0.engine.server.event_stream import Event, compact_json, json_event
from temp0.engine.server.metrics import Outcome
from temp0.engine.server.refusal import BAD_REQUEST, RefusedError
from temp0.engine.server.service import SERVICE
from temp0.errors import EngineError, QueueFullError, RequestError

_TOO_MANY = 429
_INTERNAL = 500
_CLOSED_BY_CLIENT = 499  # nginx's number; nobody is left to read it
_RETRY_AFTER_S = 1

_OPENAI_KINDS = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error", 500: "server_error"}
_ANTHROPIC_KINDS = {
    401: "authentication_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
}

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """What the client is told: a status, a message, and what the OpenAI dialect adds to it."""

    status: int
    message: str
    field: str | None = None
    code: str | None = None


FAULT = Trouble(status=_INTERNAL, message="the server failed on this request; its log says why")


@web.middleware
async def errors_in_dialect(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer every error as JSON in the dialect of the path, and count how the request ended."""
    try:
        return await handler(request)
    except QueueFullError as error:
        return _answer(
            request, Trouble(status=_TOO_MANY, message=str(error)), "queue_full", {"Retry-After": str(_RETRY_AFTER_S)}
        )
    except RefusedError as error:
        trouble = Trouble(status=error.status, message=str(error), field=error.field, code=error.code)
        return _answer(request, trouble, "refused")
    except EngineError as error:
        _log.error("fault while answering %s %s: %s", request.method, request.path, error)
        return _answer(request, FAULT, "fault")
    except RequestError as error:
        return _answer(request, Trouble(status=BAD_REQUEST, message=str(error)), "refused")
    except web.HTTPException as error:
        return _answer(request, _http_trouble(request, error), "refused", _allowed(error))
    except ConnectionError:
        return web.Response(status=_CLOSED_BY_CLIENT)
    except Exception:  # noqa: BLE001 - a door: the client gets a body in its dialect, the log the traceback
        _log.exception("fault while answering %s %s", request.method, request.path)
        return _answer(request, FAULT, "fault")


def error_body(request: web.Request, trouble: Trouble) -> dict[str, object]:
    """The error as the dialect of the request writes it."""
    if _is_anthropic(request):
        kind = _ANTHROPIC_KINDS.get(trouble.status, "invalid_request_error")
        return {"type": "error", "error": {"type": kind, "message": trouble.message}}
    kind = _OPENAI_KINDS.get(trouble.status, "invalid_request_error")
    return {
        "error": {"message": trouble.message, "type": kind, "param": trouble.field, "code": trouble.code},
    }


def fault_event(request: web.Request) -> Event:
    """The event that ends a stream the engine could not go on with."""
    return json_event(error_body(request, FAULT), name="error" if _is_anthropic(request) else None)


def _is_anthropic(request: web.Request) -> bool:
    return request.path.startswith("/v1/messages") or "anthropic-version" in request.headers


def _answer(
    request: web.Request, trouble: Trouble, outcome: Outcome, headers: Mapping[str, str] | None = None
) -> web.Response:
    if request.method == "POST" and request.path.startswith("/v1/"):
        request.app[SERVICE].outcomes.count(outcome)
    body = error_body(request, trouble)
    return web.json_response(body, status=trouble.status, headers=headers, dumps=compact_json)


def _http_trouble(request: web.Request, error: web.HTTPException) -> Trouble:
    if isinstance(error, web.HTTPRequestEntityTooLarge):
        return Trouble(status=error.status, message=f"the body is too large: {error.text}")
    if isinstance(error, web.HTTPNotFound):
        return Trouble(status=error.status, message=f"there is no {request.path} here")
    if isinstance(error, web.HTTPMethodNotAllowed):
        allowed = ", ".join(sorted(error.allowed_methods))
        return Trouble(status=error.status, message=f"{request.path} takes {allowed}, not {request.method}")
    return Trouble(status=error.status, message=error.reason)


def _allowed(error: web.HTTPException) -> Mapping[str, str]:
    return {"Allow": error.headers["Allow"]} if "Allow" in error.headers else {}
