"""What is said before anything is sent."""

import json

import pytest

from temp0.core.plan import Plan
from temp0.probe.endpoint import ColdMeans
from temp0.workflow import planning
from temp0.workflow.costing import announcement, plan_document
from temp0.workflow.planning import Wish


def a_plan(*, n: int = 30, **said: object) -> Plan:
    conditions = planning.conditions(**said)  # type: ignore[arg-type]
    return planning.plan(planning.text_prompts(["one"], Wish(n=n)), conditions)


def said_of(plan: Plan, cold: ColdMeans | None = None) -> str:
    return "\n".join(announcement(plan, plan.blocks(), cold))


def test_it_says_what_each_number_of_blocks_can_find_and_how_many_it_would_take() -> None:
    said = said_of(a_plan())
    assert "in 30 blocks (alone) 96%, 14% or 3%; in 4 blocks (company 8) 34%, 2% or <1%" in said
    assert "needs: 29, 598 or 2,995 blocks for a chance of 95%" in said


def test_many_conditions_take_no_more_lines_than_one() -> None:
    many = a_plan(company=(1, 2, 4, 8, 32), filler="both", cache="both", logprobs="both", stream="both")
    assert len(many.conditions) == 72
    lines = announcement(many, many.blocks())
    assert len(lines) <= 4
    assert 'in 30 blocks ("alone, cache cold" and 7 others)' in lines[1]
    assert max(map(len, lines)) < 600


def test_primers_are_paid_for_in_plain_sight() -> None:
    assert "30 judged requests, 30 primers, about 0 fillers" in said_of(a_plan(company=1, cache="warm"))
    assert "primer" not in said_of(a_plan())


@pytest.mark.parametrize(
    ("means", "line"),
    [
        (
            ColdMeans(server="llama.cpp", by="cache_prompt: false", is_reset=False),
            "cold: by cache_prompt: false; the server is llama.cpp",
        ),
        (
            ColdMeans(server="SGLang", by="POST /flush_cache", is_reset=True),
            "cold: by POST /flush_cache before each cold block; the server is SGLang",
        ),
    ],
)
def test_it_says_which_server_was_recognised_and_how_its_cache_is_made_cold(means: ColdMeans, line: str) -> None:
    assert line in said_of(a_plan(cache="both"), means).splitlines()


def test_too_few_blocks_are_said_to_be_too_few() -> None:
    assert "note: too few blocks to tell a difference between conditions from chance: p >= 0.2" in said_of(
        a_plan(n=8, alone=4)
    )
    assert "note:" not in said_of(a_plan(n=16, alone=8))


def test_a_condition_that_can_be_told_from_no_other_is_named() -> None:
    assert "note: too few blocks to tell company 8 from any other; raise -n" in said_of(
        a_plan(n=8, company=(1, 2, 8), alone=8)
    )


def test_the_document_says_the_same_in_numbers() -> None:
    plan = a_plan(cache="warm")
    document = json.loads(json.dumps(plan_document(plan, plan.blocks()), allow_nan=False))
    assert document["primers"] == 30 + 4 * 8
    alone, company = document["conditions"]
    assert (alone["name"], alone["blocks"], company["blocks"]) == ("alone, cache warm", 30, 4)
    assert alone["seen"][1] == {"rate": 0.005, "chance": pytest.approx(0.1396, abs=1e-4)}
    assert [one["blocks"] for one in document["needed"]] == [29, 598, 2995]
    assert document["smallest_p"] == pytest.approx(1 / 46376)
