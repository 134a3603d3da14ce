"""What a second pass at the forks of a run shows: the next-token distribution there, alone and in company.

The first run says where answers part; the second one asked the same prompts with logprobs, or had the endpoint go on
from the shared beginning of an answer. Attempts with logprobs explain and never judge: the verdict stays the first
run's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from statistics import median
from typing import Literal

from temp0.core.analysis import Analysis, Choice, Fork, PromptAnalysis, Tally
from temp0.core.continuation import whose_answer
from temp0.core.detail import Position
from temp0.core.facts import grouped
from temp0.core.judgement import tallies
from temp0.core.junction import parting_bytes, positions, walk
from temp0.core.margin import NOT_ASKED, own_margin, token_text
from temp0.core.run import Attempt, Completion, Failure, Run, Token
from temp0.core.text import utf8

Way = Literal["asked again", "continued"]

FORMATS = (("bf16", 8), ("fp16", 11), ("fp32", 24))
"""The formats of serving with their bits of significand, the hidden one included."""
LOGIT_BINADES = (8.0, 32.0)
"""The magnitudes between which the larger logits of language models mostly lie: 8 up to 64, by powers of two."""

NO_LOGPROBS = "no logprobs were told"
NO_ANSWER = "no answer came back"
DID_NOT_GO_ON = "the endpoint did not go on from a given beginning"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Smallest, median and largest of `n` numbers."""

    min: float
    median: float
    max: float
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Units:
    """A margin in units in the last place of one format, if the logits are as large as `LOGIT_BINADES` has it.

    A possibility, never a measurement: an API tells logprobs, whose differences are those of the logits, but not how
    large the logits are. `most` is for logits of 8 to 16, `least` for logits of 32 to 64.
    """

    format: str
    least: float
    most: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What the attempts of one condition saw at a fork.

    `reached` of the `completions` came through the text that all branches share. `followed` counts those that went on
    as each branch does, `elsewhere` those that went another way. Where answers were to be continued and the endpoint
    began anew, none has reached the fork, and `reason` says so. `failures` are the attempts without an answer, as the
    server said it. `margins` are of the likeliest token over the second
    one; `choices` are those of the attempt with the median margin, `distributions` counts unlike ones among those that
    told any. Where nothing was told, `reason` says why.
    """

    condition: str
    way: Way
    completions: int
    reached: int
    followed: tuple[int, ...]
    elsewhere: int
    margins: Spread | None
    distributions: int | None
    choices: tuple[Choice, ...]
    reason: str | None
    failures: tuple[Tally, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Went:
    """How many completions of the first run, under one condition, are on each branch of a fork."""

    condition: str
    followed: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ForkLook:
    """One fork looked at again. `prefix` is what its branches share, `branches` is how each goes on and how often.

    `went` says the same for each condition of the first run that came to the fork.
    `moved` is how far company moved the difference between the two likeliest tokens (nats), `None` where it is not
    known.
    """

    prompt: str
    char: int
    byte: int
    prefix: str
    branches: tuple[tuple[str, int], ...]
    went: tuple[Went, ...]
    looks: tuple[Look, ...]
    moved: float | None
    units: tuple[Units, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondPass:
    """Everything a second pass shows of the run `first`; `second` is the run that it was recorded in.

    `positions` are those of each prompt's commonest answer that was told with logprobs.
    """

    first: str
    second: str
    forks: tuple[ForkLook, ...]
    positions: tuple[Position, ...]


def second_pass(first: Analysis, second: Run) -> SecondPass:
    """What the run `second` shows of the forks that `first` found; prompts that `first` has not are left out."""
    judged = _judged(first, second)
    asked = grouped((one.prompt, one) for one in _told(first, _answered(judged)))
    failed = grouped((one.prompt, one) for one in _failed(judged))
    names = [condition.name for condition in second.plan.conditions]
    return SecondPass(
        first=first.run,
        second=second.id,
        forks=tuple(
            _fork_look(prompt, prefix, fork, names, asked.get(prompt.id, ()), failed.get(prompt.id, ()))
            for prompt in first.prompts
            if prompt.tree
            for prefix, fork in walk(prompt.tree)
        ),
        positions=tuple(
            position
            for prompt in first.prompts
            for position in positions(prompt, [one.completion for one in asked.get(prompt.id, ()) if not one.begun])
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A completion of the second run: to which prompt, under which condition, and how its answer began."""

    prompt: str
    condition: str
    begun: str
    completion: Completion
    goes_on: bool = True

    @property
    def text(self) -> str:
        return self.begun + self.completion.text


@dataclass(frozen=True, slots=True, kw_only=True)
class _Failed:
    """An attempt of the second run that brought no answer."""

    prompt: str
    condition: str
    begun: str
    failure: Failure


def _judged(first: Analysis, second: Run) -> list[tuple[Attempt, str, str]]:
    """The judged attempts by condition, then as asked for, each with the first run's prompt and its begun answer."""
    conditions = [condition.name for condition in second.plan.conditions]
    known = {prompt.id for prompt in first.prompts}
    whose = {prompt.id: own for prompt in second.plan.prompts if (own := whose_answer(prompt, known)) is not None}
    return [
        (attempt, *whose[attempt.prompt])
        for attempt in sorted(second.attempts, key=lambda one: (conditions.index(one.condition), one.order))
        if attempt.role == "judged" and attempt.prompt in whose
    ]


def _answered(judged: Iterable[tuple[Attempt, str, str]]) -> list[_Asked]:
    return [
        _Asked(prompt=own, condition=attempt.condition, begun=begun, completion=attempt.outcome)
        for attempt, own, begun in judged
        if isinstance(attempt.outcome, Completion)
    ]


def _failed(judged: Iterable[tuple[Attempt, str, str]]) -> list[_Failed]:
    return [
        _Failed(prompt=own, condition=attempt.condition, begun=begun, failure=attempt.outcome)
        for attempt, own, begun in judged
        if isinstance(attempt.outcome, Failure)
    ]


def _told(first: Analysis, asked: Sequence[_Asked]) -> list[_Asked]:
    """The completions, each continued one with whether the endpoint goes on at all: whether any goes on as answers did.

    One of a new turn does not: it would have to begin with what lies between the beginning and a fork.
    """
    forks = {prompt.id: list(walk(prompt.tree)) for prompt in first.prompts if prompt.tree}
    goes_on = any(
        one.text.startswith(prefix)
        and (prefix[len(one.begun) :].strip() or _branch_of(fork, one.text[len(prefix) :]) is not None)
        for one in asked
        if one.begun
        for prefix, fork in forks.get(one.prompt, ())
        if prefix.startswith(one.begun)
    )
    return [replace(one, goes_on=goes_on or not one.begun) for one in asked]


def _fork_look(
    prompt: PromptAnalysis,
    prefix: str,
    fork: Fork,
    names: Sequence[str],
    asked: Sequence[_Asked],
    failed: Sequence[_Failed],
) -> ForkLook:
    near = grouped(((one.condition, bool(one.begun)), one) for one in asked if prefix.startswith(one.begun))
    lost = grouped(((one.condition, bool(one.begun)), one.failure) for one in failed if prefix.startswith(one.begun))
    sides = [(name, begun) for begun in (False, True) for name in names]
    looks = tuple(
        _look(prefix, fork, side, near.get(side, ()), lost.get(side, ()))
        for side in sides
        if side in near.keys() | lost
    )
    shown = [look for look in looks if look.margins]
    return ForkLook(
        prompt=prompt.id,
        char=fork.char,
        byte=fork.byte,
        prefix=prefix,
        branches=tuple((branch.text, branch.count) for branch in fork.branches),
        went=_went(prompt, fork),
        looks=looks,
        moved=_moved(looks),
        units=units(shown[0].margins.median) if shown and shown[0].margins else (),
    )


def _went(prompt: PromptAnalysis, fork: Fork) -> tuple[Went, ...]:
    """The first run's completions by condition, on each branch."""
    of = {text.sha256: dict(text.conditions) for text in prompt.texts}
    found = (
        Went(
            condition=one.name,
            followed=tuple(sum(of[each].get(one.name, 0) for each in branch.sha256) for branch in fork.branches),
        )
        for one in prompt.conditions
    )
    return tuple(one for one in found if any(one.followed))


def _look(prefix: str, fork: Fork, side: tuple[str, bool], asked: Sequence[_Asked], failed: Sequence[Failure]) -> Look:
    """What one side saw: a condition, and whether answers were continued."""
    here = [one for one in asked if one.goes_on and one.text.startswith(prefix)]
    ways = [_branch_of(fork, one.text[len(prefix) :]) for one in here]
    seen = [token for one in here if (token := _token_at(one, prefix, fork)) is not None]
    margins = sorted((abs(own), at) for at, token in enumerate(seen) if isinstance(own := own_margin(token), float))
    middle = seen[margins[(len(margins) - 1) // 2][1]] if margins else None
    return Look(
        condition=side[0],
        way="continued" if side[1] else "asked again",
        completions=len(asked),
        reached=len(here),
        followed=tuple(ways.count(branch) for branch in range(len(fork.branches))),
        elsewhere=ways.count(None),
        margins=_spread([own for own, _ in margins]) if margins else None,
        distributions=len({(token.logprob, token.top) for token in seen}) if margins else None,
        choices=() if middle is None else _choices(middle),
        reason=None if margins else _why_not(asked, here, seen, failed),
        failures=tallies((one.reason, one.message) for one in failed),
    )


def _why_not(asked: Sequence[_Asked], here: Sequence[_Asked], seen: Sequence[Token], failed: Sequence[Failure]) -> str:
    if not asked:
        return f"{NO_ANSWER}: {failed[0].message}"
    if not asked[0].goes_on:
        again = any(one.completion.text.startswith(one.begun) for one in asked)
        return f"{DID_NOT_GO_ON}{': it says it again' if again else ''}"
    if not here:
        return "no answer came this way again"
    if not seen:
        return "no tokens were told"
    reasons = [why for token in seen if isinstance(why := own_margin(token), str)]
    return next((NO_LOGPROBS if why == NOT_ASKED else why for why in reasons), "no margin can be read")


def _branch_of(fork: Fork, rest: str) -> int | None:
    """The branch that an answer goes on as, told by its first character (by its end, where a branch ended here)."""
    heads = [branch.text[:1] for branch in fork.branches]
    return heads.index(rest[:1]) if rest[:1] in heads else None


def _token_at(asked: _Asked, prefix: str, fork: Fork) -> Token | None:
    """The token that writes the first byte in which an answer leaves another branch, which it may begin before.

    `None` where none is told; an answer that ended there may have told an end token.
    """
    tokens = asked.completion.tokens or ()
    parting = min(parting_bytes(prefix, fork, asked.text), default=fork.byte)
    place = parting - len(utf8(asked.begun))
    ends = accumulate(len(token.bytes) for token in tokens)
    return next((token for token, end in zip(tokens, ends, strict=True) if end > place), None) or (
        tokens[-1] if tokens and not tokens[-1].bytes else None
    )


def _choices(token: Token) -> tuple[Choice, ...]:
    ordered = sorted(token.top, key=lambda one: (-one.logprob, one.bytes))
    return tuple(
        Choice(text=token_text(one.bytes), logprob=one.logprob) for one in ordered if math.isfinite(one.logprob)
    )


def _spread(numbers: Sequence[float]) -> Spread:
    return Spread(min=min(numbers), median=median(numbers), max=max(numbers), n=len(numbers))


def _moved(looks: Sequence[Look]) -> float | None:
    """The largest difference between conditions in how far the two likeliest tokens are apart, each way for itself."""
    return _widest(looks, grouped((look.way, look) for look in looks).values())


def moved_by_reading(looks: Sequence[Look]) -> float | None:
    """The same between the two ways under one condition: how far it moves tokens to be read and not written.

    The beginning of a continued answer is read as prompts are, many positions in one product, and that is another
    shape of a batch than the one a time in which it was written.
    """
    return _widest(looks, grouped((look.condition, look) for look in looks).values())


def _widest(looks: Sequence[Look], sides: Iterable[Sequence[Look]]) -> float | None:
    """The largest difference inside a side in how far the two likeliest tokens of the first look are apart."""
    pair = next(([choice.text for choice in look.choices[:2]] for look in looks if look.choices), [])
    told = [[apart for look in side if (apart := _apart(look.choices, pair)) is not None] for side in sides]
    return max((max(known) - min(known) for known in told if len(known) > 1), default=None)


def _apart(choices: Sequence[Choice], pair: Sequence[str]) -> float | None:
    logprobs = {choice.text: choice.logprob for choice in choices}
    if len(pair) < 2 or any(text not in logprobs for text in pair):
        return None
    return logprobs[pair[0]] - logprobs[pair[1]]


def units(margin: float) -> tuple[Units, ...]:
    """A margin in units in the last place of each format of serving, for logits of 8 to 64.

    The unit of a format with b bits of significand is 2^(e - b) for numbers from 2^(e-1) up to 2^e.

    >>> [(one.format, one.least, one.most) for one in units(0.125)][0]
    ('bf16', 0.5, 2.0)
    """
    low, high = LOGIT_BINADES
    return tuple(
        Units(format=name, least=margin / (high * 2.0 ** (1 - bits)), most=margin / (low * 2.0 ** (1 - bits)))
        for name, bits in FORMATS
    )
