"""What a run took, in words that claim no more than was told."""

from __future__ import annotations

from dataclasses import replace

import pytest
from analysis_samples import agreed

from temp0.core.cost import NOTHING, Cost, Tokens
from temp0.report import html
from temp0.report.figure import UNKNOWN
from temp0.report.spent import duration, spent, tokens


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (None, UNKNOWN),
        (0.003, "0.003 s"),
        (59.94, "59.9 s"),
        (59.96, "1 min"),
        (61.4, "1 min 1 s"),
        (3_600.0, "1 h"),
        (3_601.0, "1 h"),
        (172_800.0 + 3_600, "2 d 1 h"),
    ],
)
def test_a_duration_has_its_two_largest_units(seconds: float | None, told: str) -> None:
    assert duration(seconds) == told


def test_tokens_that_stand_for_every_request_are_plain_sums() -> None:
    cost = Cost(prompt=Tokens(sum=1_200, n=4), answer=Tokens(sum=40, n=4))
    assert tokens(cost, 4) == "1,200 of prompts, 40 of answers, as the server counted"


def test_a_sum_of_some_requests_says_of_how_many() -> None:
    cost = Cost(prompt=Tokens(sum=1_200, n=3), answer=Tokens(sum=0, n=1))
    assert tokens(cost, 4).startswith("1,200 of prompts (3 of 4 requests), 0 of answers (1 of 4 requests)")


def test_what_nobody_told_is_a_dash() -> None:
    assert tokens(NOTHING, 4) == f"{UNKNOWN} (the server told none)"
    assert tokens(Cost(answer=Tokens(sum=5, n=4)), 4) == f"{UNKNOWN} of prompts, 5 of answers, as the server counted"


def test_a_clause_leaves_out_what_is_not_known() -> None:
    assert spent(NOTHING, 1) == "1 request"
    assert spent(Cost(answer=Tokens(sum=5, n=4)), 4).startswith(f"4 requests, tokens: {UNKNOWN} of prompts, 5")


def test_the_page_tells_the_duration_and_the_tokens_among_what_was_asked() -> None:
    cost = Cost(span=(0.5, 72.9), prompt=Tokens(sum=1_200, n=3), answer=Tokens(sum=40, n=4))
    asked = html(replace(agreed(), requests=4, cost=cost)).split("What was asked")[1].split("</dl>")[0]
    assert "<dd>1 min 12 s, from the first request to the last answer</dd>" in asked
    assert "<dd>1,200 of prompts (3 of 4 requests), 40 of answers, as the server counted</dd>" in asked
    assert "Duration" not in html(replace(agreed(), cost=NOTHING))
