"""Several runs of one side read as one run: their blocks pooled, one run after the other.

Blocks stay blocks, and nothing of two runs ever shares one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from temp0.core.plan import Condition, Prompt
from temp0.core.run import Attempt, Completion, Failure, Run

Asked = tuple[object, ...]
"""What was asked, by which prompts of two runs meet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shift:
    """By how much the orders, blocks and times of a run move, so that it comes after those before it."""

    order: int = 0
    block: int = 0
    seconds: float = 0.0

    def after(self, run: Run) -> _Shift:
        """The shift of what comes after a run that is moved by this one."""
        return _Shift(
            order=self.order + 1 + max((one.order for one in run.attempts), default=-1),
            block=self.block + 1 + max((one.block for one in run.attempts), default=-1),
            seconds=self.seconds + max((one.ended_s for one in run.attempts), default=0.0),
        )


def pooled(runs: Sequence[Run]) -> Run:
    """One run that holds the attempts of all; prompts meet by what was asked, conditions by name.

    It is called by the ids of all, and has the first one's address, seed and time. Ids of answers are told apart by
    run, since two servers may count alike.
    """
    if len(runs) == 1:
        return runs[0]
    names = _names(runs)
    counts: Counter[tuple[str, str]] = Counter()
    attempts: list[Attempt] = []
    samples = []
    shift = _Shift()
    for run in runs:
        name_of = {prompt.id: names[asked] for asked, prompt in asked_of(run).items()}
        for prompt in run.plan.prompts:
            for condition in run.plan.conditions:
                counts[name_of[prompt.id], condition.name] += run.plan.judged(prompt, condition)
        attempts += [_moved(one, run.id, name_of, shift) for one in run.attempts]
        samples += [replace(one, block=one.block + shift.block, at_s=one.at_s + shift.seconds) for one in run.samples]
        shift = shift.after(run)
    plan = replace(
        runs[0].plan,
        prompts=_prompts(runs, names, counts),
        conditions=_conditions(runs),
        exclusive=all(run.plan.exclusive for run in runs),
        greedy=all(run.plan.greedy for run in runs),
    )
    untold = tuple(dict.fromkeys(one for run in runs for one in run.untold))
    name = ",".join(run.id for run in runs)
    return replace(runs[0], id=name, plan=plan, attempts=tuple(attempts), samples=tuple(samples), untold=untold)


def asked_of(run: Run) -> dict[Asked, Prompt]:
    """Each prompt by what was asked; of two that ask the same, the first meets the other run's first."""
    seen: Counter[Asked] = Counter()
    found: dict[Asked, Prompt] = {}
    for prompt in run.plan.prompts:
        asked = (prompt.messages, prompt.max_tokens)
        found[*asked, seen[asked]] = prompt
        seen[asked] += 1
    return found


def _names(runs: Sequence[Run]) -> dict[Asked, str]:
    """An id for each question: the first run's own, made unlike any other where two runs use one id for two."""
    names: dict[Asked, str] = {}
    for run in runs:
        for asked, prompt in asked_of(run).items():
            if asked not in names:
                taken = set(names.values())
                names[asked] = next(one for one in (prompt.id, f"{prompt.id} of {run.id}") if one not in taken)
    return names


def _prompts(runs: Sequence[Run], names: dict[Asked, str], counts: Counter[tuple[str, str]]) -> tuple[Prompt, ...]:
    found = {asked: prompt for run in reversed(runs) for asked, prompt in asked_of(run).items()}
    most = {name: max(count for (own, _), count in counts.items() if own == name) for name in names.values()}
    return tuple(replace(found[asked], id=name, n=most[name]) for asked, name in names.items())


def _conditions(runs: Sequence[Run]) -> tuple[Condition, ...]:
    by_name = {one.name: replace(one, n=None) for run in runs for one in run.plan.conditions}
    return tuple(by_name.values())


def _moved(attempt: Attempt, run: str, name_of: dict[str, str], shift: _Shift) -> Attempt:
    return replace(
        attempt,
        order=attempt.order + shift.order,
        block=attempt.block + shift.block,
        predecessor=None if attempt.predecessor is None else attempt.predecessor + shift.order,
        prompt=name_of.get(attempt.prompt, attempt.prompt),
        started_s=attempt.started_s + shift.seconds,
        first_byte_s=None if attempt.first_byte_s is None else attempt.first_byte_s + shift.seconds,
        ended_s=attempt.ended_s + shift.seconds,
        outcome=_told_apart(attempt.outcome, run),
    )


def _told_apart(outcome: Completion | Failure, run: str) -> Completion | Failure:
    if isinstance(outcome, Failure) or outcome.id is None:
        return outcome
    return replace(outcome, id=f"{run}/{outcome.id}")
