"""What every handler of one application shares, and what the server needs of an engine.

Clock and ids are parameters, so that tests can fix them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from aiohttp import web

from temp0.core.plan import Message
from temp0.engine.request import Emission, Request
from temp0.engine.server.metrics import Outcomes
from temp0.errors import Temp0Error


class ServedTokenizer(Protocol):
    """Text to token ids, and token ids to bytes (none for control tokens)."""

    def encode(self, text: str) -> list[int]:
        """The token ids of a text."""
        ...

    def bytes_of(self, token_id: int) -> bytes:
        """The bytes a token stands for."""
        ...


class ServedTemplate(Protocol):
    """Messages to the text the model reads."""

    def render(self, messages: Sequence[Message]) -> str:
        """The prompt text, ready for the model's turn."""
        ...


class ServedEngine(Protocol):
    """The part of `Engine` that the server uses; the tests' fake engine has it too."""

    @property
    def name(self) -> str:
        """The model's name."""
        ...

    @property
    def fingerprint(self) -> str:
        """Which weights, arithmetic and version answer."""
        ...

    @property
    def context_tokens(self) -> int:
        """The most tokens of prompt and answer together."""
        ...

    @property
    def tokenizer(self) -> ServedTokenizer:
        """The model's tokenizer."""
        ...

    @property
    def chat(self) -> ServedTemplate:
        """The model's chat template."""
        ...

    @property
    def running(self) -> int:
        """Requests being worked on."""
        ...

    @property
    def waiting(self) -> int:
        """Requests queued."""
        ...

    @property
    def emitted_tokens(self) -> int:
        """Tokens generated since the start."""
        ...

    def submit(
        self,
        request: Request,
        on_emission: Callable[[Emission], None],
        *,
        on_failure: Callable[[Temp0Error], None] | None = None,
    ) -> int:
        """Queue a request; both are called from the engine's thread: once a token, or once when a step failed."""
        ...

    def cancel(self, ticket: int) -> None:
        """Stop working on a request and free its room."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """The engine behind the routes, the tally of outcomes, and where ids and times come from."""

    engine: ServedEngine
    outcomes: Outcomes
    default_max_tokens: int
    started: int
    new_id: Callable[[], str]
    clock: Callable[[], float]

    def now(self) -> int:
        """Seconds since 1970, whole, as both dialects write times."""
        return int(self.clock())


SERVICE = web.AppKey("service", Service)
