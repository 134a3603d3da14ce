"""Pricing against sides that a test scripts: what is asked, in which order, and what is kept when something fails."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from temp0.core.plan import Message, Prompt
from temp0.core.run import Failure, Question, Usage
from temp0.core.tax import tax
from temp0.core.tax_plan import READINGS, Step, TaxPlan
from temp0.core.tax_record import Machine, Measured, Side, Terms
from temp0.probe.streamed_chat import StreamedAnswer
from temp0.probe.timed_endpoint import Extras
from temp0.workflow.tax_side import OpenSide
from temp0.workflow.taxing import price

TEMPLATE_TOKENS = 20


@dataclass
class Scripted:
    """An endpoint that takes `token_s` for a token, as it says; `answer` may give another outcome for a question."""

    name: str
    token_s: float = 0.001
    answer: Callable[[Question, Extras, int], StreamedAnswer | Failure | None] = lambda *_: None
    asked: list[Question] = field(default_factory=list)
    extras: list[Extras] = field(default_factory=list)
    in_flight: int = 0
    peak: int = 0
    others: tuple["Scripted", ...] = ()
    met: int = 0

    async def ask(self, question: Question, extras: Extras) -> StreamedAnswer | Failure:
        self.asked.append(question)
        self.extras.append(extras)
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        self.met += sum(other.in_flight for other in self.others)
        await asyncio.sleep(0)
        self.in_flight -= 1
        return self.answer(question, extras, len(self.asked)) or self.usual(question)

    def usual(self, question: Question) -> StreamedAnswer:
        words = len(question.messages[0].content.split())
        return StreamedAnswer(
            text=f"{self.name} {question.messages[0].content[:20]}",
            first_s=0.5,
            last_s=0.5 + self.token_s * (question.max_tokens - 1),
            events=question.max_tokens,
            usage=Usage(prompt=words + TEMPLATE_TOKENS, completion=question.max_tokens, cached=0),
        )


@dataclass
class ScriptedServers:
    """Servers that are scripted endpoints."""

    stock: Scripted
    invariant: Scripted
    is_closed: bool = False
    opened_for: tuple[TaxPlan, float] | None = None

    @asynccontextmanager
    async def opened(self, plan: TaxPlan, *, timeout_s: float) -> AsyncIterator[tuple[OpenSide, ...]]:
        self.opened_for = (plan, timeout_s)
        try:
            yield (
                OpenSide(side=Side(name="stock", url="http://a", model="m"), endpoint=self.stock),
                OpenSide(side=Side(name="invariant", url="http://b", model="m"), endpoint=self.invariant),
            )
        finally:
            self.is_closed = True

    def terms(self, sides: tuple[Side, ...], machine: Machine, *, ignores_eos: bool) -> Terms:
        return Terms(sides=sides, machine=machine, cache="as-found", ignores_eos=ignores_eos)


def plan(**given: object) -> TaxPlan:
    prompts = tuple(
        Prompt(id=f"p{place}", messages=(Message(role="user", content=f"question {place}"),), n=1, max_tokens=1)
        for place in range(3)
    )
    usual = {"prompts": prompts, "in_flight": (1, 4), "rounds": 2, "max_tokens": 8, "ttft_tokens": 100}
    return TaxPlan(**{**usual, **given})  # type: ignore[arg-type]


def priced(
    stock: Scripted, invariant: Scripted, wanted: TaxPlan | None = None, on_step: Callable[[Step], None] | None = None
) -> Measured:
    servers = ScriptedServers(stock=stock, invariant=invariant)
    measured = asyncio.run(price(wanted or plan(), servers, on_step=on_step))
    assert servers.is_closed
    return measured


def refused(status: int, message: str) -> Failure:
    return Failure(reason=f"http-{status}", message=message, status=status)


def test_a_side_ten_times_slower_pays_a_tax_of_nine() -> None:
    rows = tax(priced(Scripted("a", token_s=0.001), Scripted("b", token_s=0.01))).rows
    assert [row.in_flight for row in rows] == [1, 4]
    assert all(row.token is not None and abs(row.token.tax.median - 9) < 1e-6 for row in rows)
    assert all(row.rounds == 2 for row in rows)
    assert rows[0].tokens_stock == 2 * 3 * 8


def test_both_sides_get_the_same_questions_and_never_at_the_same_time() -> None:
    stock, invariant = Scripted("a"), Scripted("b")
    stock.others, invariant.others = (invariant,), (stock,)
    priced(stock, invariant)
    fitting = 3

    def counted(endpoint: Scripted) -> Counter[str]:
        return Counter(one.messages[0].content for one in endpoint.asked)

    assert counted(invariant) <= counted(stock)
    assert len(stock.asked) - len(invariant.asked) <= fitting
    assert (stock.met, invariant.met) == (0, 0)
    assert (stock.peak, invariant.peak) == (4, 4)


def test_fresh_prompts_have_the_stated_length_by_the_servers_count_and_are_asked_once() -> None:
    stock = Scripted("a")
    measured = priced(stock, Scripted("b"))
    assert [one.prompt_tokens for one in measured.readings] == [100] * (2 * 2 * READINGS)
    long = [one.messages[0].content for one in stock.asked if len(one.messages[0].content) > 100]
    assert len(set(long)) == len(long)
    assert len({text.split()[0] for text in long}) > 1


def test_a_field_that_one_side_refuses_is_sent_to_neither() -> None:
    def strict(_: Question, extras: Extras, place: int) -> Failure | None:
        return refused(400, "unknown field ignore_eos") if extras.ignore_eos else None

    stock, invariant = Scripted("a"), Scripted("b", answer=strict)
    measured = priced(stock, invariant)
    assert not measured.terms.ignores_eos
    assert {extras.ignore_eos for extras in stock.extras[1:]} == {False}
    assert {extras.ignore_eos for extras in invariant.extras[1:]} == {False}
    assert tax(measured).exit_code == 0


def test_without_a_count_tokens_are_pieces_of_text_and_called_an_estimate() -> None:
    def silent(question: Question, _: Extras, place: int) -> StreamedAnswer:
        return StreamedAnswer(text="t", first_s=0.1, last_s=0.8, events=5, usage=Usage())

    measured = priced(Scripted("a", answer=silent), Scripted("b"))
    stock = [answer for burst in measured.bursts if burst.side == "stock" for answer in burst.answers]
    assert {(answer.tokens, answer.is_estimate) for answer in stock} == {(5, True)}
    assert {answer.token_s for answer in stock} == {(0.8 - 0.1) / 4}


def test_a_level_that_fails_is_measured_no_further_and_the_others_are() -> None:
    invariant = Scripted("b")
    invariant.answer = lambda *_: refused(429, "too many at once") if invariant.peak > 1 else None
    measured = priced(Scripted("a"), invariant, plan(in_flight=(1, 4), rounds=1))
    found = tax(measured)
    assert [row.in_flight for row in found.rows] == [1]
    assert (measured.faults[0].side, measured.faults[0].in_flight) == ("invariant", 4)
    assert "too many at once" in measured.faults[0].message
    assert found.exit_code == 4


def test_a_server_that_dies_midway_leaves_what_was_measured() -> None:
    stock = Scripted("a")
    stock.answer = lambda *_: Failure(reason="refused", message="cannot connect") if len(stock.asked) > 15 else None
    measured = priced(stock, Scripted("b"), plan(rounds=3))
    found = tax(measured)
    assert 1 <= found.rows[0].rounds < 3
    assert [fault.stops for fault in measured.faults] == [True]
    assert (found.is_finished, found.exit_code) == (False, 4)


def test_a_connection_cut_once_costs_nothing_but_the_step_again() -> None:
    stock = Scripted("a")
    stock.answer = lambda *_: Failure(reason="cut", message="closed") if len(stock.asked) == 9 else None
    measured = priced(stock, Scripted("b"))
    assert measured.faults == ()
    assert [row.rounds for row in tax(measured).rows] == [2, 2]


def test_a_side_that_never_answers_is_a_fault_and_nothing_is_priced() -> None:
    found = tax(priced(Scripted("a"), Scripted("b", answer=lambda *_: refused(500, "out of memory"))))
    assert (found.rows, found.exit_code) == ((), 3)
    assert found.measured.faults[0].message == "out of memory"


def test_ctrl_c_keeps_the_rounds_that_were_whole() -> None:
    async def go() -> Measured:
        task = asyncio.current_task()
        assert task is not None

        def stop_in_the_second_round(step: Step) -> None:
            if step.round == 1 and step.in_flight == 4:
                task.cancel()

        servers = ScriptedServers(stock=Scripted("a"), invariant=Scripted("b"))
        measured = await price(plan(rounds=3), servers, on_step=stop_in_the_second_round)
        assert servers.is_closed
        return measured

    measured = asyncio.run(go())
    found = tax(measured)
    assert measured.interrupted
    assert [(row.in_flight, row.rounds) for row in found.rows] == [(1, 2), (4, 1)]
    assert found.exit_code == 4
