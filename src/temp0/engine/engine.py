"""A model at work: requests come in from any thread, and one thread at a time steps all of them together.

Two locks: one for the requests' books, held only for moments, and one for a whole step, so that forward passes never
overlap. Clients are called back with neither the books locked nor a forward pass waiting on them, and may submit or
cancel from there. A request always ends: with a finished emission, or with its failure told, or cancelled.
"""

from __future__ import annotations

import hashlib
import itertools
import logging
import math
import queue
import threading
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Self

from temp0.core.plan import Message
from temp0.engine.arithmetic import arithmetic as arithmetic_of
from temp0.engine.chat import ChatTemplate
from temp0.engine.checkpoint import Checkpoint
from temp0.engine.gguf_file import read_gguf
from temp0.engine.kv_cache import KvCache
from temp0.engine.model import Model
from temp0.engine.request import Emission, Finish, Request
from temp0.engine.sampling import choose
from temp0.engine.scheduler import Scheduler, Share, Ticket, batch_of
from temp0.engine.tokenizer import TextDecoder, Tokenizer
from temp0.errors import RequestError, Temp0Error, UsageError

_log = logging.getLogger(__name__)


class Engine:
    """A loaded model with its queue, cache and tokenizer; `Engine.load` makes one from a file.

    Call `step` yourself, or `start` a thread that does; `close` ends either. All methods are thread-safe.
    `context_tokens` is the most that a prompt and its answer can have together, whatever the cache can hold.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        *,
        weights_sha256: str,
        arithmetic: str = "stock",
        activations: str = "bf16",
        threads: int | None = None,
        kv_tokens: int = 16384,
        max_running: int = 32,
        chunk_tokens: int = 256,
        queue: int = 64,
    ) -> None:
        """UsageError for an argument that cannot be right, ModelError for a model that cannot be served."""
        settings = checkpoint.settings
        self.name = checkpoint.name
        self.arithmetic = arithmetic
        self.fingerprint = _fingerprint(weights_sha256, arithmetic, activations)
        self.context_tokens = settings.context
        self.tokenizer = Tokenizer(checkpoint.vocabulary)
        self.chat = _chat_template(checkpoint)
        self._cache = KvCache(settings, tokens=kv_tokens, slots=max_running)
        self._scheduler = Scheduler(self._cache, chunk_tokens=chunk_tokens, queue=queue)
        calculation = arithmetic_of(arithmetic, activations=activations, threads=threads)
        rows = min(max_running + chunk_tokens, kv_tokens)
        self._model = Model(checkpoint, calculation, rows=rows, wanted=max_running)
        self._numbers = itertools.count(1)
        self._tickets: dict[int, Ticket] = {}
        self._emitted_tokens = 0
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
        threads: int | None = None,
        kv_tokens: int = 16384,
        max_running: int = 32,
        chunk_tokens: int = 256,
        queue: int = 64,
    ) -> Self:
        """The engine of a GGUF file of the llama architecture.

        `activations` are rounded to "bf16" between operations or kept "fp32"; `threads` is every usable core unless
        stated; `kv_tokens` is what the cache holds in all; `max_running` requests run at once; a step reads up to
        `chunk_tokens` of prompts; `queue` requests may wait. Raises ModelError and UsageError.
        """
        return cls(
            read_gguf(weights),
            weights_sha256=_sha256(weights),
            arithmetic=arithmetic,
            activations=activations,
            threads=threads,
            kv_tokens=kv_tokens,
            max_running=max_running,
            chunk_tokens=chunk_tokens,
            queue=queue,
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
    def free_tokens(self) -> int:
        """Positions of the cache that no request holds."""
        with self._books:
            return self._cache.free_tokens

    def submit(
        self,
        request: Request,
        on_emission: Callable[[Emission], None],
        *,
        on_failure: Callable[[Temp0Error], None] | None = None,
    ) -> int:
        """Queue a request and return its ticket.

        `on_emission` is called once per token by whoever steps, the last time with `finish` set. `on_failure` is
        called instead, at most once, if the request can no longer be answered: a step failed, or the engine closed.
        Raises RequestError for a request that cannot be served here, QueueFullError when the queue has no room.
        """
        self._check(request)
        ticket = Ticket(
            number=next(self._numbers), request=request, on_emission=on_emission, on_failure=on_failure
        )
        with self._books:
            if self._closed:
                raise _closed_error()
            self._scheduler.enqueue(ticket)
            self._tickets[ticket.number] = ticket
            self._books.notify_all()
        return ticket.number

    def cancel(self, ticket: int) -> None:
        """Forget a request and free its slot and pages; nothing happens if it has ended.

        An emission that is being delivered at this moment may still arrive.
        """
        with self._books:
            self._forget(ticket)

    def step(self) -> bool:
        """Compute one batch and deliver its emissions; False when there was nothing to do.

        If the computation fails, the requests in the batch are told so and the error is raised.
        """
        with self._stepping:
            with self._books:
                shares = self._scheduler.next_shares()
            if not shares:
                return False
            try:
                emissions = self._compute(shares)
            except Exception as error:
                self._fail([share.ticket for share in shares], _step_error(error))
                raise
            with self._books:
                emissions = [self._record(ticket, emission) for ticket, emission in emissions] ...
            return True
