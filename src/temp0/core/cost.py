"""What a run took: how long it lasted, and the tokens that servers said they read and wrote.

A sum says over how many attempts it is taken, so that it never stands for those that were told nothing of.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter

from temp0.core.run import Attempt, Completion

_STARTED, _ENDED = attrgetter("started_s"), attrgetter("ended_s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """Tokens as servers counted them: their sum over the `n` attempts whose answer told them."""

    sum: int = 0
    n: int = 0

    def __add__(self, other: Tokens) -> Tokens:
        """Both together."""
        return Tokens(sum=self.sum + other.sum, n=self.n + other.n)


UNTOLD = Tokens()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What attempts took, fillers included: `span` is from the first start to the last end, in seconds.

    `span` is `None` where no times are known.
    """

    span: tuple[float, float] | None = None
    prompt: Tokens = UNTOLD
    answer: Tokens = UNTOLD

    @property
    def duration_s(self) -> float | None:
        """From the first request to the last answer, pauses between sittings included; `None` where nobody knows."""
        began, ended = self.span or (0.0, 0.0)
        return round(ended - began, 6) if ended > began else None


NOTHING = Cost()


def cost(attempts: Sequence[Attempt], answers: Iterable[tuple[Completion, int]]) -> Cost:
    """What these attempts took, of which equal answers may come together, with how often each came."""
    read = read_n = written = written_n = 0
    for answer, count in answers:
        prompt, completion = answer.usage.prompt, answer.usage.completion
        if prompt is not None:
            read, read_n = read + prompt * count, read_n + count
        if completion is not None:
            written, written_n = written + completion * count, written_n + count
    return Cost(
        span=(min(map(_STARTED, attempts)), max(map(_ENDED, attempts))) if attempts else None,
        prompt=Tokens(sum=read, n=read_n),
        answer=Tokens(sum=written, n=written_n),
    )


def whole_cost(costs: Iterable[Cost]) -> Cost:
    """What several prompts took together."""
    every = list(costs)
    spans = [one.span for one in every if one.span]
    return Cost(
        span=(min(began for began, _ in spans), max(ended for _, ended in spans)) if spans else None,
        prompt=sum((one.prompt for one in every), UNTOLD),
        answer=sum((one.answer for one in every), UNTOLD),
    )
