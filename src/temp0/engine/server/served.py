"""What the server needs of an engine, its tokenizer and its template; the tests' fake engine has it too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from temp0.core.plan import Message
from temp0.engine.request import Emission, Request
from temp0.errors import Temp0Error


class ServedTokenizer(Protocol):
    """Text to token ids, and token ids to bytes (none for control tokens)."""

    def encode(self, text: str) -> list[int]:
        """The token ids of a text."""
        ...

    def placed(self, text: str) -> list[tuple[int, int]]:
        """The same ids, each with the character at which its token begins."""
        ...

    def bytes_of(self, token_id: int) -> bytes:
        """The bytes a token stands for."""
        ...


class ServedTemplate(Protocol):
    """Messages to the text the model reads."""

    def render(self, messages: Sequence[Message], *, opens_answer: bool = True) -> str:
        """The prompt text, ready for the model's turn unless that is not to be opened."""
        ...

    def begun(self, messages: Sequence[Message]) -> str:
        """The prompt text, ending where the last message does, which the model goes on from."""
        ...


class ServedEngine(Protocol):
    """The part of `Engine` that the server uses."""

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

    @property
    def prompt_tokens(self) -> int:
        """Tokens of all prompts read since the start."""
        ...

    @property
    def cached_tokens(self) -> int:
        """Those of them that the prefix cache had."""
        ...

    @property
    def preemptions(self) -> int:
        """How often a request had to give up its place for want of room."""
        ...

    @property
    def free_tokens(self) -> int:
        """Positions of the KV cache that no request holds."""
        ...

    @property
    def kept_tokens(self) -> int:
        """Those of them that the prefix cache keeps."""
        ...

    @property
    def prefix_cache(self) -> bool:
        """Whether prefixes are kept at all."""
        ...

    def reset_prefix_cache(self) -> None:
        """Forget every prefix."""
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
