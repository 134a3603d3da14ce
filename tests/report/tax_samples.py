"""Prices of every kind, made from hand-made records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from temp0.core.plan import Message, Prompt
from temp0.core.tax import Tax, tax
from temp0.core.tax_plan import SideName, TaxPlan
from temp0.core.tax_record import Burst, Fault, Machine, Measured, Reading, Side, Terms, Timed

PROMPTS = tuple(
    Prompt(id=name, messages=(Message(role="user", content=f"question {name}"),), n=1, max_tokens=8) for name in "ABCDE"
)
OURS = Terms(
    sides=(
        Side(name="stock", url=None, model="SmolLM2-135M-Instruct", arithmetic="stock", weight_dtype="fp32"),
        Side(name="invariant", url=None, model="SmolLM2-135M-Instruct", arithmetic="invariant", weight_dtype="bf16"),
        Side(name="equal-bytes", url=None, model="SmolLM2-135M-Instruct", arithmetic="invariant", weight_dtype="fp32"),
    ),
    machine=Machine(processor="A Processor", cores=2, load=0.4),
    cache="off",
    ignores_eos=True,
    activations="bf16",
    threads=2,
)
THEIRS = Terms(
    sides=(
        Side(name="stock", url="http://127.0.0.1:8000/v1", model="qwen"),
        Side(name="invariant", url="http://127.0.0.1:8001/v1", model="qwen"),
    ),
    machine=Machine(processor="A Processor", cores=2, load=None),
    cache="as-found",
    ignores_eos=True,
)


def made(
    *,
    speeds: Sequence[float] = (0.5, 0.52, 0.48),
    levels: Sequence[int] = (1, 8),
    equal_bytes: Sequence[int] = (8,),
    terms: Terms = OURS,
    stock_texts: int = 2,
    readings: bool = True,
    tokens: int = 8,
    is_estimate: bool = False,
    cached: int | None = 0,
) -> Tax:
    """A price whose invariant side takes `speeds` of the time of stock, a round each."""
    plan = TaxPlan(
        prompts=PROMPTS,
        in_flight=tuple(levels),
        rounds=len(speeds),
        max_tokens=8,
        ttft_tokens=512,
        equal_bytes=tuple(equal_bytes),
    )
    factors: dict[SideName, float] = {"stock": 0, "invariant": 1, "equal-bytes": 1.2}
    bursts = [
        Burst(
            round=step.round,
            side=step.side,
            in_flight=step.in_flight,
            seconds=(speeds[step.round] * factors[step.side] or 1) * step.in_flight**0.5,
            answers=tuple(
                Timed(
                    prompt=prompt.id,
                    sha256=f"{place % stock_texts if step.side == 'stock' and step.in_flight > 1 else 0}",
                    tokens=tokens,
                    token_s=(speeds[step.round] * factors[step.side] or 1) / 10,
                    cached=cached,
                    is_estimate=is_estimate,
                )
                for place, prompt in enumerate(plan.asked(step))
            ),
        )
        for step in plan.steps()
        if step.in_flight
    ]
    first = [
        Reading(
            round=step.round,
            side=step.side,
            seconds=speeds[step.round] * factors[step.side] or 1,
            prompt_tokens=512,
            cached=cached,
        )
        for step in plan.steps()
        if step.in_flight is None
    ]
    return tax(Measured(plan=plan, terms=terms, bursts=tuple(bursts), readings=tuple(first) if readings else ()))


def theirs() -> Tax:
    return made(terms=THEIRS, equal_bytes=(), speeds=(1.34, 1.35, 1.33))


def failed_at_eight() -> Tax:
    whole = made(levels=(1,), equal_bytes=()).measured
    fault = Fault(side="invariant", in_flight=8, reason="http-429", message="HTTP 429: slow \x1b down")
    return tax(replace(whole, plan=replace(whole.plan, in_flight=(1, 8)), faults=(fault,)))


def nothing() -> Tax:
    fault = Fault(side="stock", in_flight=None, reason="refused", message="cannot connect to 127.0.0.1:9", stops=True)
    return tax(replace(made().measured, bursts=(), readings=(), faults=(fault,)))


def interrupted() -> Tax:
    return tax(replace(made(speeds=(0.5,)).measured, interrupted=True))


def busy() -> Tax:
    whole = made().measured
    return tax(replace(whole, terms=replace(whole.terms, machine=replace(whole.terms.machine, load=5.2))))


def without_full_length() -> Tax:
    whole = made(terms=THEIRS, equal_bytes=(), tokens=6).measured
    return tax(replace(whole, terms=replace(whole.terms, ignores_eos=False)))


def in_one_piece() -> Tax:
    whole = made().measured
    bursts = tuple(
        replace(burst, answers=tuple(replace(answer, token_s=None) for answer in burst.answers))
        for burst in whole.bursts
    )
    return tax(replace(whole, bursts=bursts))


def broken_promise() -> Tax:
    whole = made().measured
    first = whole.bursts[0]
    changed = tuple(
        replace(burst, answers=(replace(burst.answers[0], sha256="other"), *burst.answers[1:]))
        if burst.side == "invariant" and burst.in_flight == 8 and burst.round == first.round
        else burst
        for burst in whole.bursts
    )
    return tax(replace(whole, bursts=changed))


ALL = (
    made,
    theirs,
    failed_at_eight,
    nothing,
    interrupted,
    busy,
    without_full_length,
    in_one_piece,
    broken_promise,
)
