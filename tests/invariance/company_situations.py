"""Situations that differ in who else is in flight: how many, where, when, and with what content.

Each plays on an engine that it has made, checks that it came about, and returns every answer for comparison.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from watched import TOP_LOGPROBS, Make, Watched, happened, run_out, steps, submitted

from temp0.engine import Request

# Below the smallest vocabulary of the random models, and none of the tokens that a model may have poisoned.
_FIRST_TOKEN, _LAST_TOKEN = 2, 255


def prompt(length: int, *, seed: int = 0) -> tuple[int, ...]:
    """Random tokens; the same seed gives the beginning of one text at every length."""
    return tuple(np.random.default_rng(seed).integers(_FIRST_TOKEN, _LAST_TOKEN, length).tolist())


def asking(length: int, *, seed: int = 0, max_tokens: int = 6) -> Request:
    return Request(tokens=prompt(length, seed=seed), max_tokens=max_tokens)


OURS = asking(12)


def company(make: Make, size: int) -> list[Watched]:
    """`size` requests of one length, all of them decoding in lockstep."""
    engine = make(max_running=size, queue=size, chunk_tokens=12 * size)
    watched = [submitted(engine, asking(12, seed=seed)) for seed in range(size)]
    engine.step()
    happened(engine.running == size, f"{size} in flight")
    happened(all(len(one.emissions) == 1 for one in watched), "all begin to decode in the same step")
    return run_out(engine, watched)


def place(make: Make, at: int) -> list[Watched]:
    """Our request as number `at` of 33."""
    engine = make(max_running=33)
    watched = [submitted(engine, OURS if turn == at else asking(5, seed=1 + turn)) for turn in range(33)]
    steps(engine, 2)
    happened(engine.running == 33, "33 in flight")
    return run_out(engine, watched)


def late(make: Make, after: int) -> list[Watched]:
    """Four identical requests, one of them admitted `after` steps after the others."""
    engine = make(chunk_tokens=64)
    request = replace(OURS, max_tokens=12)
    watched = [submitted(engine, request) for _ in range(3)]
    steps(engine, after)
    happened(len(watched[0].emissions) == after, "the first three are ahead")
    watched.append(submitted(engine, request))
    engine.step()
    happened(engine.running == 4, "four in flight")
    return run_out(engine, watched)


CONTENTS = {
    "our own": OURS.tokens,
    "our own, reversed": OURS.tokens[::-1],
    "one token again and again": (7,) * len(OURS.tokens),
    "random": prompt(len(OURS.tokens), seed=91),
    "random, otherwise": prompt(len(OURS.tokens), seed=92),
}


def content(make: Make, kind: str) -> list[Watched]:
    """Eight others of our own shape in every step, whose content is of one kind."""
    engine = make(chunk_tokens=256)
    theirs = replace(OURS, tokens=CONTENTS[kind])
    watched = [submitted(engine, OURS if turn == 4 else theirs) for turn in range(9)]
    engine.step()
    happened(all(len(one.emissions) == 1 for one in watched), "all read their prompts in one step")
    return run_out(engine, watched)


def lengths(make: Make, seed: int) -> list[Watched]:
    """Prompts of 1 to 130 tokens and answers of 1 to 20, in a random order."""
    engine = make(chunk_tokens=48)
    sizes = [(1, 20), (2, 3), (15, 9), (16, 12), (17, 1), (31, 6), (33, 15), (64, 4), (130, 7)]
    order = np.random.default_rng(seed).permutation(len(sizes))
    watched = [submitted(engine, asking(sizes[i][0], seed=int(i), max_tokens=sizes[i][1])) for i in order]
    steps(engine, 2)
    happened(engine.running >= 8, "nearly all in flight at once")
    return run_out(engine, watched)


def arrival(make: Make, length: int) -> list[Watched]:
    """A prompt of `length` tokens arrives while we decode, and is read in chunks beside us."""
    engine = make(chunk_tokens=32)
    watched = [submitted(engine, asking(12, max_tokens=20)), submitted(engine, asking(9, seed=3, max_tokens=20))]
    steps(engine, 3)
    watched.append(submitted(engine, asking(length, seed=8)))
    pieces = (length - 1) // 32
    steps(engine, pieces)
    happened(len(watched[0].emissions) == 3 + pieces, "we decode while it is read")
    happened(not watched[2].emissions, "it is still being read")
    return run_out(engine, watched)


def logprobs(make: Make, who: str) -> list[Watched]:
    """Logprobs asked for by some, by all, or by nobody."""
    engine = make()
    asks = {"nobody": (), "we": (2,), "the others": (0, 1, 3, 4), "all": range(5)}[who]
    told = {"logprobs": True, "top_logprobs": TOP_LOGPROBS}
    requests = [OURS if turn == 2 else asking(12, seed=turn) for turn in range(5)]
    watched = [submitted(engine, replace(one, **told) if i in asks else one) for i, one in enumerate(requests)]
    run_out(engine, watched)
    happened([i for i, one in enumerate(watched) if one.emissions[0].top] == list(asks), "only who asked is told")
    return watched


def leaving(make: Make, after: int) -> list[Watched]:
    """One of three leaves after `after` steps, and another takes its room."""
    engine = make(max_running=3, chunk_tokens=16)
    watched = [submitted(engine, asking(40, seed=seed, max_tokens=16)) for seed in range(3)]
    newcomer = submitted(engine, asking(40, seed=3))
    steps(engine, after)
    happened(engine.running == 3 and engine.waiting == 1, "three in flight, one waiting")
    engine.cancel(watched[1].ticket)
    engine.step()
    happened(engine.running == 3 and engine.waiting == 0, "the newcomer has the room of who left")
    run_out(engine, [watched[0], watched[2], newcomer])
    happened(not watched[1].has_ended, "who left has no whole answer")
    return [*watched, newcomer]


def sampled(make: Make, among: int) -> list[Watched]:
    """A greedy request, and a seeded one at temperature 0.8, among others that sample without a seed."""
    engine = make(max_running=among)
    seeded = replace(OURS, temperature=0.8, seed=7, max_tokens=12)
    watched = [submitted(engine, replace(OURS, max_tokens=12)), submitted(engine, seeded)]
    for seed in range(2, among):
        submitted(engine, replace(asking(12, seed=seed), temperature=1.3))
    engine.step()
    happened(engine.running == among, f"{among} in flight")
    return run_out(engine, watched)
