"""Tool calls: the same names and arguments, whole or in deltas, however a server counts them."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from temp0.core.run import ToolCall
from temp0.probe.dialect.field import FieldError
from temp0.probe.dialect.tool_call import PartialCalls, tool_calls


def call(name: str, arguments: object, **more: object) -> dict[str, Any]:
    return {"id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}, **more}


def gathered(*deltas: dict[str, Any]) -> tuple[ToolCall, ...]:
    calls = PartialCalls()
    for delta in deltas:
        calls.add(delta)
    return tool_calls({"tool_calls": calls.payload()})


def piece(arguments: str, **more: object) -> dict[str, Any]:
    return {"function": {"arguments": arguments}, **more}


def test_calls_are_read_with_their_arguments_as_told_and_without_their_ids() -> None:
    found = tool_calls({"tool_calls": [call("f", '{"b": 1,\n "a":2}'), call("g", "", id="call_2")]})
    assert found == (ToolCall(name="f", arguments='{"b": 1,\n "a":2}'), ToolCall(name="g", arguments=""))


@pytest.mark.parametrize(
    ("arguments", "text"),
    [({"b": 1, "a": ["é", None]}, '{"b":1,"a":["é",null]}'), ({}, "{}"), ([], "[]"), (None, "")],
)
def test_arguments_that_are_an_object_are_compact_json_in_the_order_told(arguments: object, text: str) -> None:
    assert tool_calls({"tool_calls": [call("f", arguments)]}) == (ToolCall(name="f", arguments=text),)


def test_a_custom_tool_is_called_with_its_input() -> None:
    custom = {"type": "custom", "custom": {"name": "sql", "input": "select 1"}}
    assert tool_calls({"tool_calls": [custom]}) == (ToolCall(name="sql", arguments="select 1"),)
    assert gathered(
        {"index": 0, "custom": {"name": "sql", "input": "sel"}}, {"index": 0, "custom": {"input": "ect"}}
    ) == (ToolCall(name="sql", arguments="select"),)


def test_the_older_form_counts_where_the_newer_one_is_absent() -> None:
    older = {"name": "f", "arguments": "{}"}
    assert tool_calls({"function_call": older}) == (ToolCall(name="f", arguments="{}"),)
    assert tool_calls({"function_call": older, "tool_calls": [call("f", "{}")]}) == (
        ToolCall(name="f", arguments="{}"),
    )
    assert tool_calls({"function_call": None, "tool_calls": None}) == ()


@pytest.mark.parametrize(
    "calls", [7, [7], [{"function": {"name": 7}}], [call("f", 7)], [{"custom": {"name": "f", "input": 7}}]]
)
def test_calls_that_cannot_be_read_are_refused(calls: object) -> None:
    with pytest.raises(FieldError):
        tool_calls({"tool_calls": calls})


def test_deltas_go_to_the_call_of_their_index_in_any_order() -> None:
    found = gathered(
        call("second", "", index=1, id="b"),
        call("first", "", index=0, id="a"),
        piece('{"x"', index=0),
        piece("[]", index=1),
        piece(":1}", index=0),
    )
    assert found == (ToolCall(name="first", arguments='{"x":1}'), ToolCall(name="second", arguments="[]"))


def test_deltas_without_an_index_go_on_with_the_last_call() -> None:
    found = gathered(call("f", "{", id="a"), piece("}"), call("g", "[", id="b"), piece("]"))
    assert found == (ToolCall(name="f", arguments="{}"), ToolCall(name="g", arguments="[]"))


def test_calls_that_are_all_counted_as_the_first_are_told_apart_by_id_and_name() -> None:
    found = gathered(call("f", "{}", index=0, id="a"), call("g", "[]", index=0, id="b"))
    assert found == (ToolCall(name="f", arguments="{}"), ToolCall(name="g", arguments="[]"))


def test_an_id_that_is_new_in_each_delta_begins_no_new_call() -> None:
    found = gathered(call("f", "", index=0, id="a"), piece("{", index=0, id="b"), piece("}", index=0, id="c"))
    assert found == (ToolCall(name="f", arguments="{}"),)


def test_a_name_may_come_in_pieces_or_again_and_again() -> None:
    assert gathered(call("get_", "", index=0), call("weather", "{}", index=0)) == (
        ToolCall(name="get_weather", arguments="{}"),
    )
    assert gathered(call("f", "{", index=0), call("f", "}", index=0)) == (ToolCall(name="f", arguments="{}"),)


def test_a_surrogate_pair_in_two_deltas_is_one_character() -> None:
    assert gathered(call("f", "\ud83c", index=0), piece("\udf78", index=0))[0].arguments == "\U0001f378"


@given(texts=st.lists(st.text(max_size=12), min_size=1, max_size=4), cuts=st.lists(st.integers(0, 12), max_size=4))
def test_however_arguments_are_cut_the_calls_are_those_of_the_whole_answer(texts: list[str], cuts: list[int]) -> None:
    whole = [call(f"f{index}", text, id=f"call_{index}") for index, text in enumerate(texts)]
    deltas = []
    for index, each in enumerate(whole):
        text = each["function"]["arguments"]
        borders = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
        deltas += [call(f"f{index}", "", index=index, id=each["id"])]
        deltas += [piece(text[start:end], index=index) for start, end in pairwise(borders)]
    assert gathered(*json.loads(json.dumps(deltas))) == tool_calls({"tool_calls": whole})
