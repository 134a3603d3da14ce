"""Builds runs from short descriptions: which texts came back, per prompt and condition.

Outcomes are cut into blocks as the plan cuts them, and blocks run in the plan's order, one after another, so a
built run has the shape of a real one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from temp0.core.analysis import Comparison, ConditionAnalysis, Fork, PromptAnalysis
from temp0.core.judgement import analysis
from temp0.core.plan import Block, Condition, Message, Plan, Prompt
from temp0.core.run import Address, Alternative, Attempt, Completion, Failure, Run, Sample, Token

ALONE = Condition()
IN_COMPANY = Condition(company=8)
WITH_LOGPROBS = Condition(logprobs=True)
STREAMED = Condition(stream=True)
REFUSED = Failure(reason="http 401", message="the key was refused", status=401)

Outcome = str | Completion | Failure
Observed = Mapping[Condition, Sequence[Outcome]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """How long blocks take, and how many requests the server says are running in a block of company.

    `running` is `None` where the server says nothing.
    """

    alone_s: float = 1.0
    pool_s: float = 1.0
    running: float | None = 8.0


FULL_COMPANY = Clock()
NO_COMPANY = Clock(running=1.0)


def built_run(
    observed: Mapping[str, Observed],
    *,
    clock: Clock = FULL_COMPANY,
    wanted: int | None = None,
    seed: int = 0,
) -> Run:
    """Build the run in which each prompt got these outcomes.

    A condition's `n` is the largest number of its outcomes, or `wanted` where the run was cut short.
    """
    plan = _plan(observed, wanted=wanted, seed=seed)
    queues = {
        (prompt, condition.name): list(outcomes)
        for prompt, by_condition in observed.items()
        for condition, outcomes in by_condition.items()
    }
    outcomes: dict[int, list[Outcome]] = {}
    for block in sorted(plan.blocks(), key=lambda block: block.index):
        queue = queues.get((block.prompt.id, block.condition.name), [])
        outcomes[block.index], queue[:] = queue[: block.size], queue[block.size :]
    run = Run(
        id="run-1",
        created="2026-01-01T00:00:00Z",
        address=Address(url="http://127.0.0.1:1/v1", api="openai-chat", model="m"),
        plan=plan,
    )
    for block in plan.blocks():
        run = with_block(run, block, outcomes[block.index], clock=clock)
    return run


def with_block(run: Run, block: Block, outcomes: Sequence[Outcome], *, clock: Clock = FULL_COMPANY) -> Run:
    """Append a block of outcomes that starts when the run so far has ended."""
    if not outcomes:
        return run
    is_pool = block.condition.company > 1
    start = run.attempts[-1].ended_s if run.attempts else 0.0
    end = start + (clock.pool_s if is_pool else clock.alone_s)
    first = len(run.attempts)
    attempts = tuple(
        Attempt(
            order=order,
            prompt=block.prompt.id,
            condition=block.condition.name,
            block=block.index,
            role="judged",
            started_s=start,
            first_byte_s=end if isinstance(outcome, (str, Completion)) else None,
            ended_s=end,
            in_flight=order - first + 1,
            predecessor=order - 1 if order else None,
            outcome=as_outcome(outcome),
        )
        for order, outcome in enumerate(outcomes, start=first)
    )
    samples = ()
    if is_pool and clock.running is not None:
        middle = (start + end) / 2
        samples = (Sample(at_s=middle, block=block.index, running=clock.running),)
    return replace(run, attempts=run.attempts + attempts, samples=run.samples + samples)


def with_fillers(run: Run, *, beside: Condition, texts: Sequence[str], prompt: str | None = None) -> Run:
    """Append fillers that ran beside the first judged attempt under `beside`."""
    judged = next(attempt for attempt in run.attempts if attempt.condition == beside.name)
    first = len(run.attempts)
    fillers = tuple(
        replace(
            judged,
            order=order,
            prompt=prompt or judged.prompt,
            role="filler",
            predecessor=order - 1,
            outcome=as_outcome(text),
        )
        for order, text in enumerate(texts, start=first)
    )
    return replace(run, attempts=run.attempts + fillers)


def as_outcome(outcome: Outcome) -> Completion | Failure:
    """Read a bare text as a completion that stopped by itself."""
    return Completion(text=outcome, finish="stop") if isinstance(outcome, str) else outcome


def spelled(*tokens: Token, finish: str = "stop") -> Completion:
    """Spell a completion from its tokens."""
    text = b"".join(token.bytes for token in tokens).decode()
    return Completion(text=text, finish=finish, tokens=tokens)


def token(text: str | bytes, logprob: float | None = None, /, **others: float) -> Token:
    """Make a token; `others` are the other tokens that could have been chosen, with their logprobs."""
    data = text if isinstance(text, bytes) else text.encode()
    if logprob is None:
        return Token(bytes=data)
    top = [Alternative(bytes=data, logprob=logprob)]
    top += [Alternative(bytes=other.encode(), logprob=value) for other, value in others.items()]
    return Token(bytes=data, logprob=logprob, top=tuple(sorted(top, key=lambda each: -each.logprob)))


def judged(observed: Observed, **options: object) -> PromptAnalysis:
    """Analyse one prompt under its conditions."""
    return analysis(built_run({"P": observed}, **options)).prompts[0]  # type: ignore[arg-type]


def under(prompt: PromptAnalysis, condition: Condition) -> ConditionAnalysis:
    """Find a condition of a prompt."""
    return next(found for found in prompt.conditions if found.name == condition.name)


def between(prompt: PromptAnalysis, one: Condition, other: Condition) -> Comparison:
    """Find the comparison of two conditions, whichever side comes first."""
    names = {one.name, other.name}
    return next(found for found in prompt.comparisons if {found.a, found.b} == names)


def first_fork(*texts: Outcome) -> Fork:
    """Fork the outcomes of one condition, each in a block alone."""
    tree = judged({ALONE: texts}).tree
    assert tree is not None
    assert tree.fork is not None
    return tree.fork


def all_forks(prompt: PromptAnalysis) -> Iterator[tuple[str, Fork]]:
    """Walk every fork with the text shared before it; without recursion, since trees can be deep."""
    assert prompt.tree is not None
    waiting = [(prompt.tree.text, prompt.tree.fork)]
    while waiting:
        prefix, fork = waiting.pop()
        if fork is not None:
            yield prefix, fork
            waiting += [(prefix + branch.text, branch.fork) for branch in fork.branches]


def leaves(prompt: PromptAnalysis) -> list[tuple[str, int]]:
    """List the leaves of the fork tree: text and count."""
    assert prompt.tree is not None
    if prompt.tree.fork is None:
        return [(prompt.tree.text, prompt.tree.count)]
    return [
        (prefix + branch.text, branch.count)
        for prefix, fork in all_forks(prompt)
        for branch in fork.branches
        if branch.fork is None
    ]


def _plan(observed: Mapping[str, Observed], *, wanted: int | None, seed: int) -> Plan:
    sizes: dict[Condition, int] = {}
    for by_condition in observed.values():
        for condition, outcomes in by_condition.items():
            sizes[condition] = wanted or max(sizes.get(condition, 1), len(outcomes))
    return Plan(
        prompts=tuple(
            Prompt(id=name, messages=(Message(role="user", content=f"Ask {name}"),), n=1, max_tokens=160)
            for name in observed
        ),
        conditions=tuple(replace(condition, n=n) for condition, n in sizes.items()),
        seed=seed,
    )
