"""Prompts without a completion are told together where they failed alike, and none is lost."""

from __future__ import annotations

import analysis_samples as samples

from temp0.core.run import Failure
from temp0.report import html, terminal_text
from temp0.report.unanswered import Unanswered, unanswered

REFUSED = Failure(reason="refused", message="no server at 127.0.0.1:9")


def test_prompts_that_failed_alike_are_told_together() -> None:
    answers = {name: {samples.ALONE: [REFUSED] * 2, samples.COMPANY: [REFUSED] * 8} for name in "AB"}
    answers |= {"C": {samples.ALONE: ["one"] * 2, samples.COMPANY: ["one"] * 8}}
    answers |= {"D": {samples.ALONE: [Failure(reason="cut", message="")]}}

    found = unanswered(samples.analyzed(answers).prompts)

    assert found == (
        Unanswered(ids=("A", "B"), problems=("failed 20 times, refused: no server at 127.0.0.1:9",)),
        Unanswered(ids=("D",), problems=("failed once, cut",)),
    )


def test_an_unreachable_server_takes_a_few_lines() -> None:
    analysis = samples.analyzed({name: {samples.ALONE: [REFUSED] * 20} for name in "ABCDE"})
    text = terminal_text(analysis, width=80)

    assert "  A, B, C, D and E: failed 100 times, refused: no server at 127.0.0.1:9\n" in text
    assert len(text.splitlines()) < 20
    assert "condition" not in text.replace("more conditions like it", "")
    assert "What this cannot tell" not in text


def test_a_page_holds_no_table_of_nothing() -> None:
    page = html(samples.nothing())

    assert "<table" not in page
    assert "failed 10 times, http-401: the server said: &lt;b&gt;invalid key" in page
    assert "See to the failure, then ask again." in page
