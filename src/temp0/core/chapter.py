"""A run cut into chapters, one for each prompt, so that a long run need not be in memory at once.

What bears on one prompt stands in its chapter, and what bears on all of them in the preface. A store can make both
from its file; `preface` and `chapters` make them from a run in memory, and nothing about the analysis depends on
which of the two it was.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from operator import attrgetter

from temp0.core.company import Pace, paces
from temp0.core.plan import Prompt
from temp0.core.register import Predecessors, Question, Register, register
from temp0.core.run import Attempt, Completion, Run, Sample


@dataclass(frozen=True, kw_only=True)
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

    @cached_property
    def samples(self) -> Mapping[int, Sequence[Sample]]:
        """The server's own counts by block, as they were taken."""
        by_block: dict[int, list[Sample]] = {}
        for sample in sorted(self.run.samples, key=attrgetter("at_s")):
            by_block.setdefault(sample.block, []).append(sample)
        return by_block


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
    predecessors: Mapping[int, Question]


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
    known = _register(attempts)
    judged: dict[str, list[Attempt]] = {prompt.id: [] for prompt in run.plan.prompts}
    beside: dict[int, list[Attempt]] = {}
    for attempt in attempts:
        if attempt.role == "filler":
            beside.setdefault(attempt.block, []).append(attempt)
        elif attempt.prompt in judged:
            judged[attempt.prompt].append(attempt)
    before = known.earlier(beside)
    alone = frozenset(condition.name for condition in run.plan.conditions if condition.company == 1)
    for prompt in run.plan.prompts:
        own = judged[prompt.id]
        fillers: dict[int, Attempt] = {}
        for block, condition in dict.fromkeys((one.block, one.condition) for one in own):
            late = beside[before[block]] if block in before else ()
            fillers |= {filler.order: filler for filler in beside.get(block, ())}
            fillers |= {one.order: one for one in late if condition not in alone or one.prompt == prompt.id}
        yield Chapter(
            prompt=prompt,
            judged=tuple(own),
            fillers=tuple(fillers[order] for order in sorted(fillers)),
            predecessors=Predecessors(own, known),
        )


def _register(attempts: Sequence[Attempt]) -> Register:
    number_of = defaultdict[Question, int](count().__next__)
    questions = [number_of[attempt.prompt, attempt.condition] for attempt in attempts]
    orders, blocks = [attempt.order for attempt in attempts], [attempt.block for attempt in attempts]
    return register(orders, blocks, questions, list(number_of))
