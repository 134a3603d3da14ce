"""Beside the texts: kinds of answers, tool calls and reasoning, each counted apart and told in words."""

from __future__ import annotations

import pytest
from analysis_samples import ALONE, analyzed, completion, five_prompts

from temp0.core.kind import kind
from temp0.core.run import Completion, ToolCall, Usage
from temp0.report.beside import beside
from temp0.report.headline import headline

CALL = ToolCall(name="find", arguments='{"a": 1, "b": 2}')
TURNED = ToolCall(name="find", arguments='{"b":2,"a":1}')


def told(*answers: Completion):
    found = analyzed({"P": {ALONE: list(answers)}})
    return found, beside(found.prompts[0])


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Completion(text="a", finish="stop"), "answer"),
        (Completion(text="a", finish="length"), "cut-by-length"),
        (Completion(text="", finish="length"), "cut-by-length"),
        (Completion(text="", finish="stop"), "empty"),
        (Completion(text="", refusal="I cannot."), "refusal"),
        (Completion(text="", finish="refusal"), "refusal"),
        (Completion(text="a", finish="content_filter"), "filtered"),
        (Completion(text="", finish="SAFETY"), "filtered"),
        (Completion(text="", tool_calls=(CALL,)), "tool-call"),
        (Completion(text="a", tool_calls=(CALL,)), "answer"),
        (Completion(text="", reasoning="hm", finish="stop"), "reasoning-only"),
        (Completion(text="", usage=Usage(reasoning=9), finish="length"), "reasoning-cut"),
    ],
)
def test_every_completion_has_one_kind(answer, expected):
    assert kind(answer) == expected


def test_whole_answers_need_no_words():
    assert beside(five_prompts().prompts[0]) == ()


def test_kinds_are_counted_apart():
    refused = Completion(text="", refusal="I cannot.")
    found, sentences = told(completion("a"), completion("a"), refused, Completion(text="", finish="content_filter"))
    assert sentences == ("Of 4 completions: 2 whole, 1 taken away by a filter and 1 refused.",)
    assert [(one.kind, one.count) for one in found.prompts[0].conditions[0].kinds] == [
        ("answer", 2),
        ("filtered", 1),
        ("refusal", 1),
    ]


def test_equal_tool_calls_without_text_can_agree_and_other_ones_diverge():
    call = Completion(text="", tool_calls=(CALL,), finish="tool_calls")
    same, sentences = told(call, call)
    assert same.verdict == "agreed"
    assert "The tools to be called are the same in every answer." in sentences
    other = Completion(text="", tool_calls=(ToolCall(name="find", arguments='{"a": 2}'),), finish="tool_calls")
    differs, sentences = told(call, other)
    assert differs.verdict == "diverged"
    assert any("2 different calls" in sentence for sentence in sentences)
    assert "in the tools that were to be called" in headline(differs).sentence


def test_arguments_that_are_the_same_json_are_told_as_such_and_still_differ():
    found, sentences = told(
        Completion(text="", tool_calls=(CALL,)),
        Completion(text="", tool_calls=(TURNED,)),
    )
    assert found.verdict == "diverged"
    assert any("1 once their arguments are read as JSON" in sentence for sentence in sentences)


def test_reasoning_is_compared_beside_the_text_and_decides_nothing():
    found, sentences = told(Completion(text="a", reasoning="x"), Completion(text="a", reasoning="y"))
    assert found.verdict == "agreed"
    assert sentences == ("The reasoning beside the text differs: 2 different ones; no verdict uses it.",)
