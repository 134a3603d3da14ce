"""Do the estimates keep their promises on endpoints whose truth is known?

Each test asks the shipped fake endpoint over and over with other seeds. The tolerance is what chance allows: three
standard errors of the number of runs.
"""

import asyncio
from collections.abc import Callable
from math import sqrt

import pytest

from temp0.core.analysis import Analysis, ConditionAnalysis, Verdict
from temp0.core.judgement import analysis
from temp0.workflow import planning
from temp0.workflow.planning import Wish
from temp0.workflow.probing import Where, probe

RUNS = 120


def judged(settings: str, seed: int, *, n: int, company: tuple[int, ...] = (1,)) -> Analysis:
    plan = planning.plan(planning.text_prompts(["x"], Wish(n=n)), planning.conditions(company=company), seed=seed)
    where = Where(url=f"fake:{settings},delay_ms=0,seed={seed}")
    return analysis(asyncio.run(probe(plan, where)).run)


def share(holds: Callable[[ConditionAnalysis], bool], settings: str, *, n: int) -> float:
    return sum(holds(judged(settings, seed, n=n).prompts[0].conditions[0]) for seed in range(RUNS)) / RUNS


def by_chance(promised: float) -> float:
    return promised - 3 * sqrt(promised * (1 - promised) / RUNS)


@pytest.mark.parametrize("rate", [0.02, 0.1, 0.3])
def test_the_bound_of_the_variant_rate_covers_the_true_rate(rate: float) -> None:
    covered = share(lambda one: (one.variant_rate_upper or 1) >= rate, f"variants=3,rate={rate}", n=30)
    assert covered >= by_chance(0.95)


@pytest.mark.parametrize("rate", [0.02, 0.1, 0.3])
def test_the_interval_of_agreement_covers_the_true_agreement(rate: float) -> None:
    truth = (1 - rate) ** 2 + 2 * (rate / 2) ** 2

    def covers(one: ConditionAnalysis) -> bool:
        found = one.agreement
        return (
            found is not None and found.low is not None and found.high is not None and found.low <= truth <= found.high
        )

    assert share(covers, f"variants=2,rate={rate}", n=30) >= by_chance(0.95)


def test_an_endpoint_that_never_varies_is_never_diverged() -> None:
    for seed in range(RUNS):
        found = judged("rate=0", seed, n=8, company=(1, 4))
        assert found.verdict is Verdict.AGREED
        assert found.exit_code == 0


def test_another_text_in_company_is_always_seen() -> None:
    for seed in range(20):
        found = judged("rate=0,company_text=1", seed, n=8, company=(1, 4))
        assert found.verdict is Verdict.DIVERGED
        assert found.prompts[0].comparisons[0].p == pytest.approx(1 / 45)


def test_where_company_makes_no_difference_p_is_small_no_more_often_than_it_says() -> None:
    ps = [
        judged("variants=1,rate=0.3,company_rate=0.3", seed, n=12, company=(1, 3)).prompts[0].comparisons[0].p
        for seed in range(RUNS)
    ]
    alarms = sum(p is not None and p <= 0.05 for p in ps) / RUNS
    assert alarms <= 0.05 + 3 * sqrt(0.05 * 0.95 / RUNS)
