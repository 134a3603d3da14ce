"""The card: short, complete, and safe whatever an endpoint wrote."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from analysis_samples import HOSTILE, agreed, analyzed, five_prompts, hostile, nothing

from temp0.core.cost import Cost, Tokens
from temp0.core.plan import Condition
from temp0.report.card import card, code, plain


def test_the_card_begins_with_the_verdict_and_ends_with_the_commands():
    told = card(five_prompts())
    assert told.startswith("### ❌ temp0: diverged — ")
    assert "`temp0 show " in told.rstrip().splitlines()[-3]
    assert told.endswith("asks the same anew, or another URL\n")


def test_agreement_says_how_far_it_reaches():
    told = card(agreed())
    assert told.startswith("### ✅ temp0: agreed — ")
    assert "unlike mode ≤" in told
    assert "Agreement is bounded, never proved" in told


def test_every_condition_has_one_row_with_its_completions_and_failures():
    rows = [line for line in card(nothing()).splitlines() if line.startswith("| `")]
    assert len(rows) == len({one.name for prompt in nothing().prompts for one in prompt.conditions})
    assert all(" 0 of " in row for row in rows)


def test_forks_name_their_branches_with_counts():
    told = card(five_prompts())
    assert re.search(r"fork at character \d+: \d+ `", told)


def test_a_branch_begins_with_the_whole_word_that_holds_the_fork():
    told = card(analyzed({"p": {Condition(): ["which nobody saw"] * 2 + ["which no client saw"]}}))
    assert "fork at character 8: 2 `nobody saw`, 1 `no client saw`" in told


def test_a_branch_without_text_is_an_end():
    assert "1 `(ends)`" in card(analyzed({"p": {Condition(): ["It is", "It is so", "It is so"]}}))


def test_every_list_stands_under_a_heading():
    for made in (five_prompts(), agreed(), nothing(), hostile()):
        lines = card(made).splitlines()
        before = [lines[place - 2] for place, line in enumerate(lines) if line[:2] == "* " and not lines[place - 1]]
        assert before
        assert all(line.startswith("#### ") for line in before)


def test_causes_that_are_left_out_are_counted():
    cause = next(cause for cause in five_prompts().causes)
    told = card(replace(five_prompts(), causes=(cause,) * 7))
    assert "* and 3 more causes: see the page" in told


def test_the_cost_stands_beside_what_was_asked():
    cost = Cost(span=(0.0, 72.0), prompt=Tokens(sum=3_410, n=62), answer=Tokens(sum=4_096, n=64))
    told = card(replace(agreed(), requests=64, cost=cost))
    assert (
        "64 requests in 1 min 12 s, tokens: 3,410 of prompts (62 of 64 requests), 4,096 of answers, "
        "as the server counted, 2026-03-01"
    ) in told


def test_no_hostile_text_leaves_its_code_span():
    told = card(hostile())
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", told, flags=re.DOTALL)
    assert not re.search(r"(?<!\\)<[a-z/!]", outside)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", told)


@pytest.mark.parametrize("text", [*HOSTILE, "`", "``", " ", "", "a`b``c", "|", "\n|\n"])
def test_a_code_span_holds_any_text_on_one_line_and_its_fence_is_not_in_it(text):
    span = code(text, in_table=True)
    fence = re.match("`+", span)[0]
    inner = span[len(fence) : -len(fence)]
    assert "\n" not in span
    assert fence not in re.findall("`+", inner)
    assert not re.search(r"(?<!\\)\|", span)


def test_plain_words_neither_format_nor_mention():
    assert (
        plain("a *b* _c_ [d](e) <f> | @you you@there")
        == "a \\*b\\* \\_c\\_ \\[d\\](e) \\<f\\> \\| @\u200byou you@there"
    )
