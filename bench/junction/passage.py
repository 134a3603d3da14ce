"""Answers alone and in company, by the built-in engine in stock arithmetic, read as positions passed and forks seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from junction.question import Question
from temp0.core.level import shared_length
from temp0.core.margin import own_margin
from temp0.core.plan import Message
from temp0.core.run import Alternative, Token
from temp0.engine import Emission, Engine, Request
from temp0.engine.builtin import builtin_weights

COMPANIES = (4, 8, 12, 24)
"""How many of the prompts are in flight together; each is answered once in each."""
CHUNK_TOKENS = 256


@dataclass(frozen=True, slots=True)
class Passed:
    """One token of an answer: which one, its lead over the second (nats), and whether company left the answer there."""

    token: int
    margin: float
    has_forked: bool


@dataclass(frozen=True, slots=True)
class Passage:
    """The tokens of one prompt's answer alone, as far as any company went along."""

    question: Question
    passed: tuple[Passed, ...]

    def first(self, tokens: int) -> Passage:
        """The same, of an answer that ends after so many tokens."""
        return Passage(self.question, tuple(one for one in self.passed if one.token < tokens))


def passages(questions: Sequence[Question], *, activations: str, threads: int, max_tokens: int) -> tuple[Passage, ...]:
    """Every prompt answered alone with logprobs, and then in each of `COMPANIES`."""
    limits = {"kv_tokens": 8192, "max_running": max(COMPANIES), "chunk_tokens": CHUNK_TOKENS}
    with Engine.load(builtin_weights(), activations=activations, threads=threads, **limits) as engine:
        prompts = [_request(engine, one, max_tokens) for one in questions]
        alone = [_answered(engine, [prompt])[0] for prompt in prompts]
        together = [
            [answer for at in range(0, len(prompts), k) for answer in _answered(engine, prompts[at : at + k])]
            for k in COMPANIES
        ]
        return tuple(
            Passage(question, _passed(engine, told, [answers[place] for answers in together]))
            for place, (question, told) in enumerate(zip(questions, alone, strict=True))
        )


def _request(engine: Engine, question: Question, max_tokens: int) -> Request:
    text = engine.chat.render([Message(role="user", content=question.text)])
    return Request(tokens=tuple(engine.tokenizer.encode(text)), max_tokens=max_tokens, logprobs=True, top_logprobs=2)


def _answered(engine: Engine, requests: Sequence[Request]) -> list[list[Emission]]:
    """What the engine says to requests that arrive together."""
    heard: list[list[Emission]] = [[] for _ in requests]
    for request, emissions in zip(requests, heard, strict=True):
        engine.submit(request, emissions.append)
    while engine.running or engine.waiting:
        engine.step()
    return heard


def _passed(engine: Engine, alone: list[Emission], others: Sequence[list[Emission]]) -> tuple[Passed, ...]:
    ours = [emission.token for emission in alone]
    parted = [shared_length(ours, [emission.token for emission in other]) for other in others]
    told = [(place, own_margin(_token(engine, emission))) for place, emission in enumerate(alone)]
    return tuple(
        Passed(place, margin, place in parted)
        for place, margin in told
        if isinstance(margin, float) and place <= max(parted)
    )


def _token(engine: Engine, emission: Emission) -> Token:
    top = tuple(Alternative(bytes=engine.tokenizer.bytes_of(token), logprob=value) for token, value in emission.top)
    return Token(bytes=engine.tokenizer.bytes_of(emission.token), logprob=emission.logprob, top=top)
