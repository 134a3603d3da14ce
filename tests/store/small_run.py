"""One small, fixed run that has a bit of everything, and ways to vary it."""

from __future__ import annotations

from dataclasses import replace

from temp0.core.plan import Condition, Message, Plan, Prompt
from temp0.core.run import Address, Alternative, Attempt, Completion, Failure, Run, Sample, Token, Usage

PLAN = Plan(
    prompts=(
        Prompt(id="A", messages=(Message(role="user", content="Name a prime."),), n=2, max_tokens=16),
        Prompt(id="B", messages=(Message(role="user", content="A haiku, please."),), n=1, max_tokens=32),
    ),
    conditions=(Condition(), Condition(company=8, logprobs=True, n=1)),
    seed=7,
)


def attempt(order, outcome, *, prompt="A", role="judged"):
    return Attempt(
        order=order,
        prompt=prompt,
        condition="alone",
        block=order // 2,
        role=role,
        started_s=order / 3,
        first_byte_s=order / 3 + 0.1,
        ended_s=order / 3 + 0.2,
        in_flight=1,
        predecessor=order - 1 if order else None,
        outcome=outcome,
    )


def answered(order, text, **fields):
    return attempt(order, Completion(text=text, finish="stop", usage=Usage(prompt=4, completion=2)), **fields)


def failed(order, **fields):
    return attempt(order, Failure(reason="refused", message="429: slow down", status=429), **fields)


TOKENS = (
    Token(bytes=b"10", id=940, logprob=-0.1, top=(Alternative(bytes=b"10", logprob=-0.1),)),
    Token(bytes=b"\xf0\x9f", id=None, logprob=None),
)
RICH = Completion(
    text="10\ud83d",
    finish="length",
    tokens=TOKENS,
    reasoning="even, so no",
    usage=Usage(prompt=4, completion=2, cached=0, reasoning=3),
    model="m-1",
    fingerprint="fp_1",
    id="chatcmpl-1",
    created=1_700_000_000,
    headers=(("x-request-id", "r1"), ("server", "uvicorn")),
)

ATTEMPTS = (answered(0, "101"), failed(1), attempt(2, RICH), answered(3, "101", prompt="B", role="filler"))
SAMPLES = (Sample(at_s=0.5, block=0, running=1.0), Sample(at_s=0.25, block=1, running=7.5))
RUN = Run(
    id="4f2a90",
    created="2025-11-03T10:00:00+00:00",
    address=Address(url="http://127.0.0.1:8000/v1", api="openai-chat", model="m"),
    plan=PLAN,
    attempts=ATTEMPTS,
    samples=SAMPLES,
)


def header_of(run_id):
    return replace(RUN, id=run_id, attempts=(), samples=())


def save(store, run):
    store.begin(run)
    store.append(run.id, run.attempts, run.samples)
