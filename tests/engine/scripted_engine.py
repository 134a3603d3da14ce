"""An engine with the public surface that the server needs, whose every answer is written down beforehand.

It speaks from a thread of its own, as the real one does. Token ids below 256 are bytes of the prompt; the script's
tokens follow; `END` ends an answer and has no bytes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from temp0.core.plan import Message
from temp0.engine.request import Emission, Request, Score
from temp0.errors import QueueFullError, RequestError, Temp0Error

FIRST = 256
END = 9999


@dataclass
class ScriptedTokenizer:
    script: tuple[bytes, ...]

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def placed(self, text: str) -> list[tuple[int, int]]:
        return [(byte, place) for place, character in enumerate(text) for byte in character.encode()]

    def bytes_of(self, token_id: int) -> bytes:
        if token_id == END:
            return b""
        if token_id >= FIRST + len(self.script):
            raise RequestError(f"token id {token_id} is outside the vocabulary")
        return bytes([token_id]) if token_id < FIRST else self.script[token_id - FIRST]


def scripted_scores(request: Request) -> tuple[Score, ...]:
    """Each token after the first is less likely than the one before it; the most likely one is the space."""
    top = tuple((ord(" ") + rank, -0.125 * (rank + 1)) for rank in range(request.top_logprobs))
    return tuple(
        Score(token=token, logprob=-0.5 * place, top=top) for place, token in enumerate(request.tokens) if place
    )


class PlainTemplate:
    def render(self, messages: Sequence[Message], *, opens_answer: bool = True) -> str:
        if any(message.content == "refuse me" for message in messages):
            raise RequestError("the chat template refuses these messages")
        return "".join(f"{message.role}:{message.content}\n" for message in messages) + (
            "" if opens_answer else "(shut)"
        )

    def begun(self, messages: Sequence[Message]) -> str:
        return self.render(messages[:-1]) + f"begun:{messages[-1].content}"


@dataclass
class ScriptedEngine:
    """`script` is the answer token by token. `stall_after` tokens it waits until cancelled; `fail_after`, it fails.

    `cached` tokens of every prompt are in its prefix cache, for requests that use it.
    """

    script: tuple[bytes, ...] = (b"Hel", b"lo", b" there", b"!")
    stall_after: int | None = None
    fail_after: int | None = None
    queue_full: bool = False
    cached: int = 0
    crash: Exception | None = None
    name: str = "scripted"
    fingerprint: str = "temp0-0123456789ab"
    context_tokens: int = 2000
    running: int = 0
    waiting: int = 0
    emitted_tokens: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    preemptions: int = 0
    free_tokens: int = 0
    kept_tokens: int = 0
    prefix_cache: bool = False
    resets: int = 0
    requests: list[Request] = field(default_factory=list)
    cancelled: list[int] = field(default_factory=list)
    ends: dict[int, threading.Event] = field(default_factory=dict)
    chat: PlainTemplate = field(default_factory=PlainTemplate)

    @property
    def tokenizer(self) -> ScriptedTokenizer:
        return ScriptedTokenizer(self.script)

    @property
    def text(self) -> str:
        return b"".join(self.script).decode("utf-8", "replace")

    def submit(
        self,
        request: Request,
        on_emission: Callable[[Emission], None],
        *,
        on_failure: Callable[[Temp0Error], None] | None = None,
    ) -> int:
        if self.queue_full:
            raise QueueFullError("the queue holds 0 requests already; try again later")
        if self.crash:
            raise self.crash
        ticket = len(self.requests)
        self.requests.append(request)
        self.ends[ticket] = threading.Event()
        self.running += 1
        arguments = (ticket, request, on_emission, on_failure)
        threading.Thread(target=self._answer, args=arguments, daemon=True).start()
        return ticket

    def cancel(self, ticket: int) -> None:
        self.cancelled.append(ticket)
        self.ends[ticket].set()

    def reset_prefix_cache(self) -> None:
        self.resets += 1

    def _answer(self, ticket, request, on_emission, on_failure) -> None:
        for place, emission in enumerate(self._emissions(request)):
            if place == self.fail_after:
                on_failure(Temp0Error("a secret detail of the failed step"))
                break
            if place == self.stall_after:
                self.ends[ticket].wait(30)
            if self.ends[ticket].is_set():
                break
            self.emitted_tokens += 1
            on_emission(emission)
        self.running -= 1

    def _emissions(self, request: Request) -> list[Emission]:
        tokens = [FIRST + place for place in range(len(self.script))] + [END]
        emissions = []
        cached = 0 if request.is_cold else self.cached
        scores = scripted_scores(request) if request.prompt_logprobs else ()
        for place, token in enumerate(tokens[: max(request.max_tokens, 1)]):
            last = place + 1 >= request.max_tokens
            finish = "stop" if token == END else "length" if last else None
            logprob = -0.25 * (place + 1) if request.logprobs else None
            top = tuple((FIRST, -1.0 - rank) for rank in range(request.top_logprobs))
            prompt = scores if not place else ()
            emissions.append(
                Emission(token=token, logprob=logprob, top=top, finish=finish, cached_tokens=cached, prompt=prompt)
            )
        return emissions
