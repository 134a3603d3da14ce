"""Every word that is shown is explained, and none that is not."""

from __future__ import annotations

import analysis_samples as samples
import reason_samples as reasons

from temp0.core.analysis import Analysis
from temp0.report.figure import UNBROKEN
from temp0.report.legend import legend


def words(analysis: Analysis) -> dict[str, str]:
    return {word.replace(UNBROKEN, " "): told for word, told in legend(analysis, bound="bound")}


def test_certainties_are_explained_where_they_are_told() -> None:
    assert {"found", "suspected"} <= set(words(reasons.explained()))
    assert "suspected" not in words(samples.five_prompts())
    assert not {"found", "suspected"} & set(words(samples.agreed()))


def test_p_is_explained_where_anything_was_tested() -> None:
    assert "p" in words(samples.five_prompts())
    assert "p" not in words(samples.agreed())


def test_company_is_explained_by_the_example_that_is_known_best() -> None:
    assert words(reasons.load_missed())["100 of 128"] == (
        "128 requests in flight were asked for; the server itself counted 100 running"
    )
    assert words(samples.agreed())["1 of 1"] == (
        "1 request in flight was asked for; the server itself counted 1 running"
    )
    assert "nothing shows that they ran together" in words(samples.undecided())["not shown"]


def test_only_the_kinds_of_margin_that_occur_are_explained() -> None:
    near, tied = words(reasons.observed())["margin"], words(reasons.tied())["margin"]

    assert "near is at most 0.5" in near
    assert "exact-tie" not in near
    assert "exact-tie is 0" in tied
    assert "margin" not in words(samples.ended())


def test_a_shift_is_explained_where_one_is_told() -> None:
    assert "shift" in words(reasons.observed())
    assert "shift" not in words(samples.five_prompts())


def test_total_agreement_is_explained_with_its_own_n() -> None:
    assert "TARr@20" in words(samples.five_prompts())
    assert "TARr@N" in words(reasons.cold_and_warm())


def test_what_does_not_count_is_explained_where_it_is_shown_and_only_for_what_occurs() -> None:
    told = words(reasons.uncounted())["does not count"]

    assert "a streamed answer against a whole one" in told
    assert "attempts with logprobs where plain ones were asked, too" in told
    assert "streamed" not in words(reasons.observed())["does not count"]
    assert "does not count" not in words(samples.five_prompts())
