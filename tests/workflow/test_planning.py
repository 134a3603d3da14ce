"""From flags and files to a plan."""

import asyncio
import io
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import temp0
from temp0.core.budget import cost, smallest_p
from temp0.core.plan import Condition, Message, Plan, Prompt
from temp0.core.run import Address, Attempt, Completion, Failure, Run
from temp0.errors import PlanError, PromptFileError, UsageError
from temp0.workflow import planning
from temp0.workflow.planning import Wish


def read(text: str, **wish: int) -> tuple[Prompt, ...]:
    return planning.file_prompts(io.StringIO(text), "prompts.txt", Wish(**wish))


def a_plan(n: int = 30, company: tuple[int, ...] = (1, 8), seed: int = 0, alone: int | None = None) -> Plan:
    prompts = planning.text_prompts(["one", "two"], Wish(n=n))
    return planning.plan(prompts, planning.conditions(company=company, alone=alone), seed=seed)


def test_a_plain_file_is_a_prompt_a_line() -> None:
    assert [prompt.text for prompt in read("one\n\n  two \r\n")] == ["one", "  two "]


def test_a_json_line_says_what_it_wants() -> None:
    first, second = read(
        '{"id": 7, "prompt": "hi", "n": 3, "max_tokens": 9}\n'
        '{"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]}',
        n=5,
        max_tokens=11,
    )
    assert (first.id, first.text, first.n, first.max_tokens) == ("7", "hi", 3, 9)
    assert second.messages == (Message(role="system", content="s"), Message(role="user", content="u"))
    assert (second.id, second.n, second.max_tokens) == ("p2", 5, 11)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "is not JSON"),
        ("[1]", "not a JSON object"),
        ('{"text": "x"}', "expected either `prompt`"),
        ('{"prompt": 3}', "expected either `prompt`"),
        ('{"prompt": "x", "messages": [{"role": "user", "content": "y"}]}', "expected either `prompt`"),
        ('{"messages": []}', "expected either `prompt`"),
        ('{"messages": ["x"]}', "a message is"),
        ('{"messages": [{"role": "user", "content": [1]}]}', "content is"),
        ('{"prompt": "x", "n": 0}', "n is 0"),
        ('{"prompt": "x", "n": true}', "n is True"),
        ('{"prompt": "x", "max_tokens": "9"}', "max_tokens is '9'"),
        ('{"prompt": "x", "id": ""}', "id is ''"),
    ],
)
def test_a_bad_json_line_is_named_by_its_number(line: str, says: str) -> None:
    with pytest.raises(PromptFileError, match="line 3") as caught:
        read('{"prompt": "fine"}\n\n' + line)
    assert says in str(caught.value)


def test_an_empty_file_is_refused() -> None:
    with pytest.raises(PromptFileError, match="holds no prompt"):
        read("\n  \n")


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "prompts.txt"
    path.write_bytes(b"\xff\xfe\x00")
    with path.open(encoding="utf-8") as file, pytest.raises(PromptFileError, match="not UTF-8"):
        planning.file_prompts(file, "prompts.txt")


def test_two_prompts_of_one_id_are_refused() -> None:
    prompts = read('{"id": "a", "prompt": "x"}\n{"id": "a", "prompt": "y"}')
    with pytest.raises(PlanError, match="'a' appears more than once"):
        planning.plan(prompts, planning.conditions())


@pytest.mark.parametrize(("n", "max_tokens"), [(0, None), (-1, None), (None, 0)])
def test_a_wish_for_nothing_is_refused(n: int | None, max_tokens: int | None) -> None:
    with pytest.raises(UsageError, match="expected a whole number of at least 1"):
        Wish(n=n, max_tokens=max_tokens)


def test_conditions_cross_company_with_logprobs() -> None:
    names = [one.name for one in planning.conditions(company=(1, 8), filler="mixed", logprobs="both", alone=4)]
    assert names == ["alone", "alone, logprobs", "company 8 mixed", "company 8 mixed, logprobs"]


def test_thirty_in_company_of_eight_are_blocks_of_8_8_8_and_6() -> None:
    sizes = [block.size for block in a_plan().blocks() if block.prompt.id == "p1" and block.condition.company == 8]
    assert sorted(sizes) == [6, 8, 8, 8]


def test_the_seed_alone_orders_the_blocks() -> None:
    assert a_plan(seed=3).blocks() == a_plan(seed=3).blocks()
    assert a_plan(seed=3).blocks() != a_plan(seed=4).blocks()
    assert sorted(block.index for block in a_plan(seed=3).blocks()) == list(range(len(a_plan().blocks())))


def test_blocks_of_all_conditions_are_interleaved() -> None:
    conditions = [block.condition.company for block in a_plan().blocks()]
    assert conditions != sorted(conditions)
    assert conditions != sorted(conditions, reverse=True)


def attempt(order: int, block: int, prompt: str, condition: str, *, failed: bool = False) -> Attempt:
    return Attempt(
        order=order, prompt=prompt, condition=condition, block=block, role="judged", started_s=0.0, first_byte_s=None,
        ended_s=1.0, in_flight=1, predecessor=None,
        outcome=Failure(reason="timeout", message="") if failed else Completion(text="x"),
    )  # fmt: skip


@given(st.data())
def test_what_remains_completes_the_plan_exactly(data: st.DataObject) -> None:
    plan = a_plan(n=5, company=(1, 3))
    done = [
        attempt(order, block.index, block.prompt.id, block.condition.name, failed=data.draw(st.booleans()))
        for order, block in enumerate(
            block for block in plan.blocks() for _ in range(data.draw(st.integers(0, block.size)))
        )
    ]
    address = Address(url="fake:", api="fake", model="fake")
    remaining = Run(id="r", created="", address=address, plan=plan, attempts=tuple(done)).remaining()
    for prompt in plan.prompts:
        for condition in plan.conditions:
            key = (prompt.id, condition.name)
            completed = sum((a.prompt, a.condition) == key and isinstance(a.outcome, Completion) for a in done)
            left = sum(block.size for block in remaining if (block.prompt.id, block.condition.name) == key)
            assert completed + left == 5
    assert len({block.index for block in remaining}) == len(remaining)
    assert not {block.index for block in remaining} & {one.block for one in done}


def test_the_cost_counts_judged_requests_and_fillers() -> None:
    price = cost(a_plan(n=16, company=(1, 8), alone=4).blocks(), filler_tokens=16)
    assert price.judged == 2 * (4 + 16)
    assert price.fillers == 2 * 2 * 7
    assert price.completion_tokens == 40 * 160 + 28 * 16


def test_too_few_blocks_cannot_reach_a_small_p() -> None:
    few, enough = a_plan(n=8, alone=4), a_plan(n=16, alone=8)
    assert smallest_p(few) == pytest.approx(1 / 5)
    assert smallest_p(enough) == pytest.approx(1 / 45)
    assert smallest_p(a_plan(company=(1,))) is None


def test_equal_sides_double_the_smallest_p() -> None:
    conditions = (Condition(company=1, n=3), Condition(company=2, n=6))
    plan = Plan(prompts=planning.text_prompts(["x"]), conditions=conditions)
    assert smallest_p(plan) == pytest.approx(2 / 20)


@pytest.mark.parametrize("text", ["\ufeffone\n", '\ufeff{"prompt": "one"}\n'])
def test_a_byte_order_mark_is_no_part_of_a_prompt(text: str) -> None:
    assert [prompt.text for prompt in read(text)] == ["one"]


def test_a_file_of_nothing_but_a_byte_order_mark_holds_no_prompt() -> None:
    with pytest.raises(PromptFileError, match="holds no prompt"):
        read("\ufeff\n")


@pytest.mark.parametrize("line", ['{"prompt": "x", "n": ' + "9" * 5000 + "}", '{"prompt": ' + "[" * 100_000])
def test_what_json_cannot_hold_is_named_by_its_line(line: str) -> None:
    with pytest.raises(PromptFileError, match="line 1"):
        read(line)


def test_an_empty_prompt_is_refused() -> None:
    with pytest.raises(PlanError, match="p1 is empty"):
        planning.plan(planning.text_prompts([" "]), planning.conditions())


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"company": 0}, "company is 0"),
        ({"company": (1, "8")}, "company is '8'"),
        ({"company": ()}, "names no number"),
        ({"filler": "odd"}, "filler is 'odd'"),
        ({"logprobs": "maybe"}, "logprobs is 'maybe'"),
        ({"cache": "hot"}, "cache is 'hot', expected one of: as-found, cold, warm, both"),
        ({"stream": True}, "stream is True"),
        ({"ask": "what"}, "ask is 'what'"),
        ({"ask": "company", "n": "3"}, "n is '3'"),
        ({"alone": True}, "alone is True"),
        ({"seed": -1}, "seed is -1"),
        ({"n": "3"}, "n is '3'"),
        ({"timeout_s": float("nan")}, "timeout_s is nan"),
        ({"timeout_s": 0}, "timeout_s is 0"),
        ({"max_requests": 0}, "max_requests is 0"),
        ({"arithmetic": "other"}, "built-in engine"),
    ],
)
def test_asking_with_what_cannot_be_right_is_refused(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=re.escape(says)):
        temp0.ask("fake:", prompts="x", **wrong)


def test_one_prompt_one_level_and_a_generator_will_do() -> None:
    run = temp0.ask("fake:", prompts=(text for text in ["a", "b"]), n=2, company=2)
    assert [prompt.text for prompt in run.plan.prompts] == ["a", "b"]
    assert [condition.company for condition in run.plan.conditions] == [2]


def test_asking_works_inside_a_running_loop(tmp_path: Path) -> None:
    async def notebook() -> Run:
        return temp0.ask("fake:", prompts="x", n=2, store=str(tmp_path / "runs.db"))

    assert len(asyncio.run(notebook()).attempts) >= 4
    assert (tmp_path / "runs.db").exists()


def test_what_is_asked_for_is_named_ask() -> None:
    assert temp0.ask.__name__ == "ask"
