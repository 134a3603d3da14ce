"""Presets: which conditions answer which question, and what is left of them at an endpoint."""

import re

import pytest

from temp0.core.budget import smallest_p_of
from temp0.core.estimate import ALPHA
from temp0.core.plan import Condition, Plan
from temp0.errors import EndpointError, UsageError
from temp0.probe.endpoint import ColdMeans, NoColdMeans
from temp0.workflow import planning
from temp0.workflow.planning import Wish
from temp0.workflow.preset import PRESETS, Ask, fitted, proposal
from temp0.workflow.varying import Said

MEANS = ColdMeans(server="llama.cpp", by="cache_prompt: false", is_reset=False)
NONE = NoColdMeans(why="it is a test")


def a_plan(ask: Ask | None, said: Said | None = None) -> tuple[Plan, frozenset[str]]:
    proposed = proposal(ask, said or Said())
    return planning.plan(planning.built_in_prompts(Wish(n=proposed.n)), proposed.conditions), proposed.optional


def names(ask: Ask | None, **said: object) -> list[str]:
    return [condition.name for condition in proposal(ask, Said(**said)).conditions]  # type: ignore[arg-type]


def left(ask: Ask, *, can_logprobs: bool = True, cold: ColdMeans | NoColdMeans | None = MEANS) -> list[str]:
    plan, _ = fitted(*a_plan(ask), dialect="anthropic", can_logprobs=can_logprobs, cold=cold)
    return [condition.name for condition in plan.conditions]


def test_without_a_preset_everything_is_as_it_was() -> None:
    proposed = proposal(None, Said())
    assert proposed.conditions == (Condition(), Condition(company=8))
    assert (proposed.n, proposed.optional) == (None, frozenset())


def test_what_is_said_of_factors_is_crossed() -> None:
    crossed = names(None, company=(1, 8), filler="both", cache="both", stream="both")
    assert len(crossed) == len(set(crossed)) == (1 + 2) * 2 * 2
    assert "company 8 mixed, stream, cache warm" in crossed
    assert "alone, cache cold" in crossed


def test_repeatable_is_alone_often_enough_to_bound_unlike_answers_by_5_percent() -> None:
    proposed = proposal("repeatable", Said())
    assert proposed.conditions == (Condition(),)
    assert proposed.n == 59
    assert 1 - 0.05 ** (1 / 59) < 0.05 < 1 - 0.05 ** (1 / 58)


def test_company_is_a_ladder_above_alone() -> None:
    assert names("company") == ["alone", "company 2", "company 4", "company 8", "company 16"]


def test_cache_is_cold_and_warm_with_and_without_logprobs() -> None:
    assert names("cache") == [
        "alone, cache cold", "alone, logprobs, cache cold", "alone, cache warm", "alone, logprobs, cache warm",
    ]  # fmt: skip


def test_everything_varies_each_factor_by_itself() -> None:
    conditions = proposal("everything", Said()).conditions
    base = conditions[0]
    assert base.name == "alone"
    away = {one.name: base.factors_apart(one) for one in conditions[1:]}
    assert {factors for factors in away.values() if len(factors) == 1} == {
        ("company",), ("cache",), ("logprobs",), ("stream",),
    }  # fmt: skip
    assert [name for name, factors in away.items() if len(factors) > 1] == ["company 8, logprobs"]
    assert {"company 8 mixed", "alone, cache cold", "alone, cache warm"} <= set(away)


@pytest.mark.parametrize("ask", list(PRESETS))
def test_every_condition_of_a_preset_can_be_told_from_another(ask: Ask) -> None:
    plan, _ = a_plan(ask)
    if len(plan.conditions) > 1:
        assert all((smallest_p_of(plan, one) or 1) <= ALPHA for one in plan.conditions)


def test_a_flag_goes_before_what_a_preset_plans() -> None:
    assert names("company", company=(1, 32), cache="warm") == ["alone, cache warm", "company 32, cache warm"]
    assert names("cache", logprobs="off") == ["alone, cache cold", "alone, cache warm"]
    assert not any("stream" in name for name in names("everything", stream="off"))
    assert proposal("repeatable", Said(), n=5).n == 5
    assert [one.n for one in proposal("company", Said(alone=3)).conditions] == [3, None, None, None, None]


def test_fewer_attempts_than_a_preset_wants_are_fewer_everywhere() -> None:
    assert {one.n for one in proposal("everything", Said(), n=4).conditions} == {4, None}
    assert {one.n for one in proposal("everything", Said(), n=400).conditions} == {12, 16, None}


def test_an_unknown_preset_is_refused() -> None:
    with pytest.raises(UsageError, match="ask is 'nothing', expected one of: repeatable, company, cache, everything"):
        proposal("nothing", Said())  # type: ignore[arg-type]


def test_an_endpoint_that_can_do_it_all_gets_it_all() -> None:
    plan, optional = a_plan("everything")
    assert fitted(plan, optional, dialect="anthropic", can_logprobs=True, cold=MEANS) == (plan, ())


def test_what_an_endpoint_cannot_do_is_left_out_of_a_preset_with_a_note() -> None:
    plan, notes = fitted(*a_plan("everything"), dialect="anthropic", can_logprobs=False, cold=NONE)
    remaining = [condition.name for condition in plan.conditions]
    assert not any("logprobs" in name or "cold" in name for name in remaining)
    assert "alone, cache warm" in remaining
    assert "logprobs are left out" in notes[0]
    assert notes[1] == (
        "note: temp0 knows no way to make this server's prefix cache cold, since it is a test; cold is left out"
    )


def test_where_cold_is_the_question_it_is_asked_as_found_instead() -> None:
    _, notes = fitted(*a_plan("cache"), dialect="anthropic", can_logprobs=True, cold=NONE)
    assert "cold is left out, and asked as found instead: only the first answer to each prompt can be" in notes[0]


def test_nothing_but_a_plain_judged_attempt_takes_the_only_cold_answer_to_a_prompt() -> None:
    assert left("cache", cold=NONE) == ["alone"]
    plan, _ = fitted(*a_plan("cache", Said(logprobs="both")), dialect="anthropic", can_logprobs=True, cold=NONE)
    assert [condition.name for condition in plan.conditions] == ["alone", "alone, logprobs"]  # as somebody asked for


@pytest.mark.parametrize(
    ("said", "can_logprobs", "cold", "says"),
    [
        (Said(cache="cold"), True, NONE, "temp0 knows no way to make this server's prefix cache cold, since it is"),
        (Said(logprobs="on"), False, MEANS, "the dialect anthropic has no logprobs"),
    ],
)
@pytest.mark.parametrize("ask", [None, "everything"])
def test_what_somebody_asked_for_is_refused_and_never_left_out(
    ask: Ask | None, said: Said, can_logprobs: bool, cold: ColdMeans | NoColdMeans, says: str
) -> None:
    with pytest.raises(EndpointError, match=re.escape(says)):
        fitted(*a_plan(ask, said), dialect="anthropic", can_logprobs=can_logprobs, cold=cold)
