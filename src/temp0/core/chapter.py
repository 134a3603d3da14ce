"""A run cut into chapters, one for each prompt, so that a long run need not be in memory at once.

What bears on one prompt stands in its chapter, and what bears on all of them in the preface. A store can make both
from its file; `preface` and `chapters` make them from a run in memory, and nothing about the analysis depends on
which of the two it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from temp0.core.company import Pace, paces
from temp0.core.plan import Prompt
from temp0.core.run import Attempt, Completion, Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Preface:
    """What must be known of a whole run before one of its prompts can be judged.

    `run` is without its attempts, whose number is `requests`. `shared_ids` are response ids that came with more than
    one text or time of creation anywhere in the run, so that they name no answer. `paces` are those of all prompts
    where fillers of other prompts keep company, and else may be empty.
    """

    run: Run
    requests: int
    shared_ids: frozenset[str]
    paces: Mapping[str, Pace]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    """All that a run holds about one prompt, each tuple by the order in which the attempts were sent.

    `fillers` ran in the blocks of the judged attempts, or in the block before one of them: where that one is alone,
    only those of the same prompt. `predecessors` gives for an attempt's order the prompt and the condition of the
    attempt that was sent before it. Attempts may lack what no judgement looks at.
    """

    prompt: Prompt
    judged: tuple[Attempt, ...]
    fillers: tuple[Attempt, ...]
    predecessors: Mapping[int, tuple[str, str]]


def preface(run: Run) -> Preface:
    """The preface of a run in memory."""
    alone = frozenset(condition.name for condition in run.plan.conditions if condition.company == 1)
    return Preface(
        run=replace(run, attempts=()),
        requests=len(run.attempts),
        shared_ids=_shared_ids(run),
        paces=paces(run.attempts, alone),
    )


def _shared_ids(run: Run) -> frozenset[str]:
    first: dict[str, tuple[str, int | None]] = {}
    shared = set()
    for attempt in run.attempts:
        answer = attempt.outcome
        if isinstance(answer, Completion) and answer.id is not None:
            told = (answer.text, answer.created)
            if first.setdefault(answer.id, told) != told:
                shared.add(answer.id)
    return frozenset(shared)


def chapters(run: Run) -> Iterator[Chapter]:
    """The chapters of a run in memory, in the plan's order."""
    attempts = sorted(run.attempts, key=lambda attempt: attempt.order)
    known = {attempt.order: (attempt.prompt, attempt.condition) for attempt in attempts}
    judged: dict[str, list[Attempt]] = {prompt.id: [] for prompt in run.plan.prompts}
    fillers: dict[str, list[Attempt]] = {prompt.id: [] for prompt in run.plan.prompts}
    alone = frozenset(condition.name for condition in run.plan.conditions if condition.company == 1)
    kept, late = _fillers_by_block(attempts)
    for attempt in attempts:
        if attempt.role == "judged" and attempt.prompt in judged:
            judged[attempt.prompt].append(attempt)
    for name, own in judged.items():
        blocks = dict.fromkeys((one.block, one.condition) for one in own)
        beside = {filler.order: filler for block, _ in blocks for filler in kept[block]}
        beside |= {
            filler.order: filler
            for block, condition in blocks
            for filler in late.get(block, ())
            if condition not in alone or filler.prompt == name
        }
        fillers[name] = [beside[order] for order in sorted(beside)]
    for prompt in run.plan.prompts:
        own = judged[prompt.id]
        yield Chapter(
            prompt=prompt,
            judged=tuple(own),
            fillers=tuple(fillers[prompt.id]),
            predecessors={
                attempt.order: known[attempt.predecessor]
                for attempt in own
                if attempt.predecessor is not None and attempt.predecessor in known
            },
        )


def _fillers_by_block(attempts: list[Attempt]) -> tuple[dict[int, list[Attempt]], dict[int, list[Attempt]]]:
    """For each block the fillers sent in it, and those of the block before it in time, which may run on into it."""
    in_time = list(dict.fromkeys(attempt.block for attempt in attempts))
    own: dict[int, list[Attempt]] = {block: [] for block in in_time}
    for attempt in attempts:
        if attempt.role == "filler":
            own[attempt.block].append(attempt)
    return own, {block: own[earlier] for earlier, block in pairwise(in_time)}
