"""What a client asks of the engine, and what it gets back token by token.

Both are plain values; whether a model can serve a Request is asked when it is submitted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from temp0.errors import RequestError

Finish = Literal["stop", "length"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A prompt as token ids, and how to go on from it.

    Temperature 0 is greedy. Above 0, `seed` makes the text repeatable; without one every request draws anew.
    `top_logprobs` counts the most likely tokens to report beside each chosen one and needs `logprobs`.
    `ignore_eos` goes on to `max_tokens` whatever the model emits. Without `use_prefix_cache` the request is cold:
    it takes no part in the prefix cache, so every position is computed for it alone. `logits` asks for the numbers
    that each token was chosen from. `prompt_logprobs` asks for the logprob of every token of the prompt but the first,
    with `top_logprobs` alternatives; such a request is cold, since what is not computed has no logprob. With them
    `max_tokens` may be 0: the one emission then only brings them, and its token is no part of an answer.
    """

    tokens: tuple[int, ...]
    max_tokens: int
    temperature: float = 0.0
    seed: int | None = None
    logprobs: bool = False
    top_logprobs: int = 0
    ignore_eos: bool = False
    use_prefix_cache: bool = True
    logits: bool = False
    prompt_logprobs: bool = False

    @property
    def is_cold(self) -> bool:
        """Whether it takes no part in the prefix cache."""
        return self.prompt_logprobs or not self.use_prefix_cache

    @property
    def most_tokens(self) -> int:
        """The most that prompt and answer can have together."""
        return len(self.tokens) + self.max_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What the model says of a token that was given to it: its logprob, and the most likely tokens in its place.

    Both are as in an `Emission`, bit for bit, where the model would have emitted that token itself.
    """

    token: int
    logprob: float
    top: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Emission:
    """One token that the model emitted.

    `logprob` is the natural logarithm of its probability at temperature 1, None unless asked for; `top` holds the
    most likely tokens with theirs, most likely first. `finish` is set on the last emission only: "stop" when the
    token ends the answer (it has no bytes of its own), "length" when max_tokens is reached. `cached_tokens` of the
    prompt were taken from the prefix cache instead of computed; every emission of a request says the same. `logits`
    are the head's fp32 sums [vocab], a copy of its own, None unless asked for; they take no part in equality. `prompt`
    has the scores of the prompt's tokens from the second on, where asked for, on the first emission only.
    """

    token: int
    logprob: float | None = None
    top: tuple[tuple[int, float], ...] = ()
    finish: Finish | None = None
    cached_tokens: int = 0
    prompt: tuple[Score, ...] = ()
    logits: NDArray[np.float32] | None = field(default=None, compare=False, repr=False)


def check(request: Request, *, vocab: int, context_tokens: int, cache_tokens: int) -> None:
    """RequestError, saying what to change, for a request that no waiting would make servable."""
    if not request.tokens:
        raise RequestError("the prompt has no tokens, expected at least one")
    if not 0 <= min(request.tokens) <= max(request.tokens) < vocab:
        raise RequestError(f"the prompt holds a token id outside 0 to {vocab - 1}, the model's vocabulary")
    fewest = 0 if request.prompt_logprobs else 1
    if request.max_tokens < fewest:
        raise RequestError(f"max_tokens is {request.max_tokens}, expected at least {fewest}")
    for limit, what in ((context_tokens, "context"), (cache_tokens, "KV cache")):
        if request.most_tokens > limit:
            raise RequestError(
                f"prompt ({len(request.tokens)} tokens) and max_tokens ({request.max_tokens}) add up to "
                f"{request.most_tokens}, more than the {limit} of the {what}: shorten the prompt or lower max_tokens"
            )
    if not 0 <= request.temperature < math.inf:
        raise RequestError(f"temperature is {request.temperature}, expected 0 or more")
    most = vocab if request.logprobs or request.prompt_logprobs else 0
    if not 0 <= request.top_logprobs <= most:
        raise RequestError(
            f"top_logprobs is {request.top_logprobs}, expected 0 to {most}"
            + ("" if request.logprobs else " where logprobs are off")
        )
