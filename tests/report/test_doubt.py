"""Nobody is told to ask for logprobs who did."""

from __future__ import annotations

from dataclasses import replace

import analysis_samples as samples
import reason_samples as reasons

from temp0.core.analysis import Margin
from temp0.core.margin import CUT, NOT_ASKED
from temp0.report import html, terminal_text
from temp0.report.doubt import UNTOLD, doubt, is_untold

UNKNOWN = Margin(value=None, kind="unknown", reason=NOT_ASKED)


def asked(**distinct: int) -> samples.Analysis:
    """A run with plain attempts and such with logprobs; `distinct` says at which levels the server told any."""
    found = samples.analyzed({"A": {samples.ALONE: ["one", "two"], reasons.ASKED: ["one", "two"]}})
    counts = {"distinct": replace(found.prompts[0].conditions[1].distinct, **distinct)}
    return reasons.on(found, {"A": {"alone, logprobs": counts}})


def why(analysis: samples.Analysis, margin: Margin = UNKNOWN) -> str | None:
    return doubt(margin, analysis.prompts[0].conditions)


def test_nobody_is_told_to_ask_where_answers_were_imported() -> None:
    nobody = replace(samples.ended().prompts[0].conditions[0].company, asked=0)
    imported = reasons.on(samples.ended(), {"steps": {"alone": {"company": nobody}}})

    assert why(imported) == "the files that were imported hold no logprobs on every branch"


def test_who_did_not_ask_is_told_how_to_ask() -> None:
    assert why(samples.ended()) == NOT_ASKED


def test_who_asked_in_vain_is_told_so() -> None:
    assert why(asked()) == UNTOLD
    assert why(asked(logprobs=2)) == "logprobs were asked for, and the server told none of other tokens"
    assert why(asked(logprobs=2, top_logprobs=2)) == "not every branch was taken by an attempt with logprobs"


def test_any_other_reason_and_a_known_margin_stand() -> None:
    assert why(asked(), Margin(value=None, kind="unknown", reason=CUT)) == CUT
    assert why(asked(), reasons.NEAR) is None


def test_only_answers_that_could_have_had_logprobs_lack_them() -> None:
    plain, with_logprobs = asked().prompts[0].conditions
    empty = samples.analyzed({"A": {reasons.ASKED: ["", ""]}}).prompts[0].conditions[0]

    assert is_untold(with_logprobs)
    assert not is_untold(plain)
    assert not is_untold(empty)
    assert not is_untold(asked(logprobs=2).prompts[0].conditions[1])


def test_a_report_never_advises_what_was_done() -> None:
    text = " ".join(terminal_text(asked(), width=80).split())

    assert "“alone, logprobs”: logprobs were asked for, and the server told none." in text
    assert "unknown at some forks: logprobs were asked for, and the server told none." in text
    assert "--logprobs both" not in text
    assert "--logprobs both" not in html(asked())
