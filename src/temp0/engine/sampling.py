"""From logits to tokens and their probabilities.

A greedy row takes the first index of its greatest logit, whoever else is in the batch. A sampled row draws one number
per token from a generator of its own, so that its text depends on its seed and on nobody's company.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from temp0 import kernels
from temp0.engine.checkpoint import Array
from temp0.engine.request import Emission, Request, Score

_SEEDS = 2**64


def generator_of(request: Request) -> np.random.Generator | None:
    """The generator that a request draws from: none when greedy, seeded by its seed, or by fresh entropy."""
    if request.temperature == 0:
        return None
    return np.random.default_rng(None if request.seed is None else request.seed % _SEEDS)


def choose(
    logits: Array, requests: Sequence[Request], generators: Sequence[np.random.Generator | None]
) -> list[Emission | None]:
    """One emission for each row of logits [L, vocab]; none of them is finished yet.

    None for a row whose highest logit is a NaN or an infinity: no token can be chosen from it.
    """
    highest = kernels.argmax(logits)
    usable = np.isfinite(logits[np.arange(len(logits)), highest])
    logprobs = _logprobs(logits, [row for row, request in enumerate(requests) if request.logprobs and usable[row]])
    return [
        _emission(logits[row], int(highest[row]), logprobs.get(row), request, generator) if usable[row] else None
        for row, (request, generator) in enumerate(zip(requests, generators, strict=True))
    ]


def score(logits: Array, token: int, alternatives: int) -> Score | None:
    """The score of a token that was given where the model had these logits [vocab], by the arithmetic of `choose`.

    None where they are not numbers.
    """
    rows = logits[None]
    if not np.isfinite(logits[kernels.argmax(rows)[0]]):
        return None
    (logprobs,) = _logprobs(rows, [0]).values()
    return Score(token=token, logprob=float(logprobs[token]), top=most_likely(logprobs, alternatives))


def sampled(logits: Array, temperature: float, generator: np.random.Generator) -> int:
    """A token drawn from softmax(logits / temperature) by inverting its cumulative sum, added in order in float64."""
    below = logits.astype(np.float64) - logits.max()
    with np.errstate(over="ignore"):  # near temperature 0 a quotient may pass to minus infinity, whose weight is 0
        weights = (below / temperature).astype(np.float32)[None]
    kernels.softmax(weights, weights)
    cumulative = np.cumsum(weights[0], dtype=np.float64)
    drawn = np.searchsorted(cumulative, generator.random() * cumulative[-1], side="right")
    return min(int(drawn), len(logits) - 1)


def most_likely(logprobs: Array, count: int) -> tuple[tuple[int, float], ...]:
    """The `count` most likely tokens with their logprobs, most likely first, the lower id first among equals."""
    if count == 0:
        return ()
    count = min(count, len(logprobs))
    least = np.partition(logprobs, -count)[-count]
    candidates: NDArray[np.intp] = np.flatnonzero(logprobs >= least)
    ranked = candidates[np.argsort(-logprobs[candidates], kind="stable")][:count]
    return tuple((int(token), float(logprobs[token])) for token in ranked)


def _emission(
    logits: Array, highest: int, logprobs: Array | None, request: Request, generator: np.random.Generator | None
) -> Emission:
    token = highest if generator is None else sampled(logits, request.temperature, generator)
    return Emission(
        token=token,
        logprob=None if logprobs is None else float(logprobs[token]),
        top=() if logprobs is None else most_likely(logprobs, request.top_logprobs),
        logits=logits.copy() if request.logits else None,
    )


def _logprobs(logits: Array, rows: Sequence[int]) -> dict[int, Array]:
    """The logprobs [vocab] of some rows, by row."""
    logprobs = np.empty((len(rows), logits.shape[1]), dtype=np.float32)
    if rows:
        kernels.log_softmax(logits[rows], logprobs)
    return dict(zip(rows, logprobs, strict=True))
