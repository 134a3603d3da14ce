"""One HTTP session: bytes out once, bytes back whole, and every fault of the way a failure.

No question is sent twice: nothing is retried (the library repeats a GET once on a lost connection, never a POST), no
redirect is followed, and no cookie makes one attempt depend on another. No key leaves this module in what it returns.
"""

from __future__ import annotations

import asyncio
import os
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
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
from temp0.probe.intake import LARGEST_BYTES, Intake
from temp0.probe.key import Key
from temp0.probe.trust import trust

CONNECT_TIMEOUT_S = 30.0
LINGER_S, LAST_LINGER_S = 2.0, 0.25
"""After a stream has told all, so long for a count that may follow, or for its end where nothing can follow.

Some servers leave the connection open for good.
"""

_LONGEST_HEADER = 2**16
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

    Made inside a running event loop. `headers` go out with every request; `clock` counts seconds. `timeout_s` is for
    the whole answer, the others are for a part of the way to it and count from sending, too.

    Raises:
        EndpointError: The environment names a proxy or certificates that cannot be used.

    """

    def __init__(
        self,
        url: str,
        *,
        key: Key | None = None,
        headers: Mapping[str, str] | None = None,
        timeout_s: float = 300.0,
        connect_timeout_s: float = CONNECT_TIMEOUT_S,
        first_byte_timeout_s: float | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._key = key
        self._timeout_s = timeout_s
        self._connect_timeout_s = connect_timeout_s
        self._first_byte_timeout_s = first_byte_timeout_s
        self._clock = clock
        self._headers = {"User-Agent": "temp0", **(headers or {})}
        self._proxy = _proxy(url)
        self._trust = (
            trust(os.environ) if "https" in {urlsplit(url).scheme, urlsplit(self._proxy or "").scheme} else True
        )
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
        intake: Intake | None = None,
    ) -> Reply | Answer:
        """Send one request, once; the reply, or an answer that is a failure, `Torn` where part of a body had come.

        Unless told to `keep` it, the connection is used for this request alone. The body goes through `intake`.
        """
        intake = intake or Intake()
        watch = _Watch(timeout_s or self._timeout_s, self._first_byte_timeout_s, intake)
        headers = None if body is None else {"Content-Type": "application/json"}
        response: aiohttp.ClientResponse | None = None
        has_room = True
        sent = self._clock()
        try:
            async with (
                watch.limit,
                self._session(keep=keep).request(
                    method, url, data=body, headers=headers, timeout=self._timeout(None), allow_redirects=False
                ) as response,
            ):
                intake.begin(response.status, response.headers.get("Content-Type", ""))
                async for piece in response.content.iter_any():
                    has_room = intake.take(piece, self._clock() - sent)
                    if not has_room:
                        break
                    watch.look()
        except (aiohttp.ClientError, OSError) as error:
            if not watch.has_all(error):
                return self._torn(self._lost(error, watch, self._clock() - sent), error, response, intake, keep=keep)
        if not has_room:
            message = f"the answer has more than {LARGEST_BYTES:,} bytes"
            failure = Failure(reason=reason.TOO_LARGE, message=message)
            return Answer(outcome=failure, first_byte_s=intake.first_byte_s)
        assert response is not None
        intake.end()
        self._has_answered = True
        reply = self._reply(response, intake)
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
        text = self._redact(completion.text)
        return replace(
            completion,
            text=text,
            reasoning=completion.reasoning and self._redact(completion.reasoning),
            refusal=completion.refusal and self._redact(completion.refusal),
            tool_calls=tuple(
                replace(call, name=self._redact(call.name), arguments=self._redact(call.arguments))
                for call in completion.tool_calls
            ),
            tokens=completion.tokens if text == completion.text else None,
        )

    async def close(self) -> None:
        """Close all connections."""
        await self._kept.close()
        if self._used_once:
            await self._used_once.close()

    def redact(self, data: bytes) -> bytes:
        """The bytes with `[key]` for each secret that goes out with a request."""
        return data if self._key is None else self._key.redact(data)

    @property
    def has_secret(self) -> bool:
        """Whether anything is to be redacted in a body at all."""
        return self._key is not None and not self._key.is_placeholder

    def _torn(
        self,
        failure: Failure,
        error: Exception,
        response: aiohttp.ClientResponse | None,
        intake: Intake,
        *,
        keep: bool,
    ) -> Answer:
        if keep and response is None:
            self._note_loss(error)
        if response is None or not intake.size_bytes:
            return Answer(outcome=failure)
        intake.end()
        return Torn(outcome=failure, reply=self._reply(response, intake), first_byte_s=intake.first_byte_s)

    def _timeout(self, total_s: float | None) -> ClientTimeout:
        return ClientTimeout(total=total_s, connect=self._connect_timeout_s)

    def _opened(self, *, pooled: bool) -> aiohttp.ClientSession:
        kept = {"keepalive_timeout": _IDLE_S} if pooled else {"force_close": True}
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300, ssl=self._trust, **kept),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=self._headers,
            timeout=self._timeout(self._timeout_s),
            proxy=self._proxy,
            max_line_size=_LONGEST_HEADER,
            max_field_size=_LONGEST_HEADER,
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

    def _reply(self, response: aiohttp.ClientResponse, intake: Intake) -> Reply:
        headers = tuple((name, self._redact(value)) for name, value in kept_headers(response.headers))
        return Reply(
            status=response.status,
            headers=headers,
            body=self.redact(bytes(intake.data)),
            content_type=self._redact(printable(response.headers.get("Content-Type", ""))),
            first_byte_s=intake.first_byte_s,
        )

    def _lost(self, error: Exception, watch: _Watch, after_s: float) -> Failure:
        """The failure of an exchange, in the words of the time-out where it was one of ours."""
        if isinstance(error, TimeoutError) and not isinstance(error, aiohttp.ConnectionTimeoutError):
            return watch.failure(after_s)
        return self._failure(error)

    def _failure(self, error: Exception) -> Failure:
        for kind, name in REASON_OF_EXCEPTION:
            if isinstance(error, kind):
                # Redacted before it is shortened, so that no part of a key is left at the end.
                message = reason.excerpt(self._redact(self._message(error)))
                return Failure(reason=name, message=message)
        raise error  # a defect of ours, not a fault of the way

    def _message(self, error: Exception) -> str:
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            return f"no connection within {self._connect_timeout_s:g} s"
        if isinstance(error, TimeoutError):
            return f"no whole answer within {self._timeout_s:g} s"
        return _message(error)

    def _redact(self, text: str) -> str:
        return text if self._key is None else self._key.redact_text(text)


# The first that fits counts: special kinds stand before the general ones they belong to.
REASON_OF_EXCEPTION: tuple[tuple[type[Exception], str], ...] = (
    (aiohttp.ClientSSLError, reason.TLS),
    (ssl.SSLError, reason.TLS),
    (aiohttp.ConnectionTimeoutError, reason.TIMEOUT_CONNECT),
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


class _Watch:
    """How long an exchange may go on: to its first byte, as a whole, and after a stream has told all."""

    def __init__(self, total_s: float, first_byte_s: float | None, intake: Intake) -> None:
        self._total_s = total_s
        self._first_byte_s = first_byte_s if first_byte_s is not None and first_byte_s < total_s else None
        self._intake = intake
        self._now = asyncio.get_running_loop().time
        self._ends_at_s = self._now() + total_s
        self._waits_for = "first byte" if self._first_byte_s is not None else "end"
        self.limit = asyncio.timeout(total_s if self._first_byte_s is None else self._first_byte_s)

    def look(self) -> None:
        """See what has come: after all was told, the exchange goes on only as long as something may follow."""
        if self._waits_for == "first byte":
            self._until("end", self._ends_at_s)
        if self._intake.is_over and self._waits_for != "last":
            self._until("last", self._now() + LAST_LINGER_S)
        elif self._intake.has_told_all and self._waits_for == "end":
            self._until("count", self._now() + LINGER_S)

    def _until(self, waits_for: str, at_s: float) -> None:
        self._waits_for = waits_for
        self.limit.reschedule(min(at_s, self._ends_at_s))

    def has_all(self, error: Exception) -> bool:
        """Whether it was our own patience that ended, after a stream had told all."""
        return isinstance(error, TimeoutError) and self._intake.has_told_all

    def failure(self, after_s: float) -> Failure:
        """What did not come in time, and what did."""
        if self._waits_for == "first byte":
            said = f"nothing of an answer within {self._first_byte_s:g} s"
            return Failure(reason=reason.TIMEOUT_FIRST_BYTE, message=said)
        said = f"no whole answer within {self._total_s:g} s"
        if size_bytes := self._intake.size_bytes:
            stalled_s = max(0.0, after_s - self._intake.last_byte_s)
            said += f"; {size_bytes:,} bytes came, the last of them {stalled_s:.1f} s before"
        return Failure(reason=reason.TIMEOUT, message=said)


def _message(error: Exception) -> str:
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
