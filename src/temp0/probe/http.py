"""An endpoint over HTTP: a question in its dialect out, the answer back as a core value.

It raises nothing for what the server did. A question is written once and sent again as the same bytes, but for fields
that only ask for a description of the answer: one that the server refuses by name fails that attempt, and is left out
of those that follow.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import lru_cache

from temp0.core.run import Address, Completion, Failure, Question
from temp0.errors import UsageError
from temp0.probe.body import json_outcome, streamed_outcome
from temp0.probe.connection import Connection, Reply, Torn
from temp0.probe.dialect import Dialect
from temp0.probe.dialect.error import named_fields, said
from temp0.probe.dialect.reason import ERROR_IN_200, http_failure
from temp0.probe.endpoint import Answer, ColdMeans, NoColdMeans
from temp0.probe.gauge import Gauge
from temp0.probe.prefix_cache import PrefixCache


class HttpEndpoint:
    """A model behind a URL, asked in one dialect over one connection pool."""

    def __init__(self, *, address: Address, url: str, dialect: Dialect, connection: Connection, gauge: Gauge) -> None:
        self._address = address
        self._dialect = dialect
        self._url = dialect.url(url)
        self._connection = connection
        self._gauge = gauge
        self._prefix_cache = PrefixCache(connection, url, dialect=dialect, model=address.model, gauge=gauge)
        self._left_out: tuple[str, ...] = ()
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
        written = self._written(question, self._left_out)
        # After a stream llama.cpp closes a connection that it has announced to keep: the next attempt would be lost.
        reply = await self._connection.exchange("POST", self._url, body=written, keep=not question.stream)
        outcome = self._outcome(reply, question)
        if isinstance(outcome, Failure):
            outcome = self._connection.redacted(self._without_refused(outcome, written))
        else:
            outcome = self._connection.redacted_completion(outcome)
        return Answer(outcome=outcome, first_byte_s=reply.first_byte_s)

    async def running(self) -> float | None:
        """The server's own count of requests it is working on now, or `None` where it does not tell."""
        return await self._gauge.running()

    async def cold_means(self) -> ColdMeans | NoColdMeans:
        """How the server's prefix cache can be made cold; asked of the server once, before any cold question."""
        return await self._prefix_cache.means()

    async def make_cold(self) -> Failure | None:
        """Empty the server's prefix cache where that is the means; a failure where the server would not."""
        return await self._prefix_cache.reset()

    async def close(self) -> None:
        """Give back connections."""
        await self._connection.close()

    def _write(self, question: Question, left_out: tuple[str, ...]) -> bytes:
        if question.logprobs and not self._dialect.can_logprobs:
            raise UsageError(f"the dialect {self._dialect.name} has no logprobs; ask without --logprobs")
        body = {**self._dialect.body(question, self._address.model), **self._prefix_cache.fields(question)}
        sent = {name: value for name, value in body.items() if name not in left_out}
        return json.dumps(sent, separators=(",", ":"), allow_nan=False).encode()

    def _outcome(self, reply: Reply | Answer, question: Question) -> Completion | Failure:
        if isinstance(reply, Torn):
            return self._of_torn(reply, question)
        if isinstance(reply, Answer):
            return reply.outcome
        if not 200 <= reply.status < 300:
            return http_failure(reply.status, _refusal(reply))
        is_streamed = self._dialect.framing.begins(reply.body, reply.content_type)
        headers = reply.headers
        if is_streamed != question.stream and reply.content_type:
            # The one witness that the server did not do as it was asked: whole where streamed was wanted, or streamed.
            headers = tuple(sorted((*headers, ("content-type", reply.content_type))))
        read = streamed_outcome if is_streamed else json_outcome
        return read(self._dialect, reply.body, headers)

    def _of_torn(self, torn: Torn, question: Question) -> Completion | Failure:
        """A stream that said it was whole, or what went wrong, has said so, however its connection ended."""
        if not self._dialect.framing.begins(torn.reply.body, torn.reply.content_type):
            return torn.outcome
        outcome = self._outcome(torn.reply, question)
        has_said_it = isinstance(outcome, Completion) or outcome.reason == ERROR_IN_200
        return outcome if has_said_it else torn.outcome

    def _without_refused(self, failure: Failure, written: bytes) -> Failure:
        """The failure; where it refuses a field that can be done without, no later question has that field."""
        sent = json.loads(written)
        refused = named_fields(failure, (name for name in self._dialect.dispensable if name in sent))
        if not refused:
            return failure
        self._left_out = tuple(dict.fromkeys((*self._left_out, *refused)))
        return replace(failure, message=f"{failure.message} ({', '.join(refused)}: not sent again)")


def _refusal(reply: Reply) -> str:
    told = [f" ({name}: {value})" for name, value in reply.headers if name in {"location", "retry-after"}]
    return said(reply.body) + "".join(told)
