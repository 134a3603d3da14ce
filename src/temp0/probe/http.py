"""An endpoint over HTTP: a question in its dialect out, the answer back as a core value.

It raises nothing for what the server did. A question is written once and sent again as the same bytes. Where the server
refuses a field by name that can be done without, or that has another name, that attempt fails and the next ones are
written otherwise; a refused temperature ends the asking, since an answer without one would pass for a greedy one.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType

from temp0.core.run import Address, Completion, Failure, Question
from temp0.errors import UsageError
from temp0.probe.body import json_outcome
from temp0.probe.connection import Connection, Reply, Torn
from temp0.probe.dialect import Dialect
from temp0.probe.dialect.error import may_pass, refused_fields, said
from temp0.probe.dialect.reason import ERROR_IN_200, MASK, http_failure
from temp0.probe.endpoint import Again, Answer, ColdMeans, NoColdMeans
from temp0.probe.gauge import Gauge
from temp0.probe.intake import Intake
from temp0.probe.patience import told_wait
from temp0.probe.prefix_cache import PrefixCache

GO_ON_WITHOUT = (
    "without a temperature of 0 answers are not greedy; to go on all the same, without a temperature and labelled "
    '"not greedy", use --not-greedy (in Python greedy=False)'
)


@dataclass(frozen=True, slots=True)
class _Written:
    """A body as it is sent, and as it is recorded: without secrets."""

    body: bytes
    recorded: bytes


class HttpEndpoint:
    """A model behind a URL, asked in one dialect over one connection pool."""

    def __init__(
        self,
        *,
        address: Address,
        url: str,
        dialect: Dialect,
        connection: Connection,
        gauge: Gauge,
        extra: Mapping[str, object] = MappingProxyType({}),
        keeps_raw: bool = False,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._address = address
        self._dialect = dialect
        self._url = dialect.url(url)
        self._connection = connection
        self._gauge = gauge
        self._extra = extra
        self._prefix_cache = PrefixCache(connection, url, dialect=dialect, model=address.model, gauge=gauge)
        self._keeps_raw = keeps_raw
        self._now = now
        self._refused: tuple[str, ...] = ()
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
        write = self._write if self._prefix_cache.is_salted(question) else self._written
        written = write(question, self._refused)
        redact = self._connection.redact if self._connection.has_secret else None
        intake = Intake(self._dialect, redact=redact, keeps_raw=self._keeps_raw)
        # After a stream llama.cpp closes a connection that it has announced to keep: the next attempt would be lost.
        reply = await self._connection.exchange(
            "POST", self._url, body=written.body, keep=not question.stream, intake=intake
        )
        outcome = self._outcome(reply, intake, question)
        return replace(
            self._answer(outcome, reply, question, written, is_streamed=intake.answer is not None),
            first_byte_s=reply.first_byte_s,
            sent=written.recorded,
        )

    def check(self, question: Question) -> None:
        """Refuse a question that the dialect cannot say, before anything is asked.

        Raises:
            UsageError: It cannot.

        """
        self._dialect.body(question, self._address.model)

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

    def _write(self, question: Question, refused: tuple[str, ...]) -> _Written:
        if question.logprobs and not self._dialect.can_logprobs:
            raise UsageError(f"the dialect {self._dialect.name} has no logprobs; ask without --logprobs")
        body = {**self._dialect.body(question, self._address.model), **self._prefix_cache.fields(question)}
        sent = {
            self._name(name, refused): value for name, value in body.items() if not self._is_left_out(name, refused)
        }
        # What the user wants sent is never left out.
        written = json.dumps(merged(sent, self._extra), separators=(",", ":"), allow_nan=False).encode()
        return _Written(written, self._connection.redact(written) if self._connection.has_secret else written)

    def _is_left_out(self, name: str, refused: tuple[str, ...]) -> bool:
        return name in refused and name in self._dialect.dispensable

    def _name(self, name: str, refused: tuple[str, ...]) -> str:
        """The name under which a field is sent: its other one, where the server knows only that."""
        other = dict(self._dialect.renamed).get(name, name)
        return other if name in refused and other not in refused else name

    def _outcome(self, reply: Reply | Answer, intake: Intake, question: Question) -> Completion | Failure:
        if isinstance(reply, Torn):
            outcome = self._read(reply.reply, intake, question) if intake.answer is not None else reply.outcome
            # A stream that said it was whole, or what went wrong, has said so, however its connection ended.
            has_said_it = isinstance(outcome, Completion) or outcome.reason == ERROR_IN_200
            return outcome if has_said_it else reply.outcome
        if isinstance(reply, Answer):
            return reply.outcome
        if not 200 <= reply.status < 300:
            return http_failure(reply.status, _refusal(reply))
        return self._read(reply, intake, question)

    def _read(self, reply: Reply, intake: Intake, question: Question) -> Completion | Failure:
        headers = reply.headers
        if (intake.answer is not None) != question.stream and reply.content_type:
            # The one witness that the server did not do as it was asked: whole where streamed was wanted, or streamed.
            headers = tuple(sorted((*headers, ("content-type", reply.content_type))))
        streamed = intake.streamed(headers)
        return json_outcome(self._dialect, reply.body, headers) if streamed is None else streamed

    def _answer(
        self,
        outcome: Completion | Failure,
        reply: Reply | Answer,
        question: Question,
        written: _Written,
        *,
        is_streamed: bool,
    ) -> Answer:
        whole = reply.reply if isinstance(reply, Torn) else reply if isinstance(reply, Reply) else None
        received = whole.body if whole and self._keeps_raw else None
        if isinstance(outcome, Completion):
            shown = self._connection.redacted_completion(outcome)
            # A key that came in pieces cannot be found in raw bytes, and a stream that ends with it may have begun so.
            is_in_pieces = shown != outcome or (is_streamed and MASK.encode() in (received or b""))
            return Answer(outcome=shown, received=None if is_in_pieces else received)
        if whole and (noted := self._without_refused(outcome, whole, question, written)):
            return replace(noted, received=received)
        failure = self._connection.redacted(outcome)
        again = told_wait(whole.headers if whole else (), self._now) if may_pass(outcome) else None
        return Answer(outcome=failure, received=received, again=again)

    def _without_refused(self, failure: Failure, reply: Reply, question: Question, written: _Written) -> Answer | None:
        """What follows where a field of ours was refused: another body from now on, or for a temperature the end."""
        sent = json.loads(written.body)
        dispensable = [name for name in self._dialect.dispensable if name in sent]
        renamed = [name for pair in self._dialect.renamed for name in pair if name in sent]
        refused = (
            *refused_fields(reply.status, reply.body, dispensable),
            *refused_fields(reply.status, reply.body, renamed, by_name=True),
        )
        self._refused = tuple(dict.fromkeys((*self._refused, *refused)))
        if refused and json.loads(self._write(question, self._refused).body).keys() != sent.keys():
            notes = [f"{name}: {self._instead(name)}" for name in refused]
            noted = replace(failure, message=f"{failure.message} ({'; '.join(notes)})")
            return Answer(outcome=self._connection.redacted(noted), again=Again(after_s=0.0, is_rewritten=True))
        if "temperature" in sent and refused_fields(reply.status, reply.body, ["temperature"]):
            return Answer(outcome=self._connection.redacted(failure), stop=f"temperature is refused: {GO_ON_WITHOUT}")
        return None

    def _instead(self, name: str) -> str:
        other = self._name(name, self._refused)
        return f"sent as {other} from now on" if other != name else "not sent again"


def merged(body: Mapping[str, object], extra: Mapping[str, object]) -> dict[str, object]:
    """The body with the extra fields in it: an object goes into an object of the same name, all else in its place."""
    found = dict(body)
    for name, value in extra.items():
        old = found.get(name)
        found[name] = merged(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return found


def _refusal(reply: Reply) -> str:
    told = [f" ({name}: {value})" for name, value in reply.headers if name in {"location", "retry-after"}]
    return said(reply.body) + "".join(told)
