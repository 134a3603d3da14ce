"""A made-up endpoint inside the process, for demos, tests and calibration: `fake:variants=3,rate=0.1,seed=7`.

It has one usual text for each prompt and, with a stated chance, one of some variants. What it answers depends only
on the seed, how it is asked, how many times this prompt was asked before, and its company; never on a clock. It has a
prefix cache: a prompt is cached once it was asked, but for cold questions, which neither use nor feed the cache. Its
settings, all of which may be left out:

    variants=3        other texts there are for a prompt
    rate=0            chance of one of them when alone
    company_rate=RATE the same in company, that is while other requests are in flight
    company_text=0    1: in company always one other text, which is never seen alone
    cold_text=0       1: one other text where the prompt was not cached
    observer_text=0   1: one other text where logprobs are asked for
    stream_text=0     1: one other text where the answer is streamed
    can_cold=1        0: no question can be cold
    length=24         words of a text; a word is a token, and max_tokens cuts
    fork=8            the word, counted from 0, at which the texts part
    margin=0.02       top-1 minus top-2 logprob at the fork, when logprobs are asked for
    delay_ms=0        how long an answer takes
    jitter_ms=0       up to so much longer, drawn anew for each answer
    serial=0          1: one request after the other, so that there is never any company
    tells=1           0: tell neither how many requests are running nor how many tokens were cached
    fail_rate=0       chance of a fault instead of an answer
    fault=http-500    which: http-STATUS, timeout, cut, not-json, null-content, or empty (an empty text)
    seed=0            what all draws begin from
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from contextlib import nullcontext
from random import Random

from temp0.core.run import Address, Alternative, Completion, Failure, Question, Token, Usage
from temp0.core.text import utf8
from temp0.probe.endpoint import Answer, ColdMeans, NoColdMeans
from temp0.probe.fake_setting import FakeSettings, fake_settings
from temp0.probe.fake_text import Branch, branch

_LIKELY = -0.05
_UNLIKELY = -3.5
_EVEN = math.log(0.5)


class FakeEndpoint:
    """The endpoint that `url` describes; the module says which settings there are.

    Raises:
        EndpointError: A setting that does not exist, or a value that it cannot have.

    """

    def __init__(self, url: str, *, model: str | None = None) -> None:
        self._settings = fake_settings(url)
        self._address = Address(url=url, api="fake", model=model or "fake")
        self._asked: Counter[str] = Counter()
        self._cached: set[str] = set()
        self._arrivals = 0
        self._in_flight = 0
        self._turn = asyncio.Lock() if self._settings.serial else nullcontext()

    @property
    def address(self) -> Address:
        """The settings as they were given."""
        return self._address

    @property
    def can_logprobs(self) -> bool:
        """It can."""
        return True

    async def complete(self, question: Question) -> Answer:
        """Wait as long as the settings say, then answer."""
        loop = asyncio.get_running_loop()
        sent = loop.time()
        prompt = "\n".join(f"{turn.role}: {turn.content}" for turn in question.messages)
        time_asked = self._asked[prompt]
        self._asked[prompt] += 1
        is_cached = self._look_up(prompt, question)
        async with self._turn:
            company = await self._wait(Random(f"{self._settings.seed}|{prompt}|{time_asked}|delay"))
        draw = Random(f"{self._settings.seed}|{prompt}|{time_asked}|{company}")
        outcome = self._fault(draw) or self._completion(question, prompt, company, is_cached, draw)
        return Answer(outcome=outcome, first_byte_s=loop.time() - sent)

    async def running(self) -> float | None:
        """How many requests are being answered, if the settings let it tell."""
        return float(self._in_flight) if self._settings.tells else None

    async def cold_means(self) -> ColdMeans | NoColdMeans:
        """A cold question leaves the cache out, if the settings let it."""
        if self._settings.can_cold:
            return ColdMeans(server="the simulated endpoint", by="cold questions", is_reset=False)
        return NoColdMeans(why="this simulated endpoint has can_cold=0")

    async def make_cold(self) -> Failure | None:
        """Nothing to empty: each question says for itself that it is cold."""
        return None

    async def close(self) -> None:
        """Nothing to give back."""

    def _look_up(self, prompt: str, question: Question) -> bool:
        """Whether the prompt is cached, which it is from now on unless the question is cold."""
        if question.cache == "cold":
            return False
        is_cached = prompt in self._cached
        self._cached.add(prompt)
        return is_cached

    async def _wait(self, draw: Random) -> int:
        """Be in flight for a while; the company there was, whoever came first."""
        self._arrivals += 1
        self._in_flight += 1
        arrivals, company = self._arrivals, self._in_flight
        try:
            await asyncio.sleep((self._settings.delay_ms + self._settings.jitter_ms * draw.random()) / 1000)
            was_joined = self._arrivals > arrivals
            return max(company, 2 if was_joined else 1)
        finally:
            self._in_flight -= 1

    def _fault(self, draw: Random) -> Completion | Failure | None:
        settings = self._settings
        if draw.random() >= settings.fail_rate:
            return None
        if settings.fault == "empty":
            return Completion(text="", finish="stop")
        status = int(settings.fault.removeprefix("http-")) if settings.fault.startswith("http-") else None
        return Failure(reason=settings.fault, message=f"a fault as ordered: {settings.fault}", status=status)

    def _completion(self, question: Question, prompt: str, company: int, is_cached: bool, draw: Random) -> Completion:
        settings = self._settings
        spoken = branch(settings, prompt, self._which(question, company, is_cached, draw))
        words = spoken.words[: question.max_tokens]
        size = len(prompt.split())
        return Completion(
            text="".join(words),
            finish="stop" if len(words) == settings.length else "length",
            tokens=_tokens(settings, spoken, len(words)) if question.logprobs else None,
            usage=Usage(
                prompt=size, completion=len(words), cached=(size if is_cached else 0) if settings.tells else None
            ),
            model=self._address.model,
            id=f"fake-{self._arrivals}",
        )

    def _which(self, question: Question, company: int, is_cached: bool, draw: Random) -> int:
        """Which text: 0 is the usual one, then the variants, and after them one for each cause that always has it."""
        settings = self._settings
        always = (
            settings.company_text and company > 1,
            settings.cold_text and not is_cached,
            settings.observer_text and question.logprobs,
            settings.stream_text and question.stream,
        )
        if any(always):
            return settings.variants + 1 + always.index(True)
        rate = settings.rate if company == 1 else settings.company_rate
        return draw.randint(1, settings.variants) if draw.random() < rate else 0


def _tokens(settings: FakeSettings, spoken: Branch, count: int) -> tuple[Token, ...]:
    return tuple(
        _token(word, spoken.rival, _EVEN, _EVEN - settings.margin)
        if place == settings.fork
        else _token(word, " perhaps", _LIKELY, _UNLIKELY)
        for place, word in enumerate(spoken.words[:count])
    )


def _token(word: str, other: str, logprob: float, other_logprob: float) -> Token:
    top = (
        Alternative(bytes=utf8(word), logprob=logprob),
        Alternative(bytes=utf8(other), logprob=other_logprob),
    )
    return Token(bytes=utf8(word), logprob=logprob, top=top)
