"""Strategies for runs as hostile as the types allow: lone surrogates, huge integers, infinite logprobs."""

from __future__ import annotations

from hypothesis import strategies as st

from temp0.core.plan import Condition, Message, Plan, Prompt
from temp0.core.run import (
    Address,
    Alternative,
    Attempt,
    Completion,
    Failure,
    Run,
    Sample,
    Token,
    ToolCall,
    Usage,
)

# Both halves of a surrogate pair, which stay two code points, the trace of a bad byte, NUL, and white space.
AWKWARD = "\ud83d\ude00\udcff\x00 "

texts = st.one_of(st.text(st.characters(), max_size=8), st.sampled_from([AWKWARD, *AWKWARD]))
counts = st.integers(min_value=0, max_value=10**30)
small = st.integers(min_value=0, max_value=2**31)
seconds = st.floats(min_value=0, allow_infinity=False)
logprobs = st.floats(allow_nan=False)


def optional(strategy):
    return st.one_of(st.none(), strategy)


def tuples_of(strategy, max_size=3, **constraints):
    return st.lists(strategy, max_size=max_size, **constraints).map(tuple)


pairs = tuples_of(st.tuples(texts, texts))
alternatives = st.builds(Alternative, bytes=st.binary(max_size=4), logprob=logprobs)
tokens = st.builds(
    Token, bytes=st.binary(max_size=4), id=optional(counts), logprob=optional(logprobs), top=tuples_of(alternatives)
)
usages = st.builds(
    Usage, prompt=optional(counts), completion=optional(counts), cached=optional(counts), reasoning=optional(counts)
)
completions = st.builds(
    Completion,
    text=texts,
    finish=optional(texts),
    tokens=optional(tuples_of(tokens)),
    reasoning=optional(texts),
    usage=usages,
    model=optional(texts),
    fingerprint=optional(texts),
    id=optional(texts),
    created=optional(st.integers(min_value=-(10**30), max_value=10**30)),
    headers=pairs,
    tool_calls=tuples_of(st.builds(ToolCall, name=texts, arguments=texts)),
    refusal=optional(texts),
)
failures = st.builds(Failure, reason=texts, message=texts, status=optional(small))
samples = st.builds(Sample, at_s=seconds, block=small, running=st.floats(allow_nan=False))
prompts = st.builds(
    Prompt,
    id=texts,
    messages=tuples_of(st.builds(Message, role=texts, content=texts), min_size=1),
    n=st.integers(min_value=1, max_value=10**6),
    max_tokens=st.integers(min_value=1, max_value=10**6),
)
conditions = st.builds(
    Condition,
    company=st.integers(min_value=1, max_value=10**4),
    filler=st.sampled_from(["same", "mixed"]),
    logprobs=st.booleans(),
    stream=st.booleans(),
    cache=texts,
    n=optional(st.integers(min_value=1, max_value=10**6)),
)
plans = st.builds(
    Plan,
    prompts=tuples_of(prompts, min_size=1, unique_by=lambda prompt: prompt.id),
    conditions=tuples_of(conditions, min_size=1, unique_by=lambda condition: condition.name),
    seed=counts,
    exclusive=st.booleans(),
    greedy=st.booleans(),
)


@st.composite
def runs(draw):
    """A run whose attempts stand in their order, some of them asking what the plan does not list."""
    plan = draw(plans)
    attempts = st.builds(
        Attempt,
        order=small,
        prompt=st.one_of(st.sampled_from([prompt.id for prompt in plan.prompts]), texts),
        condition=texts,
        block=small,
        role=st.sampled_from(["judged", "filler"]),
        started_s=seconds,
        first_byte_s=optional(seconds),
        ended_s=seconds,
        in_flight=small,
        predecessor=optional(small),
        outcome=st.one_of(completions, failures),
        sent=optional(st.binary(max_size=8)),
    )
    unordered = draw(st.lists(attempts, max_size=4, unique_by=lambda attempt: attempt.order))
    return Run(
        id=draw(texts),
        created=draw(texts),
        address=draw(st.builds(Address, url=texts, api=texts, model=texts)),
        plan=plan,
        cold_by=draw(optional(texts)),
        untold=draw(tuples_of(st.sampled_from(["company", "order", "parameters", "replays"]))),
        attempts=tuple(sorted(unordered, key=lambda attempt: attempt.order)),
        samples=draw(tuples_of(samples)),
    )


@st.composite
def crowded_runs(draw):
    """A run in which few values are drawn from, so that blocks, ids, texts and predecessors meet again and again.

    Orders have gaps, blocks are torn apart, and some attempts ask what the plan does not list.
    """
    plan = Plan(
        prompts=tuple(
            Prompt(id=name, messages=(Message(role="user", content=name),), n=3, max_tokens=8) for name in "ABC"
        ),
        conditions=(Condition(), Condition(company=4, filler=draw(st.sampled_from(["same", "mixed"])))),
    )
    answers = st.builds(
        Completion,
        text=st.sampled_from(["", "x", "long " * 9]),
        id=st.sampled_from([None, "", "one", "two", "three"]),
        created=st.sampled_from([None, 1, 2]),
    )
    attempts = st.builds(
        Attempt,
        order=st.integers(min_value=0, max_value=40),
        prompt=st.sampled_from(["A", "B", "C", "filler long"]),
        condition=st.sampled_from([*(condition.name for condition in plan.conditions), "unplanned"]),
        block=st.integers(min_value=0, max_value=6),
        role=st.sampled_from(["judged", "judged", "filler"]),
        started_s=st.floats(min_value=0, max_value=9),
        first_byte_s=st.none(),
        ended_s=st.floats(min_value=9, max_value=99),
        in_flight=st.just(1),
        predecessor=optional(st.integers(min_value=0, max_value=40)),
        outcome=st.one_of(answers, answers, st.builds(Failure, reason=st.just("cut"), message=texts)),
    )
    sent = draw(st.lists(attempts, min_size=1, max_size=25, unique_by=lambda attempt: attempt.order))
    return Run(
        id=draw(texts),
        created="2025-11-03T10:00:00+00:00",
        address=Address(url="", api="", model=""),
        plan=plan,
        attempts=tuple(sorted(sent, key=lambda attempt: attempt.order)),
        samples=draw(tuples_of(samples)),
    )


def _awkward_plan():
    message = Message(role=AWKWARD, content=AWKWARD)
    prompt = Prompt(id=AWKWARD, messages=(message,), n=1, max_tokens=1)
    return Plan(prompts=(prompt,), conditions=(Condition(cache=AWKWARD),))


def _awkward_attempt(order, outcome):
    return Attempt(
        order=order,
        prompt=AWKWARD,
        condition=AWKWARD,
        block=0,
        role="judged",
        started_s=0.0,
        first_byte_s=None,
        ended_s=0.0,
        in_flight=1,
        predecessor=None,
        outcome=outcome,
    )


# Every string that a run can hold, at its worst.
AWKWARD_RUN = Run(
    id=AWKWARD,
    created=AWKWARD,
    address=Address(url=AWKWARD, api=AWKWARD, model=AWKWARD),
    plan=_awkward_plan(),
    cold_by=AWKWARD,
    attempts=(
        _awkward_attempt(
            0,
            Completion(
                text=AWKWARD,
                reasoning=AWKWARD,
                finish=AWKWARD,
                model=AWKWARD,
                fingerprint=AWKWARD,
                id=AWKWARD,
                created=10**30,
                headers=((AWKWARD, AWKWARD),),
            ),
        ),
        _awkward_attempt(1, Failure(reason=AWKWARD, message=AWKWARD)),
    ),
)
