"""An endpoint over HTTP: a question in its dialect out, the answer back as a core value.

It raises nothing for what the server did. A question is written once and sent again as the same bytes.
"""

from __future__ import annotations

import json
from functools import lru_cache

from temp0.core.run import Address, Completion, Failure, Question
from temp0.errors import UsageError
from temp0.probe.connection import Connection, Reply
from temp0.probe.dialect import Dialect
from temp0.probe.dialect.error import said
from temp0.probe.dialect.reason import NOT_JSON, TRUNCATED_JSON, excerpt, http_failure
from temp0.probe.endpoint import Answer
from temp0.probe.gauge import Gauge


class HttpEndpoint:
    """A model behind a URL, asked in one dialect over one connection pool."""

    def __init__(self, *, address: Address, url: str, dialect: Dialect, connection: Connection, gauge: Gauge) -> None:
        self._address = address
        self._dialect = dialect
        self._url = dialect.url(url)
        self._connection = connection
        self._gauge = gauge
        self._written = lru_cache(maxsize=4096)(self._write)

    @property
    def address(self) -> Address:
        """Where this endpoint is, without any key."""
        return self._address

    @property
    def can_logprobs(self) -> bool:
        """Whether the dialect can tell logprobs at all."""
        return self._dialect.can_logprobs

    async def complete(self, question: Question) -> Answer:
        """Send one request, once, and read its answer.

        Raises:
            UsageError: The question asks for what the dialect cannot say.

        """
        reply = await self._connection.exchange("POST", self._url, body=self._written(question))
        if isinstance(reply, Answer):
            return reply
        outcome = self._outcome(reply)
        if isinstance(outcome, Failure):
            outcome = self._connection.redacted(outcome)
        return Answer(outcome=outcome, first_byte_s=reply.first_byte_s)

    async def running(self) -> float | None:
        """The server's own count of requests it is working on now, or `None` where it does not tell."""
        return await self._gauge.running()

    async def close(self) -> None:
        """Give back connections."""
        await self._connection.close()

    def _write(self, question: Question) -> bytes:
        if question.logprobs and not self._dialect.can_logprobs:
            raise UsageError(f"the dialect {self._dialect.name} has no logprobs; ask without --logprobs")
        if question.stream:
            raise UsageError("streamed answers are not read yet; ask without --stream")
        body = self._dialect.body(question, self._address.model)
        return json.dumps(body, separators=(",", ":"), allow_nan=False).encode()

    def _outcome(self, reply: Reply) -> Completion | Failure:
        if not 200 <= reply.status < 300:
            return http_failure(reply.status, _refusal(reply))
        try:
            payload = json.loads(reply.body)
        except json.JSONDecodeError as error:
            return _unreadable(error)
        except (ValueError, RecursionError) as error:
            return Failure(reason=NOT_JSON, message=f"not JSON that can be read: {excerpt(str(error))}")
        return self._dialect.completion(payload, reply.headers)


def _refusal(reply: Reply) -> str:
    told = [f" ({name}: {value})" for name, value in reply.headers if name in {"location", "retry-after"}]
    return said(reply.body) + "".join(told)


def _unreadable(error: json.JSONDecodeError) -> Failure:
    text = error.doc.strip()
    if not text:
        return Failure(reason=NOT_JSON, message="an empty body")
    kind = TRUNCATED_JSON if _is_truncated(text, error) else NOT_JSON
    what = "JSON that ends too early" if kind == TRUNCATED_JSON else "not JSON"
    return Failure(reason=kind, message=f"{what}: {excerpt(text)}")


def _is_truncated(text: str, error: json.JSONDecodeError) -> bool:
    """Whether the text begins as JSON does and the reader ran out of it rather than stumbled."""
    closer = {"{": "}", "[": "]"}.get(text[0])
    if closer is None or error.msg == "Extra data":
        return False
    return error.pos >= len(error.doc.rstrip()) or not text.endswith(closer)
