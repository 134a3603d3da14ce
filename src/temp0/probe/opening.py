"""From a URL to an endpoint that can be asked: which dialect, which model, which key.

What cannot be asked is refused here, before anything is sent, and no message repeats a secret.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from urllib.parse import SplitResult, parse_qsl, urlsplit

from temp0.core.run import Address, Failure
from temp0.errors import EndpointError
from temp0.probe.connection import Connection, Reply
from temp0.probe.dialect import DIALECTS, Dialect
from temp0.probe.dialect.error import said
from temp0.probe.dialect.field import told_object
from temp0.probe.dialect.reason import REFUSED, printable
from temp0.probe.endpoint import Answer, Endpoint
from temp0.probe.fake import FakeEndpoint
from temp0.probe.gauge import Gauge
from temp0.probe.host import KNOWN_HOSTS, with_known_path
from temp0.probe.http import HttpEndpoint
from temp0.probe.key import endpoint_key

# Every dialect temp0 has a name for, and the ends of paths by which it is recognised.
API_PATHS: dict[str, tuple[str, ...]] = {
    "openai-chat": ("/chat/completions", "/v1"),
    "openai-completions": ("/v1/completions",),
    "openai-responses": ("/v1/responses",),
    "anthropic": ("/messages", "/anthropic"),
    "mistral": (),
    "ollama": ("/api/chat", "/api/generate"),
    "llamacpp": ("/completion",),
    "vllm": (),
    "sglang": ("/generate",),
}
_SECRET_NAME = re.compile(r"key|token|secret|password|auth|sig", re.IGNORECASE)
_MODELS_SHOWN = 10


async def open_endpoint(
    url: str,
    *,
    model: str | None = None,
    api: str | None = None,
    key_env: str | None = None,
    timeout_s: float = 300.0,
    environ: Mapping[str, str],
) -> Endpoint:
    """An endpoint for a URL: `http://`, `https://` or `fake:`. Close it when done.

    Where no model is named, the server is asked which it has, and its only one is taken.

    Raises:
        EndpointError: The URL, the dialect or the model cannot be right.
        UsageError: The variable `key_env` is not set.

    """
    if url.startswith("fake:"):
        return FakeEndpoint(url, model=model)
    parts = _parts(url)
    dialect = _dialect(parts, api)
    url = parts.geturl().rstrip("/")
    key = endpoint_key(url, variable=dialect.key_variable, key_env=key_env, environ=environ)
    headers = dialect.headers(key.value if key else None)
    connection = Connection(url, key=key, headers=headers, timeout_s=timeout_s)
    asked = with_known_path(url)
    try:
        model = model or await _only_model(connection, dialect, asked)
    except BaseException:
        await connection.close()
        raise
    return HttpEndpoint(
        address=Address(url=url, api=dialect.name, model=model),
        url=asked,
        dialect=dialect,
        connection=connection,
        gauge=Gauge(connection, url),
    )


def _parts(url: str) -> SplitResult:
    """The URL taken apart, refused where it is no URL or holds a secret, which a run would keep."""
    try:
        parts = urlsplit(url.strip())._replace(fragment="")
        _ = parts.port
    except ValueError:
        # The reader's own message may repeat a password, so it is neither quoted nor chained.
        raise EndpointError("the endpoint is no URL that can be read: look at its host and port") from None
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise EndpointError(
            f"the endpoint's URL begins with {parts.scheme or 'no scheme'!r}; "
            "expected http://, https:// or fake:, such as http://127.0.0.1:8000/v1"
        )
    secret = "a user name or password" if "@" in parts.netloc else _secret_parameter(parts.query)
    if secret:
        raise EndpointError(
            f"the endpoint's URL holds {secret}, which would be recorded; "
            "put the key in an environment variable and name it with --key-env"
        )
    return parts


def _secret_parameter(query: str) -> str | None:
    names = [name for name, _ in parse_qsl(query, keep_blank_values=True) if _SECRET_NAME.search(name)]
    return f"the parameter {names[0]!r}" if names else None


def _dialect(parts: SplitResult, api: str | None) -> Dialect:
    name = api or _recognised(parts)
    if name in DIALECTS:
        return DIALECTS[name]
    spoken = ", ".join(DIALECTS)
    if name is None:
        raise EndpointError(
            f"the path {parts.path!r} does not tell which dialect is spoken there; "
            f"end the URL with /v1, or say which with --api ({spoken})"
        )
    known = "is not spoken yet" if name in API_PATHS else "is not known"
    raise EndpointError(f"the dialect {name!r} {known}; temp0 speaks {spoken}")


def _recognised(parts: SplitResult) -> str | None:
    known = KNOWN_HOSTS.get(parts.hostname or "")
    path = parts.path.rstrip("/")
    for name, ends in API_PATHS.items():
        if path.endswith(ends) and not (known and path.endswith("/v1")):
            return name
    if known:
        return known.api
    return None if path else "openai-chat"


async def _only_model(connection: Connection, dialect: Dialect, url: str) -> str:
    reply = await connection.exchange("GET", dialect.models_url(url))
    models = _models(reply) if isinstance(reply, Reply) and reply.status == 200 else ()
    if len(models) == 1:
        return models[0]
    if models:
        more = ", ..." if len(models) > _MODELS_SHOWN else ""
        names = ", ".join(map(printable, models[:_MODELS_SHOWN]))
        raise EndpointError(f"the endpoint has {len(models)} models; name one with --model: {names}{more}")
    if isinstance(reply, Answer) and isinstance(reply.outcome, Failure) and reply.outcome.reason == REFUSED:
        raise EndpointError(f"no server answers: {reply.outcome.message}; is it running, and is the port right?")
    raise EndpointError(f"the endpoint does not say which model it has ({_why(reply)}); name it with --model")


def _models(reply: Reply) -> tuple[str, ...]:
    try:
        data = told_object(json.loads(reply.body)).get("data")
    except (ValueError, RecursionError):
        return ()
    ids = [told_object(entry).get("id") for entry in data] if isinstance(data, list) else []
    return tuple(name for name in ids if isinstance(name, str))


def _why(reply: Reply | Answer) -> str:
    if isinstance(reply, Reply):
        return f"HTTP {reply.status}: {said(reply.body)}"
    return getattr(reply.outcome, "message", "no answer")
