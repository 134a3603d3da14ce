"""A long run with planted effects, attempt by attempt as a real one would give them: what the analysis is timed on.

Pure: equal arguments give equal runs. Blocks of all prompts take turns, every answer has an id and headers of its own,
and a prompt's last digit says what makes its texts differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from random import Random

from temp0.core.plan import Block, Condition, Message, Plan, Prompt
from temp0.core.run import Address, Alternative, Attempt, Completion, Failure, Role, Run, Sample, Token, Usage

EFFECTS = ("none", "none", "company", "backend", "change", "predecessor", "cache", "observer", "replay", "chance")
"""By the last digit of a prompt's number."""

SHARES = (
    (7, Condition()),
    (8, Condition(company=8)),
    (2, Condition(cache="cold")),
    (2, Condition(cache="warm")),
    (1, Condition(logprobs=True)),
)
"""Twentieths of a prompt's attempts under each condition."""

CHARACTERS, WORD, FORK = 500, 5, 40
REPLICAS = 3
FILLERS = 2
FAILURES = 0.005


def planted_run(*, prompts: int, completions: int) -> Run:
    """The run before its first attempt: so many judged ones are planned, which is a multiple of 20 for each prompt."""
    each, rest = divmod(completions, 20 * prompts)
    if rest:
        raise ValueError(f"{completions} completions of {prompts} prompts are no multiple of 20 for each")
    plan = Plan(
        prompts=tuple(
            Prompt(
                id=f"p{number:04}",
                messages=(Message(role="user", content=f"Explain number {number} in one paragraph."),),
                n=each,
                max_tokens=160,
            )
            for number in range(prompts)
        ),
        conditions=tuple(replace(condition, n=share * each) for share, condition in SHARES),
        seed=1,
    )
    return Run(
        id=f"{prompts}x{completions}",
        created="2025-10-09T08:53:20.000+00:00",
        address=Address(url="https://api.example.com/v1", api="openai-chat", model="planted"),
        plan=plan,
        cold_by="a salt of its own for each attempt",
    )


def effect(prompt: str) -> str:
    """What makes the texts of a prompt differ."""
    return EFFECTS[int(prompt[-1])]


@cache
def text(prompt: str, variant: int) -> str:
    """A text of 500 characters; variants part at character 200."""
    usual, other = Random(prompt), Random(f"{prompt}|{variant}")
    words = [_word(usual) for _ in range(CHARACTERS // WORD)]
    return "".join(words if variant == 0 else words[:FORK] + [_word(other) for _ in words[FORK:]])


def _word(draw: Random) -> str:
    return "".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=WORD - 1)) + " "


@cache
def tokens(prompt: str, variant: int, bits: int) -> tuple[Token, ...]:
    """A token for each word, with five alternatives; `bits` moves the logprobs a little, as another kernel would."""
    spoken = text(prompt, variant)
    starts = range(0, CHARACTERS, WORD)
    return tuple(
        _token(spoken[start : start + WORD], is_near=start == FORK * WORD, shift=bits * 2.0**-20) for start in starts
    )


def _token(word: str, *, is_near: bool, shift: float) -> Token:
    chosen, second = (-0.69 - shift, -0.70) if is_near else (-0.02 - shift, -4.0)
    others = [Alternative(bytes=f"{place}{word[1:]}".encode(), logprob=second - place) for place in range(4)]
    return Token(bytes=word.encode(), logprob=chosen, top=(Alternative(bytes=word.encode(), logprob=chosen), *others))


def events(run: Run, *, seed: int = 0) -> Iterator[Attempt | Sample]:
    """Every attempt and sample of a planted run, block by block in the plan's order."""
    scene = _Scene(draw=Random(seed))
    blocks = run.plan.blocks()
    for done, block in enumerate(blocks):
        yield from scene.block(block, is_late=2 * done > len(blocks))


@dataclass(slots=True)
class _Scene:
    """The endpoint as the run goes on: what was sent before bears on what comes."""

    draw: Random
    sent: int = 0
    now_s: float = 0.0
    before: str = ""
    first_answers: dict[str, Completion] = field(default_factory=dict)

    def block(self, block: Block, *, is_late: bool) -> Iterator[Attempt | Sample]:
        """Judged attempts leave together; in company two fillers follow while the last ones still run."""
        variant = self._variant(block, is_late=is_late)
        judged = [self._attempt(block, "judged", variant, in_flight=place + 1) for place in range(block.size)]
        yield from judged
        if block.condition.company > 1:
            yield Sample(at_s=self.now_s + 0.2, block=block.index, running=float(block.size))
            for _ in range(FILLERS):
                yield self._attempt(block, "filler", variant, in_flight=block.size)
        self.now_s = max(attempt.ended_s for attempt in judged) + 0.001
        self.before = block.prompt.id

    def _variant(self, block: Block, *, is_late: bool) -> int:
        """Which text of its prompt a block has, where that does not depend on the replica."""
        draw, condition = self.draw, block.condition
        match effect(block.prompt.id):
            case "company":
                return draw.randrange(1, 4) if condition.company > 1 and draw.random() < 0.5 else 0
            case "change":
                return int(is_late)
            case "predecessor":
                return int(self.before[-1:] in "01234")
            case "cache":
                return int(condition.cache == "cold")
            case "observer":
                return int(condition.logprobs)
            case "chance":
                return draw.randrange(1, 6) if draw.random() < 0.1 else 0
            case _:
                return 0

    def _attempt(self, block: Block, role: Role, variant: int, *, in_flight: int) -> Attempt:
        order, started_s = self.sent, self.now_s + 0.0005 * in_flight
        self.sent += 1
        ended_s = started_s + (0.1 if role == "filler" else 0.4) + 0.1 * self.draw.random()
        return Attempt(
            order=order,
            prompt=block.prompt.id,
            condition=block.condition.name,
            block=block.index,
            role=role,
            started_s=round(started_s, 6),
            first_byte_s=round(ended_s - 0.05, 6),
            ended_s=round(ended_s, 6),
            in_flight=in_flight,
            predecessor=order - 1 if order else None,
            outcome=self._outcome(block, role, variant, ended_s),
        )

    def _outcome(self, block: Block, role: Role, variant: int, at_s: float) -> Completion | Failure:
        prompt, condition = block.prompt.id, block.condition
        if self.draw.random() < FAILURES:
            return Failure(reason="timeout", message="no whole answer within 300 s")
        replica = self.draw.randrange(REPLICAS)
        if effect(prompt) == "backend":
            variant = int(replica == 0)
        answer = self._completion(block, variant, replica, at_s)
        if role == "filler":
            return replace(answer, text=answer.text[:80], tokens=None, finish="length")
        if effect(prompt) == "replay" and condition.name == "alone":
            first = self.first_answers.setdefault(prompt, answer)
            return replace(first, headers=(*answer.headers, ("x-cache", "HIT"))) if self.draw.random() < 0.1 else answer
        return answer

    def _completion(self, block: Block, variant: int, replica: int, at_s: float) -> Completion:
        draw, prompt, condition = self.draw, block.prompt.id, block.condition
        request = f"{draw.getrandbits(128):032x}"
        return Completion(
            text=text(prompt, variant),
            finish="stop",
            tokens=tokens(prompt, variant, draw.randrange(2)) if condition.logprobs else None,
            usage=Usage(prompt=64, completion=CHARACTERS // WORD, cached=0 if condition.cache == "cold" else 48),
            model="planted-2025-08-07",
            fingerprint=f"fp_{replica:08x}",
            id=f"chatcmpl-{request}",
            created=1_760_000_000 + int(at_s),
            headers=(
                ("cf-ray", f"{request[:16]}-FRA"),
                ("openai-processing-ms", f"{draw.randrange(350, 450)}"),
                ("openai-version", "2020-10-01"),
                ("server", "cloudflare"),
                ("x-ratelimit-remaining-requests", f"{draw.randrange(9_000, 10_000)}"),
                ("x-replica", f"replica-{replica}"),
                ("x-request-id", f"req_{request}"),
            ),
        )
