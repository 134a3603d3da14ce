"""JUnit XML: passed, failed, not measured and undecided are four things."""

from __future__ import annotations

import pytest
from analysis_samples import agreed, five_prompts, hostile, nothing, undecided
from junit_reader import read_strictly

from temp0.report.junit import junit


def cases(analysis):
    suite = read_strictly(junit(analysis))
    return suite, suite.findall("testcase")


def test_what_agreed_passes():
    suite, found = cases(agreed())
    assert [list(case) for case in found] == [[]] * len(agreed().prompts)
    assert (suite.get("failures"), suite.get("errors"), suite.get("skipped")) == ("0", "0", "0")


def test_what_diverged_fails_with_its_fork_tree():
    suite, found = cases(five_prompts())
    failed = [case.find("failure") for case in found if case.find("failure") is not None]
    assert int(suite.get("failures")) == len(failed) > 0
    assert all(one.get("type") == "diverged" and "fork at char" in one.text for one in failed)


def test_an_outage_is_an_error_that_quotes_the_failure_and_never_a_pass():
    suite, found = cases(nothing())
    assert int(suite.get("errors")) == len(found) > 0
    assert all(case.find("error").get("type") == "not-measured" and case.find("error").get("message") for case in found)


def test_what_is_undecided_is_skipped_and_says_so():
    suite, found = cases(undecided())
    assert int(suite.get("skipped")) > 0
    assert {case.find("skipped").get("type") for case in found if case.find("skipped") is not None} == {"undecided"}


@pytest.mark.parametrize("name", ["run", "verdict", "headline", "url", "model"])
def test_the_suite_tells_what_was_asked(name):
    suite, _ = cases(five_prompts())
    told = {one.get("name"): one.get("value") for one in suite.find("properties")}
    assert told[name]


def test_no_text_of_an_endpoint_breaks_the_document():
    suite, found = cases(hostile())
    assert len(found) == int(suite.get("tests")) > 0
