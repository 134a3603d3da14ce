"""One sitting: what is given back, however it ends."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import temp0
from temp0.core.judgement import analysis
from temp0.core.plan import Plan
from temp0.core.run import Attempt, Completion, Sample
from temp0.errors import EndpointError, StoreError
from temp0.store import Store
from temp0.workflow import planning
from temp0.workflow.planning import Wish
from temp0.workflow.preset import proposal
from temp0.workflow.probing import Start, Where, probe
from temp0.workflow.varying import Said


class Filling(Store):
    """A store whose disk is full after so many groups."""

    groups = 2

    def append(self, run_id: str, attempts: Sequence[Attempt], samples: Sequence[Sample] = ()) -> None:
        if self.groups == 0:
            raise StoreError("the store cannot grow, since the disk is full")
        self.groups -= 1
        super().append(run_id, attempts, samples)


def test_a_store_that_fails_on_the_way_stops_the_sitting_and_loses_nothing(tmp_path: Path) -> None:
    plan = planning.plan(planning.text_prompts(["x"], Wish(n=40)), planning.conditions(company=(1,)))
    with Filling.open(tmp_path / "runs.db") as store:
        sitting = asyncio.run(probe(plan, Where(url="fake:delay_ms=5"), store=store))
        kept = store.load(sitting.run.id).attempts
        assert not store.is_finished(sitting.run.id)
    assert sitting.stopped is not None
    assert "disk is full" in sitting.stopped.message
    assert sitting.interrupted
    assert len(kept) < len(sitting.run.attempts) < 40
    assert analysis(sitting.run).requests == len(sitting.run.attempts)


def test_a_whole_sitting_is_marked_finished(tmp_path: Path) -> None:
    plan = planning.plan(planning.text_prompts(["x"], Wish(n=3)), planning.conditions(company=(1, 2)))
    with Store.open(tmp_path / "runs.db") as store:
        sitting = asyncio.run(probe(plan, Where(url="fake:"), store=store))
        assert store.is_finished(sitting.run.id)
        assert store.load(sitting.run.id) == sitting.run


FORGETFUL, OBSTINATE = Where(url="fake:cold_text=1"), Where(url="fake:cold_text=1,can_cold=0")


def cached(n: int = 4) -> Plan:
    conditions = planning.conditions(company=1, cache="both")
    return planning.plan(planning.text_prompts(["x"], Wish(n=n)), conditions)


def texts(attempts: Sequence[Attempt], condition: str) -> set[str]:
    return {
        one.outcome.text
        for one in attempts
        if one.condition == condition and one.role == "judged" and isinstance(one.outcome, Completion)
    }


def test_cold_and_warm_are_two_states_however_their_blocks_are_mixed() -> None:
    starts: list[Start] = []
    run = asyncio.run(probe(cached(), FORGETFUL, on_start=starts.append)).run
    cold, warm = texts(run.attempts, "alone, cache cold"), texts(run.attempts, "alone, cache warm")
    assert len(cold) == len(warm) == 1
    assert cold != warm
    assert run.cold_by == "cold questions"
    assert starts[0].cold is not None
    assert sum(one.role == "filler" for one in run.attempts) == 4


def test_what_the_server_tells_of_its_cache_agrees_with_the_condition() -> None:
    run = asyncio.run(probe(cached(), FORGETFUL)).run
    told = {
        (one.condition, bool(one.outcome.usage.cached))
        for one in run.attempts
        if one.role == "judged" and isinstance(one.outcome, Completion)
    }
    assert told == {("alone, cache cold", False), ("alone, cache warm", True)}


def test_a_server_whose_cache_cannot_be_made_cold_is_refused_before_anything_is_kept_or_sent(tmp_path: Path) -> None:
    with Store.open(tmp_path / "runs.db") as store:
        with pytest.raises(EndpointError, match="temp0 knows no way to make this server's prefix cache cold") as caught:
            asyncio.run(probe(cached(), OBSTINATE, store=store))
        assert store.runs() == ()
    assert caught.value.exit_code == 2


def test_of_a_preset_cold_is_left_out_and_that_is_said() -> None:
    proposed = proposal("cache", Said(), n=2)
    plan = planning.plan(planning.text_prompts(["x"], Wish(n=2)), proposed.conditions)
    starts: list[Start] = []
    run = asyncio.run(probe(plan, OBSTINATE, optional=proposed.optional, on_start=starts.append)).run
    assert "cold is left out" in starts[0].notes[0]
    assert run.cold_by is None
    assert {one.cache for one in run.plan.conditions} == {"as-found"}


def test_a_resumed_run_is_made_cold_by_the_same_means_or_refused() -> None:
    begun = asyncio.run(probe(cached(), FORGETFUL, max_requests=3)).run
    assert begun.cold_by == "cold questions"
    went_on = asyncio.run(probe(begun.plan, FORGETFUL, resume=begun)).run
    assert went_on.cold_by == begun.cold_by
    assert len(texts(went_on.attempts, "alone, cache cold")) == 1
    assert sum(one.role == "judged" for one in went_on.attempts) == 8
    with pytest.raises(EndpointError, match="was made cold by another, and here it would be by cold questions"):
        asyncio.run(probe(begun.plan, FORGETFUL, resume=replace(begun, cold_by="another")))
    moved = replace(begun, address=replace(begun.address, url=str(OBSTINATE.url)))
    with pytest.raises(EndpointError, match="no way to make this server's prefix cache cold"):
        asyncio.run(probe(begun.plan, OBSTINATE, resume=moved))


def test_what_is_left_of_a_run_needs_no_cold_means_where_nothing_cold_is_left() -> None:
    whole = asyncio.run(probe(cached(), FORGETFUL)).run
    moved = replace(whole, address=replace(whole.address, url=str(OBSTINATE.url)))
    assert asyncio.run(probe(moved.plan, OBSTINATE, resume=moved)).run == moved


def test_exclusive_is_the_users_word_and_in_the_nature_of_the_built_in_engine() -> None:
    for said in (False, True):
        assert temp0.ask("fake:", prompts="x", n=1, company=1, exclusive=said).plan.exclusive is said
    assert Where().is_builtin
    assert Where(url="builtin:m?arithmetic=stock").is_builtin
    assert not Where(url="fake:").is_builtin


def test_a_library_asks_presets_too() -> None:
    run = temp0.ask("fake:can_cold=0", prompts="x", ask="cache", n=2, stream="both", logprobs="off")
    assert [condition.name for condition in run.plan.conditions] == ["alone", "alone, stream"]
