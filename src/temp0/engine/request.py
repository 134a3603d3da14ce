"""What a client asks of the engine, and what it gets back token by token.

Both are plain values: a Request is checked against a model only when it is submitted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Finish = Literal["stop", "length"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A prompt as token ids, and how to go on from it.

    Temperature 0 is greedy. Above 0, `seed` makes the text repeatable; without one every request draws anew.
    `top_logprobs` counts the most likely tokens to report beside each chosen one and needs `logprobs`.
    `ignore_eos` goes on to `max_tokens` whatever the model emits.
    """

    tokens: tuple[int, ...]
    max_tokens: int
    temperature: float = 0.0
    seed: int | None = None
    logprobs: bool = False
    top_logprobs: int = 0
    ignore_eos: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Emission:
    """One token that the model emitted.

    `logprob` is the natural logarithm of its probability at temperature 1, None unless asked for; `top` holds the
    most likely tokens with theirs, most likely first. `finish` is set on the last emission only: "stop" when the
    token ends the answer (it has no bytes of its own), "length" when max_tokens is reached.
    """

    token: int
    logprob: float | None = None
    top: tuple[tuple[int, float], ...] = ()
    finish: Finish | None = None
