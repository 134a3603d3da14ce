"""Carrying out a plan: order, pool, witnesses, stopping."""

import asyncio
import time
from dataclasses import dataclass, field, replace
from itertools import pairwise

import pytest

from temp0.core.plan import Cache, Condition, Message, Plan, Prompt
from temp0.core.run import Address, Attempt, Completion, Failure, Question, Sample
from temp0.probe.asking import NOT_WARM, PRIMING_ROUNDS, Asking, Past
from temp0.probe.endpoint import Answer, ColdMeans
from temp0.probe.filler import SAME_MAX_TOKENS, Fillers

ADDRESS = Address(url="scripted:", api="scripted", model="m")


@dataclass
class Scripted:
    """An endpoint that answers after so many turns of the loop, and notes what it sees."""

    turns: int = 3
    outcomes: list[Completion | Failure] = field(default_factory=list)
    tells: bool = True
    in_flight: int = 0
    peak: int = 0
    asked: list[Question] = field(default_factory=list)
    seen: list[tuple[str, int]] = field(default_factory=list)
    address: Address = ADDRESS
    refusals: list[Failure | None] = field(default_factory=list)
    resets: list[tuple[int, int]] = field(default_factory=list)

    can_logprobs: bool = True

    async def complete(self, question: Question) -> Answer:
        self.asked.append(question)
        self.in_flight += 1
        place = len(self.asked) - 1
        try:
            for turn in range(self.turns + place % 3):
                await asyncio.sleep(0)
                if turn == self.turns - 1:
                    self.seen.append((question.messages[0].content, self.in_flight))
        finally:
            self.in_flight -= 1
        outcome = self.outcomes[place] if place < len(self.outcomes) else Completion(text="yes")
        return Answer(outcome=outcome)

    async def running(self) -> float | None:
        return float(self.in_flight) if self.tells else None

    async def cold_means(self) -> ColdMeans:
        return ColdMeans(server="scripted", by="POST /forget", is_reset=True)

    async def make_cold(self) -> Failure | None:
        self.resets.append((len(self.asked), self.in_flight))
        return self.refusals.pop(0) if self.refusals else None

    async def close(self) -> None:
        """Nothing to give back."""


def prompt(name: str = "p", n: int = 4, max_tokens: int = 50) -> Prompt:
    return Prompt(id=name, messages=(Message(role="user", content=name),), n=n, max_tokens=max_tokens)


def sitting(plan: Plan, endpoint: Scripted, **options: object) -> tuple[Asking, list[Attempt], list[Sample]]:
    attempts: list[Attempt] = []
    samples: list[Sample] = []
    ticks = iter(range(1_000_000))
    asking = Asking(
        endpoint=endpoint,
        fillers=Fillers(plan.prompts, plan.seed),
        clock=lambda: next(ticks) / 1000,
        on_attempt=attempts.append,
        on_sample=samples.append,
        **options,  # type: ignore[arg-type]
    )
    asyncio.run(asking.ask(plan.blocks()))
    return asking, attempts, samples


def plan_of(*prompts: Prompt, company: tuple[int, ...] = (1, 3), filler: str = "same", seed: int = 0) -> Plan:
    conditions = tuple(Condition(company=k, filler=filler if k > 1 else "same") for k in company)  # type: ignore[arg-type]
    return Plan(prompts=prompts, conditions=conditions, seed=seed)


def test_every_planned_attempt_is_made_once() -> None:
    plan = plan_of(prompt("a"), prompt("b", n=7))
    _, attempts, _ = sitting(plan, Scripted())
    judged = [(one.prompt, one.condition) for one in attempts if one.role == "judged"]
    assert {pair: judged.count(pair) for pair in judged} == {
        ("a", "alone"): 4, ("a", "company 3"): 4, ("b", "alone"): 7, ("b", "company 3"): 7,
    }  # fmt: skip


def test_an_attempt_alone_has_nothing_of_ours_beside_it() -> None:
    _, attempts, _ = sitting(plan_of(prompt("a"), prompt("b")), Scripted())
    for alone in (one for one in attempts if one.condition == "alone"):
        others = [one for one in attempts if one is not alone]
        assert alone.in_flight == 1
        assert not any(one.started_s < alone.ended_s and alone.started_s < one.ended_s for one in others)


def test_the_pool_stays_full_until_the_last_judged_attempt_is_done() -> None:
    endpoint = Scripted()
    sitting(plan_of(prompt("a", n=7), company=(5,)), endpoint)
    judged_and_fillers = [count for _, count in endpoint.seen[:7]]
    assert judged_and_fillers == [5] * 7


def test_a_pool_larger_than_what_is_judged_is_filled_from_the_start() -> None:
    _, attempts, _ = sitting(plan_of(prompt("a", n=2), company=(6,)), Scripted())
    assert [one.role for one in sorted(attempts, key=lambda one: one.order)[:6]] == ["judged"] * 2 + ["filler"] * 4


def test_consecutive_blocks_of_one_pool_never_have_judged_attempts_of_two_blocks_in_flight() -> None:
    _, attempts, _ = sitting(plan_of(prompt("a", n=12), company=(3,)), Scripted())
    judged = [one for one in attempts if one.role == "judged"]
    assert len({one.block for one in judged}) == 4
    for one in judged:
        for other in judged:
            if one.block != other.block:
                assert one.ended_s < other.started_s or other.ended_s < one.started_s


def test_mixed_company_has_one_judged_attempt_in_flight_at_a_time() -> None:
    _, attempts, _ = sitting(plan_of(prompt("a", n=5), prompt("b", n=1), company=(4,), filler="mixed"), Scripted())
    judged = sorted((one for one in attempts if one.prompt == "a" and one.role == "judged"), key=lambda one: one.order)
    fillers = [one for one in attempts if one.role == "filler" and one.block in {each.block for each in judged}]
    assert len(judged) == 5
    assert all(before.ended_s < after.started_s for before, after in pairwise(judged))
    assert fillers
    assert all(one.prompt != "a" for one in fillers)


def test_fillers_of_the_same_prompt_are_cut_short() -> None:
    endpoint = Scripted()
    sitting(plan_of(prompt("a", n=2), company=(4,)), endpoint)
    assert {question.max_tokens for question in endpoint.asked} == {50, SAME_MAX_TOKENS}


def test_twins_that_end_together_are_followed_by_no_filler() -> None:
    class Together(Scripted):
        async def complete(self, question: Question) -> Answer:
            self.asked.append(question)
            await asyncio.sleep(0.3 if len(self.asked) <= 4 else 0)
            return Answer(outcome=Completion(text="yes"))

    endpoint = Together()
    plan = plan_of(prompt("a", n=4), company=(4,))
    attempts: list[Attempt] = []
    loop_clock = time.perf_counter
    asking = Asking(
        endpoint=endpoint, fillers=Fillers(plan.prompts, 0), clock=loop_clock, on_attempt=attempts.append,
        on_sample=lambda _sample: None,
    )  # fmt: skip
    asyncio.run(asking.ask(plan.blocks()))
    assert [one.role for one in attempts] == ["judged"] * 4


def test_orders_are_consecutive_and_name_their_predecessor() -> None:
    _, attempts, _ = sitting(plan_of(prompt("a")), Scripted())
    ordered = sorted(attempts, key=lambda one: one.order)
    assert [one.order for one in ordered] == list(range(len(attempts)))
    assert [one.predecessor for one in ordered] == [None, *range(len(attempts) - 1)]


def test_a_resumed_sitting_goes_on_counting() -> None:
    _, attempts, _ = sitting(plan_of(prompt("a"), company=(1,)), Scripted(), past=Past(attempts=10))
    assert min(one.order for one in attempts) == 10
    assert min(attempts, key=lambda one: one.order).predecessor == 9


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_refusal_before_any_completion_ends_the_sitting(status: int) -> None:
    refusal = Failure(reason=f"http-{status}", message="no", status=status)
    asking, attempts, _ = sitting(plan_of(prompt("a", n=9), company=(1,)), Scripted(outcomes=[refusal]))
    assert asking.stopped == refusal
    assert len(attempts) == 1


@pytest.mark.parametrize("status", [400, 429, 500])
def test_other_failures_do_not_end_the_sitting(status: int) -> None:
    failure = Failure(reason=f"http-{status}", message="no", status=status)
    asking, attempts, _ = sitting(plan_of(prompt("a", n=9), company=(1,)), Scripted(outcomes=[failure] * 9))
    assert asking.stopped is None
    assert len(attempts) == 9


def test_a_refusal_after_a_completion_is_only_a_failure() -> None:
    refusal = Failure(reason="http-404", message="no", status=404)
    outcomes: list[Completion | Failure] = [Completion(text="yes"), refusal]
    asking, attempts, _ = sitting(plan_of(prompt("a", n=9), company=(1,)), Scripted(outcomes=outcomes))
    assert asking.stopped is None
    assert len(attempts) == 9


def test_the_limit_of_requests_counts_fillers() -> None:
    endpoint = Scripted()
    asking, _, _ = sitting(plan_of(prompt("a", n=30), company=(4,)), endpoint, max_requests=11)
    assert len(endpoint.asked) == 11
    assert asking.stopped is not None
    assert asking.stopped.reason == "max-requests"


def test_the_servers_count_is_sampled_while_the_pool_runs() -> None:
    _, attempts, samples = sitting(plan_of(prompt("a", n=6), company=(6,)), Scripted())
    assert {sample.block for sample in samples} == {one.block for one in attempts}
    assert all(sample.running == 6 for sample in samples)


def test_a_count_from_before_our_requests_arrived_is_not_kept() -> None:
    class Late(Scripted):
        async def running(self) -> float | None:
            return 0.0 if self.in_flight else None

    _, _, samples = sitting(plan_of(prompt("a", n=6), company=(6,)), Late())
    assert samples == []


def test_a_count_that_comes_back_after_the_block_is_not_kept() -> None:
    class Slow(Scripted):
        async def running(self) -> float | None:
            counted = float(self.in_flight)
            while self.in_flight:
                await asyncio.sleep(0)
            return counted

    _, _, samples = sitting(plan_of(prompt("a", n=6), company=(6,)), Slow())
    assert samples == []


@pytest.mark.parametrize("reason", ["refused", "tls"])
def test_where_no_server_answers_the_sitting_ends(reason: str) -> None:
    nobody: list[Completion | Failure] = [Failure(reason=reason, message="no")] * 9
    asking, attempts, _ = sitting(plan_of(prompt("a", n=9), company=(1,)), Scripted(outcomes=nobody))
    assert asking.stopped is not None
    assert len(attempts) == 1


def test_a_server_that_tells_no_count_gives_no_sample() -> None:
    _, _, samples = sitting(plan_of(prompt("a", n=6), company=(2,)), Scripted(tells=False))
    assert samples == []


def test_cancelling_records_what_was_in_flight_as_interrupted() -> None:
    plan = plan_of(prompt("a", n=3), company=(3,))
    attempts: list[Attempt] = []
    asking = Asking(
        endpoint=Scripted(turns=10**9),
        fillers=Fillers(plan.prompts, 0),
        clock=lambda: 0.0,
        on_attempt=attempts.append,
        on_sample=lambda _sample: None,
    )

    async def interrupt() -> None:
        task = asyncio.create_task(asking.ask(plan.blocks()))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(interrupt())
    reasons = [one.outcome.reason for one in attempts if isinstance(one.outcome, Failure)]
    assert reasons == ["interrupted"] * 3


def test_an_error_of_the_recorder_ends_the_sitting_at_once() -> None:
    plan = plan_of(prompt("a", n=30), company=(3,))
    endpoint = Scripted()

    def refuse(attempt: Attempt) -> None:
        raise OSError("disk full")

    asking = Asking(
        endpoint=endpoint, fillers=Fillers(plan.prompts, 0), clock=lambda: 0.0, on_attempt=refuse,
        on_sample=lambda _sample: None,
    )  # fmt: skip
    with pytest.raises(OSError, match="disk full"):
        asyncio.run(asking.ask(plan.blocks()))
    assert len(endpoint.asked) <= 6


def cached(state: Cache, *, n: int = 3, company: int = 1, filler: str = "same") -> Plan:
    condition = Condition(company=company, filler=filler, cache=state)  # type: ignore[arg-type]
    return Plan(prompts=(prompt("a", n=n),), conditions=(condition,))


def in_order(attempts: list[Attempt]) -> list[Attempt]:
    return sorted(attempts, key=lambda one: one.order)


@pytest.mark.parametrize("company", [1, 3])
def test_the_cache_is_emptied_before_each_cold_block_with_nothing_in_flight(company: int) -> None:
    endpoint = Scripted()
    _, attempts, _ = sitting(cached("cold", n=3 * company, company=company), endpoint, resets=True)
    assert len(endpoint.resets) == len({one.block for one in attempts}) == 3
    assert [in_flight for _, in_flight in endpoint.resets] == [0, 0, 0]
    begun = [next(one.order for one in in_order(attempts) if one.block == block) for block in range(3)]
    assert [asked for asked, _ in endpoint.resets] == sorted(begun)


def test_cold_blocks_that_are_emptied_for_do_not_share_a_pool() -> None:
    _, attempts, _ = sitting(cached("cold", n=12, company=3), Scripted(), resets=True)
    spans = [[one for one in attempts if one.block == block] for block in range(4)]
    for before, after in pairwise(sorted(spans, key=lambda span: min(one.order for one in span))):
        assert max(one.ended_s for one in before) < min(one.started_s for one in after)


def test_cold_questions_need_no_emptying_and_say_it_themselves_fillers_included() -> None:
    endpoint = Scripted()
    sitting(cached("cold", n=2, company=4), endpoint)
    assert endpoint.resets == []
    assert len(endpoint.asked) > 2
    assert {question.cache for question in endpoint.asked} == {"cold"}


def test_a_server_that_will_not_forget_stops_the_sitting_before_anything_passes_for_cold() -> None:
    refusal = Failure(reason="not-cold", message="requests are running")
    endpoint = Scripted(refusals=[None, refusal])
    asking, attempts, _ = sitting(cached("cold", n=5), endpoint, resets=True)
    assert asking.stopped == refusal
    assert len(attempts) == 1


@pytest.mark.parametrize("filler", ["same", "mixed"])
@pytest.mark.parametrize("company", [1, 4])
def test_a_warm_block_begins_when_as_many_primers_as_its_company_are_answered(company: int, filler: str) -> None:
    plan = cached("warm", n=2 * company, company=company, filler=filler if company > 1 else "same")
    _, attempts, _ = sitting(plan, Scripted())
    for block in {one.block for one in attempts}:
        ours = in_order([one for one in attempts if one.block == block])
        primers, rest = ours[:company], ours[company:]
        assert {(one.role, one.prompt) for one in primers} == {("filler", "a")}
        assert [one.in_flight for one in primers] == list(range(1, company + 1))
        assert max(one.ended_s for one in primers) < min(one.started_s for one in rest)
        assert rest[0].role == "judged"
        assert rest[0].in_flight == 1
        assert rest[0].predecessor == primers[-1].order


def test_a_primer_asks_the_judged_question_for_one_token() -> None:
    endpoint = Scripted()
    sitting(cached("warm", n=1), endpoint)
    primer, judged = endpoint.asked
    assert primer == replace(judged, max_tokens=1)
    assert judged.cache == "warm"


def test_as_found_sends_nothing_extra() -> None:
    endpoint = Scripted()
    _, attempts, _ = sitting(cached("as-found", n=5), endpoint, resets=True)
    assert [one.role for one in attempts] == ["judged"] * 5
    assert endpoint.resets == []
    assert {question.cache for question in endpoint.asked} == {"as-found"}


def test_the_limit_of_requests_counts_primers() -> None:
    endpoint = Scripted()
    asking, _, _ = sitting(cached("warm", n=30), endpoint, max_requests=7)
    assert len(endpoint.asked) == 7
    assert asking.stopped is not None
    assert asking.stopped.reason == "max-requests"


def test_primers_that_fail_are_sent_again_each_with_its_own_record() -> None:
    slow = Failure(reason="http-429", message="slow down", status=429)
    outcomes: list[Completion | Failure] = [Completion(text="x"), slow, slow, slow, Completion(text="x")]
    asking, attempts, _ = sitting(cached("warm", n=3, company=3), Scripted(outcomes=outcomes))
    assert asking.stopped is None
    primers = [one for one in in_order(attempts)[:6] if one.role == "filler"]
    assert [isinstance(one.outcome, Completion) for one in primers] == [True, False, False, False, True, True]
    assert [one.role for one in in_order(attempts)[6:9]] == ["judged"] * 3


def test_where_no_primer_is_answered_nothing_passes_for_warm() -> None:
    outcomes: list[Completion | Failure] = [Failure(reason="http-500", message="oops", status=500)] * 99
    asking, attempts, _ = sitting(cached("warm", n=5, company=2), Scripted(outcomes=outcomes))
    assert [one.role for one in attempts] == ["filler"] * 2 * PRIMING_ROUNDS
    assert asking.stopped is not None
    assert asking.stopped.reason == NOT_WARM
    assert "oops" in asking.stopped.message


def test_a_refusal_of_the_first_primer_ends_the_sitting() -> None:
    refusal = Failure(reason="http-401", message="no", status=401)
    asking, attempts, _ = sitting(cached("warm", n=5), Scripted(outcomes=[refusal]))
    assert asking.stopped == refusal
    assert len(attempts) == 1


def test_primers_in_flight_are_recorded_when_the_sitting_is_cancelled() -> None:
    plan = cached("warm", n=3, company=3)
    attempts: list[Attempt] = []
    asking = Asking(
        endpoint=Scripted(turns=10**9), fillers=Fillers(plan.prompts, 0), clock=lambda: 0.0,
        on_attempt=attempts.append, on_sample=lambda _sample: None,
    )  # fmt: skip

    async def interrupt() -> None:
        task = asyncio.create_task(asking.ask(plan.blocks()))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(interrupt())
    reasons = [one.outcome.reason for one in attempts if isinstance(one.outcome, Failure)]
    assert reasons == ["interrupted"] * 3
    assert {one.role for one in attempts} == {"filler"}


def test_no_sample_is_taken_while_only_primers_run() -> None:
    _, attempts, samples = sitting(cached("warm", n=6, company=6), Scripted())
    judged_from = min(one.started_s for one in attempts if one.role == "judged")
    assert samples
    assert all(sample.at_s > judged_from for sample in samples)
