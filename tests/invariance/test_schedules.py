"""Whatever comes, leaves or is forgotten, and when: everybody gets, bit for bit, the answer of a lone request."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from company_situations import asking
from hypothesis import HealthCheck, Phase, event, find, given, settings
from planted import OrderByCount
from random_engine import engines, engines_with
from random_model import ODD, checkpoint_of
from schedule import Arrival, Leave, Reset, Schedule, Wait, played, schedules
from watched import Lone, Make, differences, happened, run_out, steps, submitted

from temp0.engine.arithmetic import InvariantArithmetic

CHECKPOINT = checkpoint_of(ODD)
INVARIANT = engines(CHECKPOINT)
LONE = Lone(INVARIANT)

EVENTFUL = Schedule(
    pages=6,
    max_running=4,
    chunk_tokens=20,
    prefix_cache=True,
    events=(
        Arrival(asking(33, max_tokens=30)),
        Wait(3),
        Arrival(asking(47, max_tokens=30)),
        Arrival(asking(16, seed=1, max_tokens=30)),
        Wait(10),
        Leave(1),
        Arrival(asking(48, max_tokens=12)),
        Wait(25),
        Reset(),
        Arrival(asking(48, max_tokens=12)),
    ),
)


@settings(max_examples=120, deadline=None)
@given(schedules())
def test_nobody_can_tell_what_else_went_on(schedule: Schedule) -> None:
    seen = played(INVARIANT, schedule)
    event(f"preempted: {seen.preemptions > 0}, warm: {seen.cached_tokens > 0}")
    assert differences(seen.watched, LONE) == []


def test_nobody_can_tell_in_an_eventful_life() -> None:
    seen = played(INVARIANT, EVENTFUL)
    assert seen.preemptions > 0
    assert seen.cached_tokens > 0
    assert differences(seen.watched, LONE) == []


class InterruptedArithmetic(InvariantArithmetic):
    """Calls `interrupt` in the middle of every pass: when its batch is settled, and before anything is computed."""

    def __init__(self) -> None:
        super().__init__(activations="bf16", threads=1)
        self.interrupt: Callable[[], object] = lambda: None

    def limited(self) -> AbstractContextManager[object]:
        self.interrupt()
        return super().limited()


@pytest.mark.parametrize("after", range(1, 14))
def test_nobody_can_tell_what_happens_in_the_middle_of_a_step(after: int) -> None:
    """One leaves, another comes and the prefix cache is emptied while the batch that they see is being computed."""
    arithmetic = InterruptedArithmetic()
    engine = engines_with(CHECKPOINT, lambda: arithmetic)(chunk_tokens=16, kv_tokens=128)
    leaver, *watched = [submitted(engine, asking(40, seed=seed // 2, max_tokens=14)) for seed in range(3)]

    def interrupt() -> None:
        arithmetic.interrupt = lambda: None
        engine.cancel(leaver.ticket)
        engine.reset_prefix_cache()
        watched.append(submitted(engine, asking(40, max_tokens=14)))

    steps(engine, after)
    arithmetic.interrupt = interrupt
    run_out(engine, watched)
    happened(len(watched) == 3 and not leaver.has_ended, "one came and one left")
    assert differences([leaver, *watched], LONE) == []


@pytest.mark.parametrize("most", [1, 8, 40])
def test_schedules_find_a_kernel_that_depends_on_the_number_of_rows(most: int) -> None:
    make = engines_with(CHECKPOINT, lambda: OrderByCount(most=most))
    searching = settings(
        max_examples=200, phases=[Phase.generate], database=None, suppress_health_check=list(HealthCheck)
    )
    assert find(schedules(), lambda schedule: _is_told(make, schedule), settings=searching)


def _is_told(make: Make, schedule: Schedule) -> bool:
    return bool(differences(played(make, schedule).watched, Lone(make)))
