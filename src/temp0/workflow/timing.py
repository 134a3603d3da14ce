"""Takes one step of a price: asks one side and times what comes.

A step is whole or it is a fault: figures with a failure in them would not be of the same work. A step whose
connection was cut is taken once more, since a server may close one that was idle.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass

from temp0.core.plan import Prompt
from temp0.core.run import Failure, Question
from temp0.core.tax_plan import SideName, Step, TaxPlan
from temp0.core.tax_record import Burst, Fault, Reading, Timed
from temp0.core.text import sha256
from temp0.probe.dialect.reason import CUT
from temp0.probe.streamed_chat import StreamedAnswer
from temp0.probe.timed_endpoint import Extras
from temp0.workflow.passage import fitted_words, passage
from temp0.workflow.tax_side import OpenSide

_TRIAL_TOKENS = 2


@dataclass(slots=True, kw_only=True)
class Timing:
    """The sides with what all of them are sent; `words` is the length of a fresh prompt."""

    plan: TaxPlan
    sides: dict[SideName, OpenSide]
    extras: Extras
    words: int

    async def prepare(self) -> Fault | None:
        """Have every side answer once, uncounted, and settle what is sent to all; the fault of one that will not.

        A field that one side refuses by name is sent to none, so that all do the same work.
        """
        for side in self.sides.values():
            question = _question(self.plan.prompts[0], _TRIAL_TOKENS)
            while isinstance(answer := await side.endpoint.ask(question, self.extras), Failure):
                fewer = self.extras.without(answer)
                if fewer is None:
                    return await side.fault(None, answer)
                self.extras = fewer
        stock = self.sides["stock"]
        words = await fitted_words(lambda question: stock.endpoint.ask(question, self.extras), self.plan.ttft_tokens)
        if isinstance(words, Failure):
            return await stock.fault(None, words)
        self.words = words
        return None

    async def take(self, step: Step) -> Burst | Reading | Fault:
        """Take one step."""
        taken = await self._taken(step)
        if isinstance(taken, Failure) and taken.reason == CUT:
            taken = await self._taken(step)
        return await self.sides[step.side].fault(step.in_flight, taken) if isinstance(taken, Failure) else taken

    async def _taken(self, step: Step) -> Burst | Reading | Failure:
        return await (self._reading(step) if step.in_flight is None else self._burst(step, step.in_flight))

    async def _reading(self, step: Step) -> Reading | Failure:
        question = passage(self.words, f"{step.round} {step.passage}")
        answer = await self.sides[step.side].endpoint.ask(question, self.extras)
        if isinstance(answer, Failure):
            return answer
        return Reading(
            round=step.round,
            side=step.side,
            seconds=answer.first_s,
            prompt_tokens=answer.usage.prompt,
            cached=answer.usage.cached,
        )

    async def _burst(self, step: Step, in_flight: int) -> Burst | Failure:
        """Keep `in_flight` requests under way until every prompt of the step is answered, or one has failed."""
        waiting = iter(self.plan.asked(step))
        begun = time.perf_counter()
        answered = await asyncio.gather(*(self._worker(step.side, waiting) for _ in range(in_flight)))
        seconds = time.perf_counter() - begun
        answers = [answer for worker in answered for answer in worker]
        failed = next((answer for _, answer in answers if isinstance(answer, Failure)), None)
        if failed:
            return failed
        timed = tuple(_timed(prompt, answer) for prompt, answer in answers if isinstance(answer, StreamedAnswer))
        return Burst(round=step.round, side=step.side, in_flight=in_flight, seconds=seconds, answers=timed)

    async def _worker(self, side: SideName, waiting: Iterator[Prompt]) -> list[tuple[Prompt, StreamedAnswer | Failure]]:
        endpoint = self.sides[side].endpoint
        answers: list[tuple[Prompt, StreamedAnswer | Failure]] = []
        for prompt in waiting:
            answer = await endpoint.ask(_question(prompt, self.plan.max_tokens), self.extras)
            answers.append((prompt, answer))
            if isinstance(answer, Failure):
                break
        return answers


def _question(prompt: Prompt, max_tokens: int) -> Question:
    return Question(messages=prompt.messages, max_tokens=max_tokens)


def _timed(prompt: Prompt, answer: StreamedAnswer) -> Timed:
    counted = answer.usage.completion
    tokens = answer.events if counted is None else counted
    decoding_s = answer.last_s - answer.first_s
    return Timed(
        prompt=prompt.id,
        sha256=sha256(answer.text),
        tokens=tokens,
        token_s=decoding_s / (tokens - 1) if tokens > 1 and decoding_s > 0 else None,
        cached=answer.usage.cached,
        is_estimate=counted is None,
    )
