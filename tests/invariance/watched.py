"""Requests whose every bit is watched, and what they are compared with: the same request alone.

Alone means: an engine of its own, nothing cached, the whole prompt in one pass. Bits are compared as integers, so
that no two numbers are equal that are not the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from temp0.engine import Emission, Engine, Request
from temp0.errors import Temp0Error

# Makes an engine from limits that are named as in `Engine`; everything else about it is settled.
Make = Callable[..., Engine]

TOP_LOGPROBS = 5


@dataclass(slots=True, eq=False)
class Watched:
    """One request in one engine, and all that the engine said about it."""

    request: Request
    emissions: list[Emission] = field(default_factory=list)
    failures: list[Temp0Error] = field(default_factory=list)
    ticket: int = -1

    @property
    def tokens(self) -> list[int]:
        return [emission.token for emission in self.emissions]

    @property
    def logits(self) -> NDArray[np.uint32]:
        """The bits of all logits [tokens, vocab]."""
        rows = [emission.logits for emission in self.emissions if emission.logits is not None]
        assert len(rows) == len(self.emissions) > 0, "every emission was asked for its logits"
        assert not np.isnan(rows).any(), "a logit is NaN, which equals nothing"
        return np.stack(rows).view(np.uint32)

    @property
    def logprobs(self) -> list[tuple[float | None, tuple[tuple[int, float], ...]]]:
        """Of each emission, the logprob and the top ones, exact as they are."""
        return [(emission.logprob, emission.top) for emission in self.emissions]

    @property
    def cached_tokens(self) -> int:
        """Positions of the prompt that came from the prefix cache."""
        return self.emissions[0].cached_tokens

    @property
    def has_ended(self) -> bool:
        return bool(self.emissions and self.emissions[-1].finish)


def submitted(engine: Engine, request: Request) -> Watched:
    """Put a request in the queue, and watch it."""
    watched = Watched(replace(request, logits=True))
    watched.ticket = engine.submit(watched.request, watched.emissions.append, on_failure=watched.failures.append)
    return watched


def steps(engine: Engine, count: int) -> None:
    for _ in range(count):
        engine.step()


def run_out(engine: Engine, watched: Iterable[Watched]) -> list[Watched]:
    """Step until nothing is left to do; everyone watched has had a whole answer then."""
    while engine.step():
        pass
    ended = list(watched)
    assert all(one.has_ended and not one.failures for one in ended), "an answer is not whole"
    return ended


def happened(is_so: bool, what: str) -> None:
    """A situation that did not come about fails: it would prove nothing."""
    assert is_so, f"this did not happen: {what}"


class Lone:
    """Every request alone, computed once."""

    def __init__(self, make: Make) -> None:
        self._make = make
        self._known: dict[Request, Watched] = {}

    def answer(self, request: Request) -> Watched:
        """The request by itself, with logprobs; how it asks to be told, or cached, is no part of the question."""
        question = replace(request, logprobs=True, top_logprobs=TOP_LOGPROBS, use_prefix_cache=True)
        if question not in self._known:
            engine = self._make(prefix_cache=False, max_running=1, chunk_tokens=512)
            self._known[question] = run_out(engine, [submitted(engine, question)])[0]
        return self._known[question]


def difference(seen: Watched, lone: Watched) -> str | None:
    """Where two answers to one request first differ; None if every bit is the same.

    An answer that was cut short is compared as far as it goes.
    """
    if not seen.emissions:
        return None
    count = len(seen.emissions)
    is_other = seen.logits != lone.logits[:count]
    if is_other.any():
        place = int(is_other.any(axis=1).argmax())
        return f"token {place}: {is_other[place].sum()} of {is_other.shape[1]} logits"
    if seen.tokens != lone.tokens[:count]:
        return f"tokens of equal logits: {seen.tokens} for {lone.tokens[:count]}"
    if seen.request.logprobs and seen.logprobs != lone.logprobs[:count]:
        return "logprobs of equal logits"
    return None


def differences(seen: Sequence[Watched], lone: Lone) -> list[str]:
    """Every answer that is not the one its request has alone."""
    found = [(place, difference(one, lone.answer(one.request))) for place, one in enumerate(seen)]
    return [f"request {place}, {what}" for place, what in found if what is not None]
