"""What will be asked, under which conditions, in which order.

A plan crosses prompts with conditions and cuts each pair into blocks; the order of the blocks is a pure function
of the plan and its seed.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from temp0.errors import PlanError

Filler = Literal["same", "mixed"]
Cache = Literal["as-found", "cold", "warm"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn of a conversation."""

    role: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What is asked: messages, how many times under each condition, and the most tokens of an answer."""

    id: str
    messages: tuple[Message, ...]
    n: int
    max_tokens: int

    @property
    def text(self) -> str:
        """The last message's content, which is how a person knows the prompt."""
        return self.messages[-1].content


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """What is deliberately varied. `company` counts the requests in flight, ours included: 1 is alone.

    0 is for answers that another tool recorded, in company that nobody knows.

    `n` replaces the prompts' own number of attempts where a condition needs another.
    """

    company: int = 1
    filler: Filler = "same"
    logprobs: bool = False
    stream: bool = False
    cache: Cache = "as-found"
    n: int | None = None

    @property
    def name(self) -> str:
        """Says what is varied, and nothing that is left at its default: `alone`, `company 8 mixed, logprobs`."""
        who = {0: "as recorded", 1: "alone"}.get(self.company, f"company {self.company}")
        if self.company > 1 and self.filler != "same":
            who += f" {self.filler}"
        extras = [who]
        extras += ["logprobs"] if self.logprobs else []
        extras += ["stream"] if self.stream else []
        extras += [f"cache {self.cache}"] if self.cache != "as-found" else []
        return ", ".join(extras)

    def factors_apart(self, other: Condition) -> tuple[str, ...]:
        """The names of what sets two conditions apart; who the fillers are is nothing to one that is alone."""
        both_filled = self.company > 1 and other.company > 1
        apart = {
            "company": self.company != other.company,
            "filler": both_filled and self.filler != other.filler,
            "cache": self.cache != other.cache,
            "logprobs": self.logprobs != other.logprobs,
            "stream": self.stream != other.stream,
        }
        return tuple(factor for factor, differs in apart.items() if differs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Attempts that run together: one alone, or one pool of company. The unit of every test."""

    index: int
    prompt: Prompt
    condition: Condition
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Prompts crossed with conditions, and the seed that orders their blocks.

    `exclusive` is the user's word that nobody else uses the endpoint; not `greedy` is a plan that goes on where no
    temperature can be asked for.
    """

    prompts: tuple[Prompt, ...]
    conditions: tuple[Condition, ...]
    seed: int = 0
    exclusive: bool = False
    greedy: bool = True

    def __post_init__(self) -> None:
        """Refuse a plan that could not be carried out or read back."""
        if not self.prompts or not self.conditions:
            raise PlanError("a plan needs at least one prompt and one condition")
        if self.seed < 0:
            raise PlanError(f"seed is {self.seed}, expected 0 or more")
        _refuse_repeats("prompt id", [prompt.id for prompt in self.prompts])
        _refuse_repeats("condition", [condition.name for condition in self.conditions])
        for prompt in self.prompts:
            if not prompt.messages:
                raise PlanError(f"prompt {prompt.id} has no message")
            if prompt.max_tokens < 1:
                raise PlanError(f"prompt {prompt.id}: max_tokens is {prompt.max_tokens}, expected at least 1")
        for condition in self.conditions:
            if condition.company < 0:
                raise PlanError(f"company is {condition.company}, expected at least 1 (alone)")
            for prompt in self.prompts:
                if self.judged(prompt, condition) < 1:
                    raise PlanError(
                        f"prompt {prompt.id} would be asked {self.judged(prompt, condition)} times, expected at least 1"
                    )

    def judged(self, prompt: Prompt, condition: Condition) -> int:
        """How many judged attempts the plan wants of this prompt under this condition."""
        return prompt.n if condition.n is None else condition.n

    @property
    def attempts(self) -> int:
        """The number of judged attempts in all; fillers come on top."""
        return sum(self.judged(prompt, condition) for prompt in self.prompts for condition in self.conditions)

    @property
    def pairs(self) -> tuple[tuple[Condition, Condition], ...]:
        """The pairs of conditions worth comparing: those set apart by one factor, and such as no chain of these joins.

        Equality is transitive: along a chain of equal pairs all are equal. A chain may not lead through conditions
        with other logprobs or streaming, since comparisons across these do not count.
        """
        pairs = list(combinations(self.conditions, 2))
        kept = [(a, b) for a, b in pairs if len(a.factors_apart(b)) == 1]
        chain = {condition.name: condition.name for condition in self.conditions}
        for a, b in [*kept, *pairs]:
            is_alike = (a.logprobs, a.stream) == (b.logprobs, b.stream)
            if is_alike and chain[a.name] != chain[b.name]:
                kept += [] if (a, b) in kept else [(a, b)]
                chain = {name: chain[b.name] if head == chain[a.name] else head for name, head in chain.items()}
        return tuple(sorted(kept, key=pairs.index))

    def blocks(self) -> tuple[Block, ...]:
        """All blocks in the order in which they run: shuffled by the seed, so that drift looks like no condition.

        A block of company k holds k judged attempts, the last one what is left (n=30, k=8: 8, 8, 8, 6). Its
        `index` is fixed before the shuffle, so that it names the same block in every run of the same plan.
        """
        planned = [
            (prompt, condition, size)
            for prompt in self.prompts
            for condition in self.conditions
            for size in sizes(self.judged(prompt, condition), condition.company)
        ]
        blocks = [
            Block(index=index, prompt=prompt, condition=condition, size=size)
            for index, (prompt, condition, size) in enumerate(planned)
        ]
        random.Random(self.seed).shuffle(blocks)
        return tuple(blocks)


def sizes(n: int, company: int) -> list[int]:
    """The sizes of the blocks that hold n judged attempts in company; none where n is not positive."""
    if n <= 0:
        return []
    size = company or 1
    full, rest = divmod(n, size)
    return [size] * full + ([rest] if rest else [])


def _refuse_repeats(what: str, names: list[str]) -> None:
    name, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise PlanError(f"{what} {name!r} appears more than once")
