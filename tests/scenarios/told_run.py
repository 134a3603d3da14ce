"""Runs without a server, for what needs none: each answer told, alone, or in company with its times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from temp0.core.plan import Condition, Message, Plan, Prompt
from temp0.core.run import Address, Alternative, Attempt, Completion, Role, Run, Token

ALONE = Condition()


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """One attempt in a block: when it ran, with how many of ours in flight, and what it was for."""

    start_s: float
    end_s: float
    in_flight: int
    role: Role = "judged"


def told_run(answers: Sequence[Completion], *, condition: Condition = ALONE) -> Run:
    """Tell answers of one prompt, one after another, each in a block alone."""
    asked = _prompt(len(answers))
    attempts = [
        _attempt(order, condition, order, Shift(start_s=order, end_s=order + 0.9, in_flight=1), answer)
        for order, answer in enumerate(answers)
    ]
    return _run(Plan(prompts=(asked,), conditions=(condition,)), attempts)


def run_in_company(
    company: Condition, blocks: Sequence[Sequence[Shift]], *, alone: int = 4, answer: Completion | None = None
) -> Run:
    """Tell a run whose answers alone take a second each, then blocks in company with these times."""
    answer = answer or Completion(text="One.", finish="stop")
    judged = sum(shift.role == "judged" for block in blocks for shift in block)
    plan = Plan(prompts=(_prompt(judged),), conditions=(Condition(n=alone), company))
    attempts = [
        _attempt(order, ALONE, order, Shift(start_s=order, end_s=order + 1, in_flight=1), answer)
        for order in range(alone)
    ]
    for block, shifts in enumerate(blocks, start=alone):
        for shift in shifts:
            attempts.append(_attempt(len(attempts), company, block, shift, answer))
    return _run(plan, attempts)


def tokens(*told: tuple[str, float | None, Mapping[str, float]]) -> tuple[Token, ...]:
    """Make tokens of a text, its logprob and those of the others that could have been chosen."""
    return tuple(
        Token(
            bytes=text.encode(),
            logprob=logprob,
            top=()
            if logprob is None
            else tuple(
                Alternative(bytes=other.encode(), logprob=value) for other, value in {text: logprob, **others}.items()
            ),
        )
        for text, logprob, others in told
    )


def answered(sequence: Sequence[Token]) -> Completion:
    """Make the completion that these tokens spell."""
    return Completion(text=b"".join(token.bytes for token in sequence).decode(), finish="stop", tokens=tuple(sequence))


def _prompt(n: int) -> Prompt:
    return Prompt(id="p1", messages=(Message(role="user", content="Ask."),), n=n, max_tokens=160)


def _run(plan: Plan, attempts: Sequence[Attempt]) -> Run:
    return Run(
        id="run-1",
        created="2026-01-01T00:00:00Z",
        address=Address(url="http://127.0.0.1:1/v1", api="openai-chat", model="m"),
        plan=plan,
        attempts=tuple(attempts),
    )


def _attempt(order: int, condition: Condition, block: int, shift: Shift, answer: Completion) -> Attempt:
    return Attempt(
        order=order,
        prompt="p1",
        condition=condition.name,
        block=block,
        role=shift.role,
        started_s=shift.start_s,
        first_byte_s=shift.end_s,
        ended_s=shift.end_s,
        in_flight=shift.in_flight,
        predecessor=order - 1 if order else None,
        outcome=answer,
    )
