"""Random lives of an engine as values: who comes when, who leaves, and what the engine has room for.

Short prompts of few texts, in little room: so that prefixes are shared, pages run out and requests are preempted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from company_situations import asking
from hypothesis import strategies as st
from watched import TOP_LOGPROBS, Make, Watched, run_out, steps, submitted

from temp0.engine import Request
from temp0.engine.page import PAGE_TOKENS


@dataclass(frozen=True, slots=True)
class Arrival:
    request: Request


@dataclass(frozen=True, slots=True)
class Wait:
    steps: int


@dataclass(frozen=True, slots=True)
class Leave:
    """Whoever came `which` arrivals before the last one leaves, if still there."""

    which: int


@dataclass(frozen=True, slots=True)
class Reset:
    """The prefix cache is emptied."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """An engine's limits, and what happens to it one after another; at the end everybody is served."""

    pages: int
    max_running: int
    chunk_tokens: int
    prefix_cache: bool
    events: tuple[Arrival | Wait | Leave | Reset, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """Everybody who came, and what else took place."""

    watched: list[Watched]
    preemptions: int
    cached_tokens: int


def played(make: Make, schedule: Schedule) -> Played:
    engine = make(
        kv_tokens=schedule.pages * PAGE_TOKENS,
        max_running=schedule.max_running,
        chunk_tokens=schedule.chunk_tokens,
        prefix_cache=schedule.prefix_cache,
    )
    watched: list[Watched] = []
    gone: set[int] = set()
    for event in schedule.events:
        match event:
            case Arrival(request):
                watched.append(submitted(engine, request))
            case Wait(count):
                steps(engine, count)
            case Leave(which) if which < len(watched):
                engine.cancel(watched[-1 - which].ticket)
                gone.add(len(watched) - 1 - which)
            case Reset():
                engine.reset_prefix_cache()
    run_out(engine, [one for place, one in enumerate(watched) if place not in gone])
    return Played(watched=watched, preemptions=engine.preemptions, cached_tokens=engine.cached_tokens)


LENGTHS = (33, 1, 15, 16, 17, 31, 32, 40, 47, 48, 49)
ANSWERS = (34, 20, 3, 1)
FEWEST_PAGES = -(-(max(LENGTHS) + max(ANSWERS)) // PAGE_TOKENS)


@st.composite
def requests(draw: st.DrawFn) -> Request:
    asked = asking(
        draw(st.sampled_from(LENGTHS)), seed=draw(st.integers(0, 1)), max_tokens=draw(st.sampled_from(ANSWERS))
    )
    if draw(st.booleans()):
        asked = replace(asked, logprobs=True, top_logprobs=TOP_LOGPROBS)
    if draw(st.booleans()):
        asked = replace(asked, temperature=0.8, seed=draw(st.integers(0, 1)))
    return replace(asked, use_prefix_cache=draw(st.sampled_from((True, True, True, False))))


@st.composite
def events(draw: st.DrawFn) -> tuple[Arrival | Wait | Leave | Reset, ...]:
    """Arrivals, and after each of them what else happens before the next."""
    others = st.one_of(st.builds(Wait, st.integers(1, 25)), st.builds(Leave, st.integers(0, 3)), st.just(Reset()))
    visits = draw(
        st.lists(st.tuples(st.builds(Arrival, requests()), st.lists(others, max_size=2)), min_size=2, max_size=14)
    )
    return tuple(event for arrival, after in visits for event in (arrival, *after))


def schedules() -> st.SearchStrategy[Schedule]:
    return st.builds(
        Schedule,
        pages=st.integers(FEWEST_PAGES, FEWEST_PAGES + 4),
        max_running=st.integers(2, 8),
        chunk_tokens=st.integers(1, FEWEST_PAGES * PAGE_TOKENS),
        prefix_cache=st.sampled_from((True, True, False)),
        events=events(),
    )
