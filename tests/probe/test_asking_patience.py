"""Asking again: each time is an attempt of the same block, its place waits, and the others go on."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from temp0.core.plan import Condition, Message, Plan, Prompt
from temp0.core.run import Address, Attempt, Completion, Failure, Question
from temp0.probe.asking import Asking
from temp0.probe.endpoint import Again, Answer, NoColdMeans
from temp0.probe.filler import SAME_MAX_TOKENS, Fillers
from temp0.probe.patience import Pause

ADDRESS = Address(url="limited:", api="limited", model="m")
YES = Answer(outcome=Completion(text="yes"))
SLOW = Failure(reason="http-429", message="HTTP 429: slow down", status=429)


def busy(after_s: float | None = None) -> Answer:
    return Answer(outcome=SLOW, again=Again(after_s=after_s))


@dataclass
class Limited:
    """An endpoint that answers each judged question by what `answers` gives for its place, and fillers with yes."""

    answers: Callable[[int], Answer]
    asked: list[Question] = field(default_factory=list)
    judged: int = 0
    address: Address = ADDRESS
    can_logprobs: bool = True

    async def complete(self, question: Question) -> Answer:
        self.asked.append(question)
        if question.max_tokens == SAME_MAX_TOKENS:
            await asyncio.sleep(0)
            return YES
        self.judged += 1
        answer = self.answers(self.judged)
        for _ in range(5):
            await asyncio.sleep(0)
        return answer

    async def running(self) -> float | None:
        return None

    async def cold_means(self) -> NoColdMeans:
        return NoColdMeans(why="it has none")

    async def make_cold(self) -> Failure | None:
        return None

    async def close(self) -> None:
        """Nothing to give back."""


@dataclass
class Sleeper:
    """Sleeps as many turns of the loop as seconds, and notes them."""

    slept: list[float] = field(default_factory=list)
    woke: int = 0

    async def __call__(self, seconds: float) -> None:
        self.slept.append(seconds)
        for _ in range(int(seconds)):
            await asyncio.sleep(0)
        self.woke += 1


def plan(n: int, company: int) -> Plan:
    prompt = Prompt(id="p", messages=(Message(role="user", content="p"),), n=n, max_tokens=50)
    return Plan(prompts=(prompt,), conditions=(Condition(company=company),))


def asked(
    endpoint: Limited, *, n: int = 2, company: int = 1, **options: object
) -> tuple[Asking, list[Attempt], list[Pause], Sleeper]:
    attempts: list[Attempt] = []
    pauses: list[Pause] = []
    sleeper = Sleeper()
    ticks = iter(range(1_000_000))
    asking = Asking(
        endpoint=endpoint,
        fillers=Fillers(plan(n, company).prompts, 0),
        clock=lambda: next(ticks) / 1000,
        on_attempt=attempts.append,
        on_sample=lambda _: None,
        on_pause=pauses.append,
        sleep=sleeper,
        **options,  # type: ignore[arg-type]
    )
    asyncio.run(asking.ask(plan(n, company).blocks()))
    return asking, attempts, pauses, sleeper


def test_what_was_refused_is_asked_again_in_the_same_block_after_the_wait_that_was_named() -> None:
    _, attempts, pauses, sleeper = asked(Limited(lambda place: busy(7.0) if place == 1 else YES))
    assert [type(one.outcome).__name__ for one in attempts] == ["Failure", "Completion", "Completion"]
    assert attempts[0].block == attempts[1].block != attempts[2].block
    assert [one.order for one in attempts] == [0, 1, 2]
    assert sleeper.slept == [7.0]
    assert pauses == [Pause(seconds=7.0, why=SLOW)]


def test_patience_that_has_ended_is_not_begun_again_until_something_is_answered() -> None:
    _, attempts, _, sleeper = asked(Limited(lambda place: busy(40.0) if place < 7 else YES), n=8, patience_s=60.0)
    failures = [isinstance(one.outcome, Failure) for one in attempts]
    # the first is asked twice and given up, the next ones once each, and then it goes on
    assert failures == [True] * 6 + [False] * 3
    assert sleeper.slept == [40.0]


def test_without_patience_nothing_is_asked_again() -> None:
    _, attempts, pauses, _ = asked(Limited(lambda _: busy()), n=3, patience_s=0.0)
    assert len(attempts) == 3
    assert not pauses


def test_a_failure_that_will_not_pass_is_not_asked_again() -> None:
    failed = Answer(outcome=Failure(reason="http-500", message="HTTP 500: broken", status=500))
    _, attempts, pauses, _ = asked(Limited(lambda _: failed), n=3)
    assert len(attempts) == 3
    assert not pauses


def test_while_one_place_waits_the_others_go_on_and_a_record_shows_that_company_shrank() -> None:
    _, attempts, _, _ = asked(Limited(lambda place: busy(3.0) if place == 1 else YES), n=4, company=4)
    judged = [one for one in attempts if one.role == "judged"]
    assert len(judged) == 5
    assert {one.block for one in judged} == {0}
    again = max(judged, key=lambda one: one.order)
    meanwhile = [one.in_flight for one in attempts if 3 < one.order < again.order]
    assert meanwhile
    assert max(meanwhile) == 3


def test_no_filler_is_sent_while_nobody_is_in_flight_whom_it_could_keep_company() -> None:
    endpoint = Limited(lambda place: busy(500.0) if place == 2 else YES)
    _, attempts, _, _ = asked(endpoint, n=2, company=2, patience_s=1000.0)
    fillers = [one for one in attempts if one.role == "filler"]
    assert sum(isinstance(one.outcome, Completion) for one in attempts if one.role == "judged") == 2
    assert len(fillers) < 20  # 500 turns of the loop were waited


def test_a_filler_that_is_refused_waits_as_well_and_holds_nobody_up_at_the_end() -> None:
    class Fussy(Limited):
        async def complete(self, question: Question) -> Answer:
            answer = await super().complete(question)
            return busy(10_000.0) if question.max_tokens == SAME_MAX_TOKENS else answer

    endpoint = Fussy(lambda _: YES)
    _, attempts, pauses, sleeper = asked(endpoint, n=1, company=3)
    assert [one.role for one in attempts].count("filler") == 2
    assert not pauses
    assert (len(sleeper.slept), sleeper.woke) == (2, 0)


def test_a_retry_counts_towards_the_most_requests() -> None:
    asking, attempts, _, _ = asked(Limited(lambda _: busy(0.0)), n=2, max_requests=3)
    assert len(attempts) == 3
    assert asking.stopped is not None
    assert asking.stopped.reason == "max-requests"


def test_an_interruption_during_a_wait_loses_nothing() -> None:
    attempts: list[Attempt] = []

    async def go() -> None:
        waits = asyncio.Event()

        async def sleep(_: float) -> None:
            waits.set()
            await asyncio.Event().wait()

        asking = Asking(
            endpoint=Limited(lambda _: busy(5.0)),
            fillers=Fillers(plan(1, 1).prompts, 0),
            clock=lambda: 0.0,
            on_attempt=attempts.append,
            on_sample=lambda _: None,
            sleep=sleep,
        )
        work = asyncio.create_task(asking.ask(plan(1, 1).blocks()))
        await waits.wait()
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        assert work.cancelled()

    asyncio.run(go())
    assert [one.outcome for one in attempts] == [SLOW]


def test_a_refused_temperature_stops_the_sitting_also_after_completions() -> None:
    refused = Failure(reason="http-400", message="HTTP 400: no temperature", status=400)
    endpoint = Limited(lambda place: Answer(outcome=refused, stop="go on with --not-greedy") if place == 3 else YES)
    asking, attempts, _, _ = asked(endpoint, n=9)
    assert len(attempts) == 3
    assert asking.stopped is not None
    assert asking.stopped.message == "HTTP 400: no temperature; go on with --not-greedy"
    assert attempts[-1].outcome == refused


def test_a_plan_that_is_not_greedy_asks_questions_that_are_not() -> None:
    endpoint = Limited(lambda _: YES)
    asked(endpoint, greedy=False)
    assert not any(question.greedy for question in endpoint.asked)


def test_a_question_that_goes_out_as_another_body_takes_none_of_the_patience() -> None:
    rewritten = Answer(
        outcome=Failure(reason="http-400", message="HTTP 400: unknown field", status=400),
        again=Again(after_s=0.0, is_rewritten=True),
    )
    told = [rewritten, rewritten, rewritten, busy(10.0), YES, YES]
    _, attempts, _, sleeper = asked(Limited(lambda place: told[place - 1]), patience_s=10.0)
    assert [isinstance(one.outcome, Failure) for one in attempts] == [True] * 4 + [False] * 2
    assert sleeper.slept == [0.0, 0.0, 0.0, 10.0]
    _, impatient, _, _ = asked(Limited(lambda place: rewritten if place < 4 else YES), patience_s=0.0)
    assert [isinstance(one.outcome, Failure) for one in impatient] == [True] * 3 + [False] * 2
