"""What is said before anything is sent."""

import json

import pytest

from temp0.core.plan import Plan
from temp0.probe.endpoint import ColdMeans
from temp0.workflow import planning
from temp0.workflow.costing import announcement, cold_unknown, plan_document
from temp0.workflow.planning import Wish


def a_plan(*, n: int = 30, **said: object) -> Plan:
    conditions = planning.conditions(**said)  # type: ignore[arg-type]
    return planning.plan(planning.text_prompts(["one"], Wish(n=n)), conditions)


def said_of(plan: Plan, cold: ColdMeans | None = None) -> str:
    return "\n".join(announcement(plan, plan.blocks(), cold))


def test_it_says_what_each_number_of_blocks_can_find_and_how_many_it_would_take() -> None:
    rows = [" ".join(line.split()) for line in announcement(a_plan(), a_plan().blocks())]
    assert rows[rows.index("one block in 10 200 1,000") :] == [
        "one block in 10 200 1,000",
        "alone: 30 blocks 96% 14% 3%",
        "company 8: 4 blocks 34% 2% <1%",
        "blocks needed for a chance of 95% 29 598 2,995",
    ]


def test_what_it_can_find_is_a_table_that_fits_a_terminal() -> None:
    *_, first, alone, company, needed = announcement(a_plan(), a_plan().blocks())
    assert len({len(first), len(alone), len(company), len(needed)}) == 1
    assert max(map(len, announcement(a_plan(), a_plan().blocks()))) <= 80


def test_many_conditions_take_no_more_lines_than_one() -> None:
    many = a_plan(company=(1, 2, 4, 8, 32), filler="both", cache="both", logprobs="both", stream="both")
    assert len(many.conditions) == 72
    lines = announcement(many, many.blocks())
    assert len(lines) <= 12
    assert '"alone, cache cold" and 7 others: 30 blocks' in "\n".join(lines)
    assert max(map(len, lines)) <= 100


def test_primers_are_paid_for_in_plain_sight() -> None:
    assert "  30 judged requests, 30 primers for a warm cache\n" in said_of(a_plan(company=1, cache="warm"))
    assert "  60 judged requests, about 28 fillers for company\n" in said_of(a_plan())


def test_one_of_a_kind_is_told_as_one() -> None:
    said = said_of(a_plan(n=1, company=1, cache="warm"))
    assert (
        "cost: 1 prompt under 1 condition\n  1 judged request, 1 primer for a warm cache\n  about 2 prompt tokens"
        in said
    )
    assert ": 1 block " in said


def test_a_cold_cache_of_which_nobody_knows_yet_is_said_to_be_unknown() -> None:
    asked = "\n".join(cold_unknown(a_plan(cache="cold"), is_optional=False))
    assert "cold: not known yet, since a dry run asks no server" in asked
    assert "where it knows no way to make that cache cold, it stops and sends nothing" in asked
    assert "it leaves cold out and says so" in "\n".join(cold_unknown(a_plan(cache="both"), is_optional=True))
    assert cold_unknown(a_plan(cache="warm"), is_optional=False) == []


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
