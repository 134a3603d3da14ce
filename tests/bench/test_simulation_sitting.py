"""Does a simulated run record what happened in simulated time?"""

from dataclasses import replace
from itertools import groupby, pairwise

import pytest

from simulation.conditions import ALONE, CACHE, COMPANY, EVERYTHING, LADDER, MIXED
from simulation.crowd import steady
from simulation.delay import HOSTED, LOCAL, QUICK
from simulation.effect import PrefixCache
from simulation.scene import Scene, Setting, plan, played
from simulation.truth import Steady
from temp0.core.plan import Condition
from temp0.core.run import Attempt, Completion, Run

STEADY = Scene(truth=Steady(), right=frozenset(), delay=QUICK)
MANY_CONDITIONS = [ALONE, COMPANY, MIXED, LADDER, CACHE, EVERYTHING]


def run_of(conditions: tuple[Condition, ...], scene: Scene = STEADY, *, n: int = 10, prompts: int = 3) -> Run:
    return played(Setting(plan=plan(conditions, n=n, prompts=prompts, seed=7), seed="7"), scene)


def in_order(run: Run) -> list[Attempt]:
    return sorted(run.attempts, key=lambda attempt: attempt.order)


def running_at(run: Run, time_s: float) -> list[Attempt]:
    return [attempt for attempt in run.attempts if attempt.started_s < time_s < attempt.ended_s]


@pytest.mark.parametrize("conditions", MANY_CONDITIONS)
def test_every_block_is_carried_out_whole_and_in_its_place(conditions: tuple[Condition, ...]) -> None:
    run = run_of(conditions)
    judged = [attempt for attempt in in_order(run) if attempt.role == "judged"]
    asked = [(index, len(list(block))) for index, block in groupby(judged, key=lambda attempt: attempt.block)]
    assert asked == [(block.index, block.size) for block in run.plan.blocks()]
    by_index = {block.index: block for block in run.plan.blocks()}
    for attempt in judged:
        block = by_index[attempt.block]
        assert (attempt.prompt, attempt.condition) == (block.prompt.id, block.condition.name)


@pytest.mark.parametrize("conditions", MANY_CONDITIONS)
@pytest.mark.parametrize("scene", [STEADY, replace(STEADY, delay=HOSTED, slots=3)])
def test_places_predecessors_and_requests_in_flight_are_as_the_times_have_it(
    conditions: tuple[Condition, ...], scene: Scene
) -> None:
    attempts = in_order(run_of(conditions, scene))
    assert [attempt.order for attempt in attempts] == list(range(len(attempts)))
    for before, attempt in pairwise(attempts):
        assert attempt.predecessor == before.order
        assert before.started_s <= attempt.started_s < attempt.ended_s
    for attempt in attempts:
        earlier = [one for one in attempts[: attempt.order] if one.ended_s > attempt.started_s]
        assert attempt.in_flight == len(earlier) + 1


def test_alone_nothing_else_of_ours_is_in_flight() -> None:
    run = run_of(EVERYTHING)
    alone = {condition.name for condition in run.plan.conditions if condition.company == 1}
    ours = [attempt for attempt in in_order(run) if attempt.condition in alone and attempt.role == "judged"]
    assert len(ours) == 10 * 3 * 4
    for attempt in ours:
        assert attempt.in_flight == 1
        assert running_at(run, (attempt.started_s + attempt.ended_s) / 2) == [attempt]


@pytest.mark.parametrize("conditions", [COMPANY, MIXED])
def test_a_pool_stays_full_while_a_judged_attempt_is_in_flight(conditions: tuple[Condition, ...]) -> None:
    run = run_of(conditions)  # so quick that no place stays empty after an attempt
    times = sorted({time for attempt in run.attempts for time in (attempt.started_s, attempt.ended_s)})
    counts = set()
    for begin_s, end_s in pairwise(times):
        running = running_at(run, (begin_s + end_s) / 2)
        if any(attempt.role == "judged" and attempt.condition != "alone" for attempt in running):
            counts.add(len(running))
    assert counts == {8}


def test_beside_mixed_fillers_one_judged_attempt_at_a_time_is_in_flight_and_none_asks_its_prompt() -> None:
    run = run_of(MIXED)
    judged = [attempt for attempt in in_order(run) if attempt.role == "judged"]
    assert all(before.ended_s <= attempt.started_s for before, attempt in pairwise(judged))
    own = {attempt.block: attempt.prompt for attempt in judged}
    fillers = [attempt for attempt in run.attempts if attempt.role == "filler"]
    assert fillers
    assert all(filler.prompt != own[filler.block] for filler in fillers)


def test_fillers_of_the_same_prompt_are_cut_short() -> None:
    run = run_of(COMPANY, replace(STEADY, delay=LOCAL))
    fillers = [attempt.outcome for attempt in run.attempts if attempt.role == "filler"]
    assert fillers
    assert all(isinstance(answer, Completion) and answer.finish == "length" for answer in fillers)
    assert {answer.usage.completion for answer in fillers if isinstance(answer, Completion)} == {16}


def test_the_servers_count_is_that_of_the_requests_it_works_on() -> None:
    run = run_of(COMPANY, replace(STEADY, delay=LOCAL, has_metrics=True))
    assert len(run.samples) > 60
    for sample in run.samples:
        running = [one for one in run.attempts if one.started_s <= sample.at_s < one.ended_s]
        assert sample.running == len(running)
        assert sample.block in {attempt.block for attempt in running if attempt.role == "judged"}


def test_a_serial_server_counts_one_and_answers_in_turn() -> None:
    run = run_of(COMPANY, replace(STEADY, delay=LOCAL, has_metrics=True, slots=1))
    assert {sample.running for sample in run.samples} == {1}
    pooled = [attempt for attempt in in_order(run) if attempt.in_flight == 8]
    assert pooled
    assert all(before.ended_s < attempt.ended_s for before, attempt in pairwise(pooled))


def test_strangers_are_counted_by_the_server_and_by_nobody_else() -> None:
    setting = Setting(plan=plan(ALONE, n=30, prompts=1, seed=1), seed="1")
    scene = replace(STEADY, delay=LOCAL, has_metrics=True)
    crowded = replace(scene, crowd=steady(setting.random("crowd"), piece_s=0.1, size=4), slowdown=0.0)
    run = played(setting, crowded)
    assert max(sample.running for sample in run.samples) > 4
    assert {attempt.in_flight for attempt in run.attempts} == {1}


def test_a_server_without_metrics_tells_no_count() -> None:
    assert run_of(COMPANY).samples == ()


def test_a_warm_block_is_primed_and_a_cold_one_is_cold() -> None:
    run = run_of(CACHE, replace(STEADY, truth=PrefixCache(), tells_cached=True))
    cached = {
        condition.name: {
            attempt.outcome.usage.cached
            for attempt in run.attempts
            if attempt.condition == condition.name
            and attempt.role == "judged"
            and isinstance(attempt.outcome, Completion)
        }
        for condition in CACHE
    }
    assert cached["alone, cache cold"] == {0}
    assert cached["alone, cache warm"] == {23}
    assert cached["alone"] == {0, 23}
    assert run.cold_by is not None
    assert sum(attempt.role == "filler" for attempt in run.attempts) == 30


def test_equal_seeds_give_equal_runs_and_others_do_not() -> None:
    asked = plan(COMPANY, n=10, prompts=1, seed=3)
    scene = replace(STEADY, delay=HOSTED)
    first, again, other = (played(Setting(plan=asked, seed=seed), scene) for seed in ("a", "a", "b"))
    assert first == again
    assert [attempt.ended_s for attempt in first.attempts] != [attempt.ended_s for attempt in other.attempts]
