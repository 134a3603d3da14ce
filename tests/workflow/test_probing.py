"""One sitting: what is given back, however it ends."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from temp0.core.judgement import analysis
from temp0.core.run import Attempt, Sample
from temp0.errors import StoreError
from temp0.store import Store
from temp0.workflow import planning
from temp0.workflow.planning import Wish
from temp0.workflow.probing import Where, probe


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
