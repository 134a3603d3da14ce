"""One HTTP session: bytes out once, bytes back whole, and every fault of the way a failure.

No question is sent twice: nothing is retried (the library repeats a GET once on a lost connection, never a POST), no
redirect is followed, and no cookie makes one attempt depend on another. No key leaves this module in what it returns.
"""

from __future__ import annotations

import os
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
from aiohttp import ClientTimeout

from temp0.core.run import Completion, Failure
from temp0.errors import EndpointError
from temp0.probe.dialect import reason
from temp0.probe.dialect.reason import printable
from temp0.probe.endpoint import Answer
from temp0.probe.event_stream import EVENT_STREAM
from temp0.probe.header import kept_headers
from temp0.probe.host import is_loopback
from temp0.probe.key import Key

CONNECT_TIMEOUT_S = 30.0
LARGEST_ANSWER_BYTES = 64 * 2**20
# llama.cpp, uvicorn and node close an idle connection after 5 s; a question sent into that moment would be lost
_IDLE_S = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A whole HTTP answer: the status, the headers worth keeping and the body, key redacted.

    `first_byte_s` is the time to the first byte of the body, `None` where the body is empty: a server that streams
    sends its headers before it has anything to say.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    content_type: str = ""
    first_byte_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Torn(Answer):
    """The failure of a connection after part of a body had come, and that part."""

    reply: Reply


class Connection:
    """A pool of connections to one server, as many as are asked for at once.

    Made inside a running event loop. `headers` go out with every request; `clock` counts seconds.

    Raises:
        EndpointError: The environment names a proxy that cannot be used.

    """

    def __init__(
        self,
        url: str,
        *,
        key: Key | None = None,
        headers: Mapping[str, str] | None = None,
        timeout_s: float = 300.0,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._key = key
        self._timeout_s = timeout_s
        self._clock = clock
        self._headers = {"User-Agent": "temp0", **(headers or {})}
        self._proxy = _proxy(url)
        self._kept = self._opened(pooled=True)
        self._used_once: aiohttp.ClientSession | None = None
        self._keeps = True
        self._has_answered = False

    async def exchange(
        self,
        method: str,
        url: str,
        *,
        body: bytes | None = None,
        timeout_s: float | None = None,
        keep: bool = True,
    ) -> Reply | Answer:
        """Send one request, once; the reply, or an answer that is a failure, `Torn` where part of a body had come.

        Unless told to `keep` it, the connection is used for this request alone.
        """
        session = self._session(keep=keep)
        timeout = session.timeout if timeout_s is None else ClientTimeout(total=timeout_s)
        headers = None if body is None else {"Content-Type": "application/json"}
        response: aiohttp.ClientResponse | None = None
        received = _Received()
        sent = self._clock()
        try:
            async with session.request(
                method, url, data=body, headers=headers, timeout=timeout, allow_redirects=False
            ) as response:
                async for piece in response.content.iter_any():
                    if not received.take(piece, self._clock() - sent):
                        break
        except (aiohttp.ClientError, OSError) as error:
            failure = self._failure(error, timeout)
            if keep and response is None:
                self._note_loss(error)
            if response is None or not received.data:
                return Answer(outcome=failure)
            return Torn(outcome=failure, reply=self._reply(response, received), first_byte_s=received.first_byte_s)
        if received.is_too_large:
            message = f"the answer has more than {LARGEST_ANSWER_BYTES:,} bytes"
            failure = Failure(reason=reason.TOO_LARGE, message=message)
            return Answer(outcome=failure, first_byte_s=received.first_byte_s)
        self._has_answered = True
        reply = self._reply(response, received)
        if keep and reply.content_type.lower().startswith(EVENT_STREAM):
            self._keeps = False  # a stream that nobody asked for, after which some servers close without a word
        return reply

    def redacted(self, failure: Failure) -> Failure:
        """The failure with `[key]` for the key in what it says."""
        return replace(failure, message=self._redact(failure.message))

    def redacted_completion(self, completion: Completion) -> Completion:
        """The completion with `[key]` for a key that came in pieces; its tokens go, since they would spell it."""
        if self._key is None or self._key.is_placeholder:
            return completion
        text, reasoning = self._redact(completion.text), completion.reasoning and self._redact(completion.reasoning)
        tokens = completion.tokens if text == completion.text else None
        return replace(completion, text=text, reasoning=reasoning, tokens=tokens)

    async def close(self) -> None:
        """Close all connections."""
        await self._kept.close()
        if self._used_once:
            await self._used_once.close()

    def _opened(self, *, pooled: bool) -> aiohttp.ClientSession:
        kept = {"keepalive_timeout": _IDLE_S} if pooled else {"force_close": True}
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300, **kept),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=self._headers,
            timeout=ClientTimeout(total=self._timeout_s, connect=CONNECT_TIMEOUT_S),
            proxy=self._proxy,
        )

    def _session(self, *, keep: bool) -> aiohttp.ClientSession:
        """Connections that are kept for the next request, or used for one."""
        if keep and self._keeps:
            return self._kept
        if self._used_once is None:
            self._used_once = self._opened(pooled=False)
        return self._used_once

    def _note_loss(self, error: Exception) -> None:
        """Keep no connection from now on, where a server that answers has closed one that we had kept.

        It closes without saying so, and every kept connection would lose an attempt.
        """
        if self._has_answered and isinstance(error, aiohttp.ServerDisconnectedError | aiohttp.ClientOSError):
            self._keeps = False

    def _reply(self, response: aiohttp.ClientResponse, received: _Received) -> Reply:
        headers = tuple((name, self._redact(value)) for name, value in kept_headers(response.headers))
        body = bytes(received.data)
        return Reply(
            status=response.status,
            headers=headers,
            body=body if self._key is None else self._key.redact(body),
            content_type=self._redact(printable(response.headers.get("Content-Type", ""))),
            first_byte_s=received.first_byte_s,
        )

    def _failure(self, error: Exception, timeout: ClientTimeout) -> Failure:
        for kind, name in REASON_OF_EXCEPTION:
            if isinstance(error, kind):
                # Redacted before it is shortened, so that no part of a key is left at the end.
                message = reason.excerpt(self._redact(_message(error, timeout)))
                return Failure(reason=name, message=message)
        raise error  # a defect of ours, not a fault of the way

    def _redact(self, text: str) -> str:
        return text if self._key is None else self._key.redact_text(text)


# The first that fits counts: special kinds stand before the general ones they belong to.
REASON_OF_EXCEPTION: tuple[tuple[type[Exception], str], ...] = (
    (aiohttp.ClientSSLError, reason.TLS),
    (ssl.SSLError, reason.TLS),
    (TimeoutError, reason.TIMEOUT),
    (aiohttp.ClientProxyConnectionError, reason.PROXY),
    (aiohttp.ClientHttpProxyError, reason.PROXY),
    (aiohttp.ClientConnectorError, reason.REFUSED),
    (aiohttp.ClientPayloadError, reason.CUT),
    (aiohttp.ServerDisconnectedError, reason.CUT),
    (aiohttp.ClientOSError, reason.CUT),
    (OSError, reason.CUT),
    (aiohttp.ClientError, reason.NOT_HTTP),
)


@dataclass(slots=True)
class _Received:
    """What has come of a body, decompressed, and when the first byte of it did."""

    data: bytearray = field(default_factory=bytearray)
    first_byte_s: float | None = None

    @property
    def is_too_large(self) -> bool:
        return len(self.data) > LARGEST_ANSWER_BYTES

    def take(self, piece: bytes, at_s: float) -> bool:
        """Add a piece; whether there is room for more."""
        if self.first_byte_s is None:
            self.first_byte_s = at_s
        self.data += piece
        return not self.is_too_large


def _message(error: Exception, timeout: ClientTimeout) -> str:
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return f"no connection within {CONNECT_TIMEOUT_S:g} s"
    if isinstance(error, TimeoutError):
        return f"no whole answer within {timeout.total:g} s"
    if isinstance(error, aiohttp.ClientConnectorError):
        return f"cannot connect to {error.host}:{error.port}: {_os_reason(error.os_error)}"
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return "the server closed the connection without a whole answer"
    told = getattr(error.__cause__ or error, "message", None)  # the library's own reading of bad bytes
    return str(told or error) or type(error).__name__


def _os_reason(error: OSError) -> str:
    """The system's own words: the library's repeat the address it tried."""
    return os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror or str(error)


def _proxy(url: str) -> str | None:
    """The proxy the environment names for a URL, asked once.

    Not aiohttp's `trust_env`: that also sends what .netrc holds, to hosts the user gave no key for. Nothing on this
    machine is asked through a proxy.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    if is_loopback(host) or proxy_bypass(host):
        return None
    proxies = getproxies()
    named = proxies.get(parts.scheme) or proxies.get("all")
    if named and urlsplit(named).scheme not in {"http", "https"}:
        raise EndpointError(
            f"the environment names a proxy of the kind {urlsplit(named).scheme!r} for {host}; "
            "only http and https proxies can be used: unset it, or add the host to NO_PROXY"
        )
    return named
