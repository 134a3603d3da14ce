"""A stored run judged by several processes, which must find what one finds."""

from __future__ import annotations

from pathlib import Path

import temp0
from planted_run import events, planted_run
from temp0.core.judgement import analysis
from temp0.core.run import Attempt, Sample
from temp0.store import Store
from temp0.workflow.judging import judged_run, shared_out

FAKE = "fake:variants=3,rate=0.3,company_rate=0.6,jitter_ms=2,seed=3"


def kept_run(path: Path) -> str:
    prompts = [f"Say {word}." for word in ("one", "two", "three", "four", "five")]
    return temp0.ask(FAKE, prompts=prompts, n=12, company=(1, 4), logprobs="both", store=path).id


def test_several_processes_find_what_one_finds(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    run = kept_run(path)
    with Store.open(path) as store:
        alone = judged_run(store, run)
        assert alone == analysis(store.load(run))
    assert [shared_out(path, run, processes=count) for count in (2, 3)] == [alone, alone]
    assert alone.causes


def test_several_processes_find_every_planted_cause_that_one_finds(tmp_path: Path) -> None:
    path, run = tmp_path / "runs.db", planted_run(prompts=20, completions=4_000)
    happened = list(events(run))
    with Store.open(path) as store:
        store.begin(run)
        store.append(
            run.id,
            [one for one in happened if isinstance(one, Attempt)],
            [one for one in happened if isinstance(one, Sample)],
        )
        store.finish(run.id)
        alone = judged_run(store, run.id)
    assert shared_out(path, run.id, processes=2) == alone
    assert {"backend-mix", "cache-state", "order", "company", "observer"} <= {cause.cause for cause in alone.causes}
