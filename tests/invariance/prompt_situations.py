"""Situations that differ in how a text is computed: in which pieces it is read, or token by token.

Each plays on an engine that it has made, checks that it came about, and returns every answer for comparison.
"""

from __future__ import annotations

from dataclasses import replace

from company_situations import asking
from watched import Make, Watched, happened, run_out, submitted

LENGTH = 100
LONG = asking(LENGTH, seed=50)


def chunk(make: Make, size: int) -> list[Watched]:
    """A long prompt read `size` tokens at a time."""
    engine = make(chunk_tokens=size)
    watched = submitted(engine, LONG)
    reading = 0
    while not watched.emissions:
        reading += engine.step()
    happened(reading == -(-LENGTH // size), f"the prompt is read in pieces of {size}")
    return run_out(engine, [watched])


def cut(make: Make, at: int) -> list[Watched]:
    """A long prompt read in two pieces, the first of `at` tokens, because another prompt comes before it."""
    engine = make(chunk_tokens=LENGTH)
    watched = [submitted(engine, asking(LENGTH - at, seed=51)), submitted(engine, LONG)]
    engine.step()
    happened(bool(watched[0].emissions) and not watched[1].emissions, "only the first prompt is read whole")
    engine.step()
    happened(len(watched[1].emissions) == 1, "the second prompt is read in two pieces")
    return run_out(engine, watched)


def chunk_in_company(make: Make, size: int) -> list[Watched]:
    """Three long prompts and a short one share chunks of `size` tokens."""
    engine = make(chunk_tokens=size)
    watched = [submitted(engine, asking(length, seed=length)) for length in (37, 12, 64, 3)]
    engine.step()
    happened(engine.running == 4, "four in flight")
    return run_out(engine, watched)


def rescored(make: Make, count: int) -> list[Watched]:
    """An answer, and the same answer with every token chosen by a pass over the whole text before it."""
    engine = make(prefix_cache=False, chunk_tokens=LENGTH + count)
    decoded = submitted(engine, replace(LONG, max_tokens=count))
    run_out(engine, [decoded])
    texts = [LONG.tokens + tuple(decoded.tokens[:done]) for done in range(count)]
    passes = [run_out(engine, [submitted(engine, replace(LONG, tokens=text, max_tokens=1))])[0] for text in texts]
    happened(all(len(one.emissions) == 1 for one in passes), "every token has a pass of its own")
    return [decoded, Watched(decoded.request, [one.emissions[0] for one in passes])]
