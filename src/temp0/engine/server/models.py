"""GET /v1/models: the one model that is served, for clients of either dialect.

Both dialects ask the same path and read different fields of it, so every field of both is there.
"""

from __future__ import annotations

from datetime import UTC, datetime

from aiohttp import web

from temp0.engine.server.event_stream import compact_json
from temp0.engine.server.refusal import NOT_FOUND, RefusedError
from temp0.engine.server.service import SERVICE, Service


async def models(request: web.Request) -> web.Response:
    """List the model."""
    model = _model(request.app[SERVICE])
    page = {
        "object": "list",
        "data": [model],
        "first_id": model["id"],
        "last_id": model["id"],
        "has_more": False,
    }
    return web.json_response(page, dumps=compact_json)


async def one_model(request: web.Request) -> web.Response:
    """Describe the model by its name; any other is not found."""
    service = request.app[SERVICE]
    name = request.match_info["model"]
    if name != service.engine.name:
        message = f"there is no model {name[:60]!r} here; this server has {service.engine.name!r}"
        raise RefusedError(message, status=NOT_FOUND, field="model", code="model_not_found")
    return web.json_response(_model(service), dumps=compact_json)


def _model(service: Service) -> dict[str, object]:
    return {
        "id": service.engine.name,
        "object": "model",
        "created": service.started,
        "owned_by": "temp0",
        "type": "model",
        "display_name": service.engine.name,
        "created_at": datetime.fromtimestamp(service.started, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "lifecycle": "active",
        "max_input_tokens": service.engine.context_tokens,
        "max_tokens": service.engine.context_tokens,
    }
