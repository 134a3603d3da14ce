"""What a plan costs, and what its blocks can find."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from temp0.core.budget import (
    blocks_of,
    cost,
    needed_blocks,
    primers,
    seen_chance,
    smallest_p,
    smallest_p_of,
)
from temp0.core.plan import Condition, Message, Plan, Prompt


def plan(*conditions: Condition, n: int = 8) -> Plan:
    prompt = Prompt(id="a", messages=(Message(role="user", content="x" * 40),), n=n, max_tokens=100)
    return Plan(prompts=(prompt,), conditions=conditions)


@pytest.mark.parametrize(("rate", "blocks"), [(0.1, 29), (0.005, 598), (0.001, 2995)])
def test_so_many_blocks_see_a_rate_with_95_percent_chance_and_one_fewer_does_not(rate: float, blocks: int) -> None:
    assert needed_blocks(rate) == blocks
    assert seen_chance(rate, blocks) >= 0.95 > seen_chance(rate, blocks - 1)


def test_thirty_blocks_see_half_a_percent_with_14_percent_chance() -> None:
    assert seen_chance(0.005, 30) == pytest.approx(0.1396, abs=1e-4)


@given(st.floats(0.0001, 0.5), st.floats(0.5, 0.999))
def test_needed_blocks_are_the_fewest(rate: float, chance: float) -> None:
    needed = needed_blocks(rate, chance)
    assert seen_chance(rate, needed) >= chance - 1e-9
    assert needed == 1 or seen_chance(rate, needed - 1) < chance + 1e-9


def test_a_warm_block_is_paid_for_with_as_many_primers_as_its_company() -> None:
    warm = plan(Condition(cache="warm"), Condition(company=4, cache="warm"))
    price = cost(warm.blocks(), filler_tokens=16)
    assert (price.judged, price.primers, price.fillers) == (16, 8 + 2 * 4, 2 * 3)
    assert price.prompt_tokens == (16 + 16 + 6) * 10
    assert price.completion_tokens == 16 * 100 + 16 * 1 + 6 * 16


@pytest.mark.parametrize("cache", ["as-found", "cold"])
def test_other_blocks_need_no_primer(cache: str) -> None:
    one = plan(Condition(company=4, cache=cache))  # type: ignore[arg-type]
    assert cost(one.blocks(), filler_tokens=16).primers == 0
    assert [primers(block) for block in one.blocks()] == [0, 0]


def test_conditions_that_two_factors_set_apart_are_not_compared() -> None:
    apart = plan(Condition(), Condition(company=8, cache="warm"))
    assert smallest_p(apart) is None
    bridged = plan(Condition(), Condition(company=8, cache="warm"), Condition(cache="warm"))
    as_found, company, warm = bridged.conditions
    assert smallest_p_of(bridged, company) == pytest.approx(1 / 9)  # 1 block against 8 alone, both warm
    assert smallest_p_of(bridged, as_found) == smallest_p_of(bridged, warm) == pytest.approx(2 / 12870)
    assert smallest_p(bridged) == pytest.approx(2 / 12870)


def test_the_smallest_p_is_that_of_the_best_comparison_of_the_best_prompt() -> None:
    prompts = tuple(
        Prompt(id=name, messages=(Message(role="user", content=name),), n=n, max_tokens=9)
        for name, n in (("a", 2), ("b", 8))
    )
    two = Plan(prompts=prompts, conditions=(Condition(), Condition(stream=True)))
    assert smallest_p(two) == pytest.approx(2 / 12870)
    assert blocks_of(two, prompts[0], Condition(company=8)) == 1
