"""Situations that differ in what the KV cache holds: a prefix from before, or too little room for everybody.

Each plays on an engine that it has made, checks that it came about, and returns every answer for comparison.
"""

from __future__ import annotations

from dataclasses import replace

from company_situations import asking, prompt
from watched import TOP_LOGPROBS, Make, Watched, happened, run_out, steps, submitted

from temp0.engine import Engine, Request
from temp0.engine.page import PAGE_TOKENS


def answered(engine: Engine, request: Request) -> Watched:
    return run_out(engine, [submitted(engine, request)])[0]


def warm(make: Make, length: int) -> list[Watched]:
    """The same prompt of `length` tokens again and again."""
    engine = make(prefix_cache=True)
    watched = [answered(engine, asking(length)) for _ in range(3)]
    happened(watched[0].cached_tokens == 0, "the first is cold")
    happened(all(0 < one.cached_tokens < length for one in watched[1:]), "the others are warm")
    return watched


def partly_warm(make: Make, shared: int) -> list[Watched]:
    """A prompt that shares its first `shared` tokens with one from before."""
    engine = make(prefix_cache=True)
    first = answered(engine, asking(70))
    second = answered(engine, Request(tokens=prompt(shared) + prompt(70 - shared, seed=1), max_tokens=6))
    happened(0 < second.cached_tokens <= shared, "the beginning, and no more, is warm")
    return [first, second]


def conversation(make: Make, turns: int) -> list[Watched]:
    """Every prompt holds the last one and its answer, so that what decoding wrote is read again."""
    engine = make(prefix_cache=True)
    watched = [answered(engine, asking(20, max_tokens=30))]
    for turn in range(turns):
        last = watched[-1]
        text = last.request.tokens + tuple(last.tokens) + prompt(5, seed=turn)
        watched.append(answered(engine, Request(tokens=text, max_tokens=30)))
        happened(watched[-1].cached_tokens > len(last.request.tokens), "a part of the last answer is warm")
    return watched


def shared(make: Make, after: int) -> list[Watched]:
    """Others begin with the prompt of a request that has been running for `after` steps."""
    engine = make(prefix_cache=True, chunk_tokens=32)
    watched = [submitted(engine, asking(50, max_tokens=24))]
    steps(engine, after)
    watched += [submitted(engine, asking(50)), submitted(engine, asking(90))]
    engine.step()
    happened(not watched[0].has_ended, "the first is still running")
    run_out(engine, watched)
    happened(all(one.cached_tokens > 0 for one in watched[1:]), "the others are warm")
    return watched


def evicted(make: Make, others: int) -> list[Watched]:
    """A prompt whose pages `others` large prompts have driven out, and then once more."""
    engine = make(prefix_cache=True, kv_tokens=128, chunk_tokens=64)
    watched = [answered(engine, asking(60)), answered(engine, asking(60))]
    watched += [answered(engine, asking(110, seed=1 + turn)) for turn in range(others)]
    watched += [answered(engine, asking(60)), answered(engine, asking(60))]
    was_warm = [one.cached_tokens > 0 for one in watched]
    happened(was_warm == [False, True, *[False] * others, False, True], "warm, driven out, and warm again")
    return watched


def cold_on_demand(make: Make, length: int) -> list[Watched]:
    """A warm cache that a request asks not to read."""
    engine = make(prefix_cache=True)
    requests = [asking(length), asking(length), replace(asking(length), use_prefix_cache=False), asking(length)]
    watched = [answered(engine, request) for request in requests]
    happened([one.cached_tokens > 0 for one in watched] == [False, True, False, True], "only the third is cold")
    return watched


def emptied(make: Make, length: int) -> list[Watched]:
    """A cache that is emptied while a request runs on it."""
    engine = make(prefix_cache=True)
    watched = [answered(engine, asking(length)), submitted(engine, asking(length, max_tokens=20))]
    steps(engine, 3)
    engine.reset_prefix_cache()
    watched.append(answered(engine, asking(length)))
    happened([one.cached_tokens > 0 for one in watched] == [False, True, False], "warm, then cold again")
    return run_out(engine, watched)


LATER = asking(20, seed=5, max_tokens=70)
PREEMPTED = {
    "greedy": LATER,
    "greedy, cold": replace(LATER, use_prefix_cache=False),
    "with logprobs": replace(LATER, logprobs=True, top_logprobs=TOP_LOGPROBS),
    "sampled": replace(LATER, temperature=0.8, seed=7),
}


def preempted(make: Make, kind: str) -> list[Watched]:
    """Two that do not fit to their ends: the later one loses its pages while it decodes."""
    engine = make(kv_tokens=6 * PAGE_TOKENS, chunk_tokens=64)
    watched = [submitted(engine, asking(20, seed=4, max_tokens=44)), submitted(engine, PREEMPTED[kind])]
    until_preempted(engine, 1)
    happened(not watched[1].has_ended and len(watched[1].emissions) > 10, "the later one was decoding")
    return run_out(engine, watched)


def preempted_twice(make: Make, kind: str) -> list[Watched]:
    """The later one loses its pages, gets others when the second of three ends, and loses them again."""
    engine = make(kv_tokens=9 * PAGE_TOKENS, chunk_tokens=64)
    watched = [
        submitted(engine, asking(20, seed=4, max_tokens=90)),
        submitted(engine, asking(30, seed=6, max_tokens=24)),
    ]
    watched.append(submitted(engine, PREEMPTED[kind]))
    until_preempted(engine, 1)
    before = len(watched[2].emissions)
    until_preempted(engine, 2)
    happened(before < len(watched[2].emissions), "the later one went on between the two")
    happened(not watched[2].has_ended, "the later one is out again")
    return run_out(engine, watched)


def preempted_while_reading(make: Make, size: int) -> list[Watched]:
    """The last one loses its pages while its prompt is read in chunks of `size`, because three others grow."""
    engine = make(kv_tokens=13 * PAGE_TOKENS, chunk_tokens=size)
    watched = [submitted(engine, asking(1, seed=turn, max_tokens=60)) for turn in range(3)]
    while len(watched[2].emissions) < 11:
        engine.step()
    watched.append(submitted(engine, asking(95, seed=5)))
    until_preempted(engine, 1)
    happened(not watched[3].emissions, "the last one was still being read")
    return run_out(engine, watched)


def until_preempted(engine: Engine, times: int) -> None:
    while engine.preemptions < times and engine.step():
        pass
    happened(engine.preemptions == times, f"{times} preemptions")
