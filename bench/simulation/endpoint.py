"""A whole simulated endpoint: a truth, its texts, what they come in, and perhaps a cache of answers before it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random
from typing import Literal

from simulation.agenda import Agenda
from simulation.envelope import Envelope
from simulation.server import Outcome, Request, Service
from simulation.truth import Truth
from simulation.writing import Writing
from temp0.core.run import Completion, Failure, Usage

PROMPT_TOKENS = 24
Mark = Literal["id", "header", "both", "none"]


@dataclass(slots=True, kw_only=True)
class Endpoint:
    """Answers as its truth wants; `faults` is the chance of a failure instead, whatever the text would have been."""

    truth: Truth
    writing: Writing
    envelope: Envelope
    random: Random
    faults: float = 0.0
    tells_cached: bool = False

    def begin(self, request: Request) -> None:
        """Let the truth decide what hangs on the beginning."""
        self.truth.begin(request)

    def answer(self, request: Request, now_s: float) -> Outcome:
        """The text that the truth wants, with all that comes with it."""
        variant = self.truth.variant(request)
        if self.random.random() < self.faults:
            return Failure(reason="http-429", message="HTTP 429: slow down", status=429)
        prompt, most = request.prompt.id, request.prompt.max_tokens
        words = self.writing.words(prompt, variant)
        told = self.envelope.told(request, now_s, self.random)
        cached = (PROMPT_TOKENS - 1) * request.is_warm if self.tells_cached else None
        return Completion(
            text=self.writing.text(prompt, variant, most),
            finish="length" if len(words) > most else "stop",
            tokens=self.writing.tokens(prompt, variant, most) if request.condition.logprobs else None,
            usage=Usage(prompt=PROMPT_TOKENS, completion=min(len(words), most), cached=cached),
            model=told.model,
            fingerprint=told.fingerprint,
            id=told.id,
            created=told.created,
            headers=told.headers,
        )


@dataclass(slots=True, kw_only=True)
class AnswerCache:
    """Gives the first answer to a question again and again, until it is `keeps_s` old, without asking the server.

    `mark` says how a replay can be known: by the old id and time of creation, by a header, by both or by nothing.
    """

    service: Service
    agenda: Agenda
    random: Random
    mark: Mark
    keeps_s: float
    _kept: dict[tuple[str, int, bool], tuple[float, Completion]] = field(default_factory=dict)

    def submit(self, request: Request, done: Callable[[Outcome], None]) -> None:
        """Replay, or ask the server and keep what it says."""
        key = (request.prompt.id, request.prompt.max_tokens, request.condition.logprobs)
        kept = self._kept.get(key)
        if kept is not None and self.agenda.now_s - kept[0] < self.keeps_s:
            replayed = self._marked(kept[1])
            self.agenda.after(self.random.uniform(0.004, 0.015), lambda: done(replayed))
            return

        def answered(outcome: Outcome) -> None:
            if isinstance(outcome, Completion):
                self._kept[key] = (self.agenda.now_s, outcome)
                outcome = self._with_header(outcome, "MISS")
            done(outcome)

        self.service.submit(request, answered)

    def _marked(self, kept: Completion) -> Completion:
        if self.mark in {"header", "none"}:
            kept = replace(kept, id=f"chatcmpl-{self.random.getrandbits(64):016x}", created=None)
        return self._with_header(kept, "HIT")

    def _with_header(self, answer: Completion, value: str) -> Completion:
        if self.mark not in {"header", "both"}:
            return answer
        return replace(answer, headers=tuple(sorted([*answer.headers, ("x-cache", value)])))
