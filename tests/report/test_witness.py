"""A condition that was not met is said to be so, with what was seen in its place."""

from __future__ import annotations

from dataclasses import replace

import analysis_samples as samples
import pytest
import reason_samples as reasons

from temp0.core.analysis import Analysis, CachedTokens, Company
from temp0.report.witness import witnesses


def told(analysis: Analysis) -> dict[str, list[str]]:
    by_name: dict[str, list[str]] = {}
    for witness in witnesses(analysis):
        for name in witness.conditions:
            by_name.setdefault(name, []).append(witness.sentence)
    return by_name


def with_company(*companies: Company) -> Analysis:
    """A prompt for each company, asked alone and in it."""
    ids = [f"p{place}" for place in range(len(companies))]
    found = samples.analyzed({name: {samples.ALONE: ["x"] * 2, samples.COMPANY: ["x"] * 8} for name in ids})
    changes = {name: {"company 8": {"company": company}} for name, company in zip(ids, companies, strict=True)}
    return reasons.on(found, changes)


MET = Company(asked=8, reached=7.9, measured_by="server", in_flight=7.9, peak=8)
SERIAL = Company(asked=8, reached=0.97, measured_by="speed-up", in_flight=7.6, peak=8, shortfall="serial")


def test_what_was_met_needs_no_word() -> None:
    assert told(samples.five_prompts()) == {}
    assert told(with_company(MET)) == {}


def test_each_way_of_missing_company_is_told_apart() -> None:
    seen = told(reasons.load_missed())

    assert seen == {
        "company 4": [
            "not shown: the load came too late (4 of ours were in flight, but not while the judged ones ran)"
        ],
        "company 8": ["not shown: the server answered one at a time, with 7.8 of ours in flight"],
        "company 128": ["100 of 128 reached, by the server's own count: at most 100 of ours were in flight"],
    }


@pytest.mark.parametrize("shortfall", ["serial", "pool", "late"])
def test_a_shortfall_whose_figures_nobody_has_is_told_without_them(shortfall) -> None:
    (sentence,) = told(with_company(Company(asked=8, reached=None, measured_by=None, shortfall=shortfall)))["company 8"]

    assert sentence.startswith("not shown: ")
    assert "None" not in sentence


def test_company_of_which_nothing_is_known_is_not_shown() -> None:
    (sentence,) = told(with_company(Company(asked=8, reached=None, measured_by=None)))["company 8"]

    assert sentence.startswith("not shown: the server gives no count of its own")


def test_company_that_only_some_prompts_missed_says_how_many() -> None:
    (sentence,) = told(with_company(MET, SERIAL, replace(SERIAL, in_flight=7.9)))["company 8"]

    assert sentence == (
        "not shown: the server answered one at a time, with 7.6 of ours in flight (so for 2 of 3 prompts)"
    )


def test_a_bound_that_falls_short_is_told_as_a_bound() -> None:
    short = Company(asked=8, reached=3.1, measured_by="speed-up", in_flight=4.0, peak=4, shortfall="pool")

    assert told(with_company(short))["company 8"] == ["at least 3.1 of 8 reached: at most 4 of ours were in flight"]


def test_strangers_that_the_server_counted_are_told() -> None:
    alone = {"p0": {"alone": {"company": Company(asked=1, reached=3.0, measured_by="server")}}}

    assert told(reasons.on(with_company(MET), alone)) == {
        "alone": ["strangers were there: the server counted up to 3 running"]
    }


def test_cold_says_by_what_means_and_whether_it_was_cold() -> None:
    analysis = reasons.cold_and_warm()

    assert "alone" not in told(analysis)
    assert told(analysis)["alone, cache cold"] == [
        "made cold by POST /reset_prefix_cache, and yet not cold: the server counted 0 to 4 prompt tokens from its "
        "cache (20 completions)"
    ]
    assert told(replace(analysis, prompts=analysis.prompts[:1]))["alone, cache cold"] == [
        "made cold by POST /reset_prefix_cache; by the server's count no prompt token came from its cache "
        "(10 completions)"
    ]


def test_warm_says_how_warm() -> None:
    analysis = reasons.cold_and_warm()
    cool = {"A": {"alone, cache warm": {"cached_tokens": CachedTokens(min=0, median=0.0, max=0, n=5)}}}

    assert told(analysis)["alone, cache warm"] == [
        "the server counted 12 to 14 prompt tokens from its cache (18 completions)"
    ]
    (sentence,) = told(reasons.on(replace(analysis, prompts=analysis.prompts[:1]), cool))["alone, cache warm"]
    assert sentence.startswith("not warm: by the server's count no prompt token")


def test_a_server_that_tells_nothing_of_its_cache_is_said_to() -> None:
    silent = "the server does not tell how many prompt tokens came from its cache"

    assert told(reasons.untold_cache()) == {
        "alone, cache cold": [f"how it was made cold is not recorded; {silent}"],
        "alone, cache warm": [silent],
    }


def test_a_cache_found_warm_is_told_where_nothing_was_asked_of_it() -> None:
    seen = {"p0": {"alone": {"cached_tokens": CachedTokens(min=0, median=6.0, max=12, n=2)}}}

    assert told(reasons.on(with_company(MET), seen))["alone"] == [
        "the prefix cache was used as found: the server counted 0 to 12 prompt tokens from its cache (2 completions)"
    ]


def test_what_was_found_in_the_cache_is_told_once_for_all_conditions() -> None:
    seen = {
        "alone": {"cached_tokens": CachedTokens(min=0, median=0.0, max=0, n=2)},
        "company 8": {"cached_tokens": CachedTokens(min=3, median=3.0, max=3, n=8)},
    }
    (witness,) = witnesses(reasons.on(with_company(MET), {"p0": seen}))

    assert witness.conditions == ("alone", "company 8")
    assert (
        witness.sentence
        == "the prefix cache was used as found: the server counted 0 to 3 prompt tokens from its cache (10 completions)"
    )


def test_conditions_of_which_the_same_is_to_be_said_stand_together() -> None:
    assert [len(witness.conditions) for witness in witnesses(reasons.crossed())] == [10, 10]


def test_a_condition_never_asked_has_no_witness() -> None:
    assert witnesses(reasons.on(reasons.untold_cache(), {"A": {"alone, cache cold": {"attempts": 0}}}))[
        0
    ].conditions == ("alone, cache warm",)
