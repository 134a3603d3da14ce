"""Puts routes, doors and the engine together into one aiohttp application.

One module per dialect: a new dialect is a handler of its own and a line here.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable

from aiohttp import web

from temp0.engine.server.anthropic_messages import messages
from temp0.engine.server.error_shape import errors_in_dialect
from temp0.engine.server.gate import gate
from temp0.engine.server.metrics import Outcomes, metrics_response
from temp0.engine.server.models import models, one_model
from temp0.engine.server.openai_chat import chat_completions
from temp0.engine.server.openai_completions import completions
from temp0.engine.server.openai_responses import responses
from temp0.engine.server.served import ServedEngine
from temp0.engine.server.service import SERVICE, Service

LARGEST_BODY_BYTES = 4 * 2**20
# Prompt and limit together must fit the KV cache, so the default must not be the whole context.
DEFAULT_MAX_TOKENS = 1024


def make_app(
    engine: ServedEngine,
    *,
    api_key: str | None = None,
    default_max_tokens: int = DEFAULT_MAX_TOKENS,
    largest_body_bytes: int = LARGEST_BODY_BYTES,
    new_id: Callable[[], str] = lambda: uuid.uuid4().hex,
    clock: Callable[[], float] = time.time,
) -> web.Application:
    """An application over an engine that has been started; starting and closing it stays with the caller.

    With an `api_key`, every route under /v1 asks for it, and so does every POST. `default_max_tokens` limits the
    answers of clients that set no limit. `clock` gives seconds since 1970. Run the application with
    `handler_cancellation=True`, or a client that leaves keeps its slot until its answer is done.
    """
    service = Service(
        engine=engine,
        outcomes=Outcomes(),
        default_max_tokens=default_max_tokens,
        started=int(clock()),
        new_id=new_id,
        clock=clock,
    )
    middlewares = [errors_in_dialect] + ([gate(api_key)] if api_key else [])
    app = web.Application(client_max_size=largest_body_bytes, middlewares=middlewares)
    app[SERVICE] = service
    app.add_routes(
        [
            web.post("/v1/chat/completions", chat_completions),
            web.post("/v1/completions", completions),
            web.post("/v1/responses", responses),
            web.post("/v1/messages", messages),
            web.get("/v1/models", models),
            web.get("/v1/models/{model:.+}", one_model),
            web.get("/health", _health),
            web.get("/metrics", _metrics),
            web.post("/reset_prefix_cache", _reset_prefix_cache),
        ]
    )
    return app


async def _health(request: web.Request) -> web.Response:
    return web.json_response({"status": "ok", "model": request.app[SERVICE].engine.name})


async def _reset_prefix_cache(request: web.Request) -> web.Response:
    """As vLLM names it; without a prefix cache there is nothing to forget, and that is what was asked for."""
    request.app[SERVICE].engine.reset_prefix_cache()
    return web.json_response({"status": "ok"})


async def _metrics(request: web.Request) -> web.Response:
    service = request.app[SERVICE]
    return metrics_response(service.engine, service.outcomes)
