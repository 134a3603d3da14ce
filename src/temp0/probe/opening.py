"""From a URL to an endpoint that can be asked: which dialect, which model, which key.

What cannot be asked is refused here, before anything is sent, and no message repeats a secret.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from urllib.parse import SplitResult, parse_qsl, urlsplit

from temp0.core.run import Address, Failure
from temp0.errors import EndpointError, UnreachableError, UsageError
from temp0.probe.connection import CONNECT_TIMEOUT_S, Connection, Reply
from temp0.probe.dialect.azure import deployment, lacks_version
from temp0.probe.dialect.error import said
from temp0.probe.dialect.reason import NOT_HTTP, REFUSED, TOO_LARGE, printable
from temp0.probe.endpoint import Answer, Endpoint
from temp0.probe.fake import FakeEndpoint
from temp0.probe.gauge import Gauge
from temp0.probe.host import with_known_path
from temp0.probe.http import HttpEndpoint
from temp0.probe.key import Key, endpoint_key, with_headers
from temp0.probe.listing import model_names
from temp0.probe.recognition import API_PATHS, Recognition, recognition

_SECRET_NAME = re.compile(r"key|token|secret|password|auth|sig", re.IGNORECASE)
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_MODELS_SHOWN = 10
_LIST_TIMEOUT_S = 10.0

__all__ = ["API_PATHS", "OpenedEndpoint", "open_endpoint"]


class OpenedEndpoint(HttpEndpoint):
    """An endpoint over HTTP that can say how its dialect was recognised, in words that can follow the dialect."""

    because: str = ""


async def open_endpoint(
    url: str,
    *,
    model: str | None = None,
    api: str | None = None,
    key_env: str | None = None,
    headers: Sequence[tuple[str, str]] = (),
    extra: Mapping[str, object] = MappingProxyType({}),
    timeout_s: float = 300.0,
    connect_timeout_s: float = CONNECT_TIMEOUT_S,
    first_byte_timeout_s: float | None = None,
    keeps_raw: bool = False,
    environ: Mapping[str, str],
) -> Endpoint:
    """An endpoint for a URL: `http://`, `https://` or `fake:`. Close it when done.

    Where the URL does not tell the dialect, or no model is named, the server is asked for its list of models; its only
    one is taken. `headers` go out with every request; those that may be secret are kept out of every record. `extra` is
    merged into the body of every question, over what the dialect says. `keeps_raw` has raw answers kept, too.

    Raises:
        EndpointError: The URL, the dialect or the model cannot be right.
        UnreachableError: The server had to be asked for its model, and did not answer.
        UsageError: The variable `key_env` is not set, or a header cannot be sent.

    """
    if url.startswith("fake:"):
        return FakeEndpoint(url, model=model)
    parts = _parts(url)
    found = recognition(parts, api)
    url = parts.geturl().rstrip("/")
    named = _deployment(url)
    key = endpoint_key(url, variable=found.dialect.key_variable, key_env=key_env, environ=environ)
    sent = _with_own(found.dialect.headers(key.value if key else None), headers)
    secrets = with_headers(key, headers)
    written = _recordable(extra, secrets)
    connection = Connection(
        url,
        key=secrets,
        headers=sent,
        timeout_s=timeout_s,
        connect_timeout_s=connect_timeout_s,
        first_byte_timeout_s=first_byte_timeout_s,
    )
    try:
        found, model = await _asked(connection, found, with_known_path(url), model or named)
    except BaseException:
        await connection.close()
        raise
    endpoint = OpenedEndpoint(
        address=Address(url=url, api=found.dialect.name, model=model, extra=written, headers=_names(headers)),
        url=with_known_path(url),
        dialect=found.dialect.at(url),
        connection=connection,
        gauge=Gauge(connection, url),
        extra=extra,
        keeps_raw=keeps_raw,
    )
    endpoint.because = found.because
    return endpoint


async def _asked(connection: Connection, found: Recognition, url: str, model: str | None) -> tuple[Recognition, str]:
    """The dialect and the model, by the server's list of models where the URL and the user leave one of them open."""
    if model and not found.is_open:
        return found, model
    timeout_s = _LIST_TIMEOUT_S if model else None  # a list that is not needed is not waited for
    reply = await connection.exchange("GET", found.dialect.models_url(url), timeout_s=timeout_s)
    model = model or _only_model(reply)
    return found.corrected(_list(reply), model), model


def _deployment(url: str) -> str | None:
    """The model that an Azure URL names, as the deployment it is asked under."""
    if lacks_version(url):
        raise EndpointError(
            "the URL names a deployment without a version of the API; add one, such as ?api-version=2024-10-21"
        )
    return deployment(url)


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


def _with_own(headers: Mapping[str, str], own: Sequence[tuple[str, str]]) -> Mapping[str, str]:
    """The headers that go out, the user's in the place of ours of the same name.

    Raises:
        UsageError: One that HTTP cannot carry; the message does not repeat its value.

    """
    for name, value in own:
        if not (_HEADER_NAME.fullmatch(name) and _HEADER_VALUE.fullmatch(value)):
            raise UsageError(f"the header {printable(name)!r} cannot be sent: its name or its value is not of HTTP")
    names = {name.lower() for name, _ in own}
    return {name: value for name, value in headers.items() if name.lower() not in names} | dict(own)


def _recordable(extra: Mapping[str, object], key: Key | None) -> str:
    """The fields of the user's own as they are recorded; refused where they hold the key or another secret."""
    written = json.dumps(extra, separators=(",", ":"), allow_nan=False).encode() if extra else b""
    if key and key.redact(written) != written:
        raise UsageError("the fields to be merged into each body hold the key, which would be recorded; leave it out")
    return written.decode()


def _names(headers: Sequence[tuple[str, str]]) -> str:
    """The names of the user's headers, which are recorded; their values are not."""
    return " ".join(sorted({name.lower() for name, _ in headers}))


def _only_model(reply: Reply | Answer) -> str:
    models = model_names(_list(reply))
    if len(models) == 1:
        return models[0]
    if models:
        more = ", ..." if len(models) > _MODELS_SHOWN else ""
        names = ", ".join(map(printable, models[:_MODELS_SHOWN]))
        raise EndpointError(f"the endpoint has {len(models)} models; name one with --model: {names}{more}")
    if isinstance(reply, Answer) and isinstance(reply.outcome, Failure) and reply.outcome.reason == REFUSED:
        raise UnreachableError(f"no server answers: {reply.outcome.message}; is it running, and is the port right?")
    told = f"the endpoint does not say which model it has ({_why(reply)}); name it with --model"
    raise UnreachableError(told) if _is_outage(reply) else EndpointError(told)


def _is_outage(reply: Reply | Answer) -> bool:
    """Whether the server did not answer, or said that it cannot now; one that speaks no HTTP is none of ours."""
    if isinstance(reply, Reply):
        return reply.status >= 500 or reply.status == 429
    return isinstance(reply.outcome, Failure) and reply.outcome.reason not in {NOT_HTTP, TOO_LARGE}


def _list(reply: Reply | Answer) -> bytes:
    return reply.body if isinstance(reply, Reply) and reply.status == 200 else b""


def _why(reply: Reply | Answer) -> str:
    if isinstance(reply, Reply):
        return f"HTTP {reply.status}: {said(reply.body)}"
    return getattr(reply.outcome, "message", "no answer")
