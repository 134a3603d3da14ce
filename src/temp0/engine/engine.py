"""A model at work: requests come in from any thread, and one thread at a time steps all of them together.

Two locks: one for the books of requests, held for moments only, and one for a whole step, so that forward passes never
overlap. Clients are called back with the books unlocked, so they may submit and cancel from there. Every request ends:
by an emission that says it is finished, by its failure, or cancelled.
"""

from __future__ import annotations

import itertools
import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from typing import Self, Unpack

from temp0.core.plan import Message
from temp0.engine.arithmetic import Arithmetic, InvariantArithmetic
from temp0.engine.arithmetic import arithmetic as arithmetic_of
from temp0.engine.chat import chat_template_of
from temp0.engine.checkpoint import Array, Checkpoint
from temp0.engine.fingerprint import fingerprint_of
from temp0.engine.kv_cache import KvCache
from temp0.engine.limits import Limits
from temp0.engine.model import Model
from temp0.engine.request import Emission, Finish, Request, check
from temp0.engine.sampling import choose, score
from temp0.engine.scheduler import Scheduler, batch_of
from temp0.engine.ticket import Share, Ticket
from temp0.engine.tokenizer import TextDecoder, Tokenizer
from temp0.engine.weights import read_checkpoint
from temp0.errors import EngineError, Temp0Error, UsageError

_log = logging.getLogger(__name__)


class Engine:
    """A model with its queue, cache and tokenizer; `Engine.load` makes one from a file.

    Call `step` yourself, or `start` a thread that does; `close` ends either, and so does leaving the context. All
    methods are thread-safe. `context_tokens` is the most that a prompt and its answer may have together.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        arithmetic: Arithmetic,
        *,
        fingerprint: str,
        prefix_cache: bool | None = None,
        kv_tokens: int = 16384,
        max_running: int = 32,
        chunk_tokens: int = 256,
        queue: int = 64,
    ) -> None:
        """UsageError for a limit that cannot be right, ModelError for a vocabulary or template we cannot use.

        The prefix cache is on in invariant arithmetic and off in any other unless stated.
        """
        self.name = checkpoint.name
        self.arithmetic = arithmetic.name
        self.prefix_cache = arithmetic.name == InvariantArithmetic.name if prefix_cache is None else prefix_cache
        self.fingerprint = fingerprint
        self.context_tokens = checkpoint.settings.context
        self.tokenizer = Tokenizer(checkpoint.vocabulary)
        self.chat = chat_template_of(checkpoint)
        try:
            self._cache = KvCache(checkpoint.settings, tokens=kv_tokens, slots=max_running)
            self._scheduler = Scheduler(
                self._cache, chunk_tokens=chunk_tokens, queue=queue, prefix_cache=self.prefix_cache
            )
            rows = max_running + chunk_tokens
            self._model = Model(checkpoint, arithmetic, rows=rows, wanted=rows)  # a prompt's score wants all of them
        except MemoryError as error:
            raise UsageError(f"the memory does not hold that much: {error}; lower kv_tokens or max_running") from error
        self._numbers = itertools.count(1)
        self._tickets: dict[int, Ticket] = {}
        self._emitted_tokens = 0
        self._prompt_tokens = 0
        self._cached_tokens = 0
        self._closed = False
        self._books = threading.Condition()
        self._stepping = threading.Lock()
        self._thread: threading.Thread | None = None

    @classmethod
    def load(
        cls,
        weights: Path,
        *,
        arithmetic: str = "stock",
        activations: str = "bf16",
        weight_dtype: str | None = None,
        threads: int | None = None,
        prefix_cache: bool | None = None,
        **limits: Unpack[Limits],
    ) -> Self:
        """The engine of a GGUF file or a Hugging Face directory.

        `activations` are rounded to "bf16" between operations or kept "fp32"; `weight_dtype` is how weights are kept,
        "bf16" in invariant unless stated, always "fp32" in stock; `threads` is every usable core unless stated; the
        prefix cache is on in invariant and off in stock unless stated. Raises ModelError and UsageError.
        """
        return cls(
            read_checkpoint(weights),
            arithmetic_of(arithmetic, activations=activations, threads=threads, weight_dtype=weight_dtype),
            fingerprint=fingerprint_of(weights, arithmetic=arithmetic, activations=activations),
            prefix_cache=prefix_cache,
            **limits,
        )

    @property
    def running(self) -> int:
        """Requests that hold a place in the cache."""
        with self._books:
            return self._scheduler.running

    @property
    def waiting(self) -> int:
        """Requests in the queue."""
        with self._books:
            return self._scheduler.waiting

    @property
    def emitted_tokens(self) -> int:
        """Tokens emitted since the engine was made."""
        with self._books:
            return self._emitted_tokens

    @property
    def prompt_tokens(self) -> int:
        """Tokens of all prompts that were read to their end."""
        with self._books:
            return self._prompt_tokens

    @property
    def cached_tokens(self) -> int:
        """Those of them that the prefix cache had."""
        with self._books:
            return self._cached_tokens

    @property
    def preemptions(self) -> int:
        """How often a request had to give up its place for want of pages."""
        with self._books:
            return self._scheduler.preemptions

    @property
    def free_tokens(self) -> int:
        """Positions of the cache that no request holds, those included that the prefix cache keeps."""
        with self._books:
            return self._cache.free_tokens

    @property
    def kept_tokens(self) -> int:
        """Positions that the prefix cache keeps and no request holds."""
        with self._books:
            return self._cache.kept_tokens

    def reset_prefix_cache(self) -> None:
        """Forget every prefix; requests that run go on with the pages they hold, and open none to others."""
        with self._books:
            self._cache.forget_prefixes()

    def submit(
        self,
        request: Request,
        on_emission: Callable[[Emission], None],
        *,
        on_failure: Callable[[Temp0Error], None] | None = None,
    ) -> int:
        """Queue a request and return its ticket.

        `on_emission` is called by whoever steps, once per token, the last time with `finish` set; it must not step.
        `on_failure` is called instead of a last emission when the request can no longer be answered: a step failed,
        or the engine closed. Raises RequestError for a request that cannot be served, EngineError after `close`, and
        QueueFullError when the queue has no room.
        """
        check(
            request,
            vocab=self._model.settings.vocab,
            context_tokens=self.context_tokens,
            cache_tokens=self._cache.capacity_tokens,
        )
        number = next(self._numbers)
        ticket = Ticket(number=number, request=request, on_emission=on_emission, on_failure=on_failure)
        with self._books:
            if self._closed:
                raise _closed_error()
            self._scheduler.enqueue(ticket)
            self._tickets[number] = ticket
            self._books.notify_all()
        return number

    def cancel(self, ticket: int) -> None:
        """Forget a request and free its slot and pages; nothing happens if it has ended.

        An emission of the step under way may still arrive.
        """
        with self._books:
            self._forget(ticket)

    def step(self) -> bool:
        """Compute one batch and deliver its emissions; False when there was nothing to do.

        When the computation fails, the requests of this batch are told so and the error is raised.
        """
        with self._stepping:
            with self._books:
                shares = self._scheduler.next_shares()
            try:
                emissions = self._compute(shares) if shares else []
            except Exception as error:
                self._fail((share.ticket for share in shares), _step_error(error))
                raise
            self._deliver(self._record(shares, emissions))
            return bool(shares)

    def start(self) -> None:
        """Step in a thread of the engine's own from now on, which sleeps while there is nothing to do."""
        with self._books:
            if self._closed:
                raise _closed_error()
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="temp0-engine", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """End the thread after its step, and fail whatever is running or waiting. Not from a callback."""
        with self._books:
            self._closed = True
            self._books.notify_all()
        if self._thread is not None:
            self._thread.join()
        with self._stepping:
            self._fail(self._scheduler.tickets, _closed_error())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def generate(
        self,
        messages_or_text: Sequence[Message] | str,
        *,
        max_tokens: int = 128,
        temperature: float = 0.0,
        seed: int | None = None,
        ignore_eos: bool = False,
    ) -> str:
        """The answer to a conversation, or to a text as its only message; greedy unless told otherwise.

        Steps the engine itself where no thread does. Raises what `submit` raises.
        """
        messages = messages_or_text
        if isinstance(messages, str):
            messages = [Message(role="user", content=messages)]
        request = Request(
            tokens=tuple(self.tokenizer.encode(self.chat.render(messages))),
            max_tokens=max_tokens,
            temperature=temperature,
            seed=seed,
            ignore_eos=ignore_eos,
        )
        decoder = TextDecoder()
        pieces = [decoder.push(self.tokenizer.bytes_of(token)) for token in self._tokens_of(request)]
        return "".join(pieces) + decoder.finish()

    def _tokens_of(self, request: Request) -> Iterable[int]:
        arrived: SimpleQueue[Emission | Temp0Error] = SimpleQueue()
        ticket = self.submit(request, arrived.put, on_failure=arrived.put)
        try:
            finish: Finish | None = None
            while finish is None:
                while self._thread is None and arrived.empty():
                    self.step()
                emission = arrived.get()
                if isinstance(emission, Temp0Error):
                    raise emission
                yield emission.token
                finish = emission.finish
        finally:
            self.cancel(ticket)

    def _compute(self, shares: Sequence[Share]) -> list[tuple[Ticket, Emission]]:
        logits = self._model.forward(batch_of(shares), self._cache)
        tickets = [share.ticket for share in shares if share.is_last]
        newest, rest = logits[: len(tickets)], logits[len(tickets) :]
        self._score_prompts(shares, rest)
        emissions = choose(newest, [ticket.request for ticket in tickets], [ticket.generator for ticket in tickets])
        chosen = list(zip(tickets, emissions, strict=True))
        self._fail((ticket for ticket, emission in chosen if emission is None), _not_numbers())
        return [(ticket, self._marked(ticket, emission)) for ticket, emission in chosen if emission is not None]

    def _score_prompts(self, shares: Iterable[Share], logits: Array) -> None:
        """Note what the model says of the prompts' tokens; logits [S, vocab] of the shares' scored positions."""
        rows = iter(logits)
        for ticket, position in ((share.ticket, position) for share in shares for position in share.scored):
            request = ticket.request
            told = score(next(rows), request.tokens[position + 1], request.top_logprobs)
            if told is None:
                self._fail([ticket], _not_numbers())
            else:
                ticket.scores.append(told)

    def _marked(self, ticket: Ticket, emission: Emission) -> Emission:
        return replace(
            emission,
            finish=self._finish(ticket, emission.token),
            cached_tokens=ticket.cached_tokens,
            prompt=() if ticket.emitted else tuple(ticket.scores),
        )

    def _finish(self, ticket: Ticket, token: int) -> Finish | None:
        most = ticket.request.max_tokens
        if most and token in self.tokenizer.eos_ids and not ticket.request.ignore_eos:
            return "stop"
        return "length" if ticket.emitted + 1 >= most else None

    def _record(
        self, shares: Sequence[Share], emissions: Iterable[tuple[Ticket, Emission]]
    ) -> list[tuple[Ticket, Emission]]:
        """Enter a step in the books; returns the emissions whose requests were not cancelled meanwhile."""
        with self._books:
            self._scheduler.complete(shares)
            kept = [(ticket, emission) for ticket, emission in emissions if ticket.number in self._tickets]
            self._emitted_tokens += sum(ticket.request.max_tokens > 0 for ticket, _ in kept)
            for ticket, emission in kept:
                if not ticket.emitted:
                    self._prompt_tokens += len(ticket.request.tokens)
                    self._cached_tokens += ticket.cached_tokens
                ticket.tokens.append(emission.token)
                if emission.finish is not None:
                    self._forget(ticket.number)
        return kept

    def _deliver(self, emissions: Iterable[tuple[Ticket, Emission]]) -> None:
        for ticket, emission in emissions:
            try:
                ticket.on_emission(emission)
            except Exception:  # noqa: BLE001 - a client's callback may raise anything
                _log.exception("the callback of request %d raised, so the request is cancelled", ticket.number)
                self.cancel(ticket.number)

    def _fail(self, tickets: Iterable[Ticket], error: Temp0Error) -> None:
        with self._books:
            failed = [ticket for ticket in tickets if self._forget(ticket.number)]
        for ticket in failed:
            if ticket.on_failure is not None:
                ticket.on_failure(error)

    def _forget(self, number: int) -> bool:
        """Take a request out of the books, which are locked; False if it is not in them."""
        ticket = self._tickets.pop(number, None)
        if ticket is not None:
            self._scheduler.remove(ticket)
        return ticket is not None

    def _work(self) -> None:
        while True:
            with self._books:
                self._books.wait_for(lambda: self._closed or self._tickets)
                if self._closed:
                    return
            try:
                self.step()
            except Exception:  # noqa: BLE001 - the thread is a door, and the requests were told
                _log.exception("a step failed, and with it the requests in it")


def _step_error(error: Exception) -> EngineError:
    failure = EngineError(f"the engine failed while computing this answer: {error!r}")
    failure.__cause__ = error
    return failure


def _not_numbers() -> EngineError:
    return EngineError("the model's logits after these tokens are not numbers: the weights do not bear this text")


def _closed_error() -> EngineError:
    return EngineError("the engine is closed; load another one")
