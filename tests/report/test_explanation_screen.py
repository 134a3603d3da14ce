"""Causes on a terminal: found and suspected told apart without colour, each with what to do."""

from __future__ import annotations

import re
from dataclasses import replace

import analysis_samples as samples
import pytest
import reason_samples as reasons
from rich.console import Group

from temp0.core.analysis import Analysis
from temp0.report.explanation_screen import explanation_screen
from temp0.report.screen import rendered


def shown(analysis: Analysis, width: int = 80) -> str:
    return rendered(Group(*explanation_screen(analysis)), width=width)


def test_a_found_cause_has_a_full_mark_and_a_suspected_one_a_hollow_mark() -> None:
    text = shown(reasons.explained())

    assert re.search(r"^  ● found      company: the answer depends on what runs beside it$", text, re.MULTILINE)
    assert re.search(r"^  ○ suspected  cache-state: the answer depends on what the prefix cache", text, re.MULTILINE)


def test_what_belongs_to_a_cause_stands_beside_its_mark() -> None:
    lines = shown(samples.five_prompts()).splitlines()
    first = next(index for index, line in enumerate(lines) if "● found" in line)

    assert all(line.startswith(" " * 15) for line in lines[first + 1 :] if line)
    assert lines[first + 1].strip() == "In C, D and E; p = 0.004 adjusted for all causes tested"


def test_causes_are_parted_by_a_blank_line() -> None:
    assert re.search(r"\n\n  ● found      company", shown(reasons.explained()))


def test_headings_follow_in_one_order() -> None:
    text = shown(reasons.explained())

    assert re.findall(r"^[A-Z].*$", text, re.MULTILINE) == ["Why", "Also to know", "Not tested"]


def test_what_was_not_tested_takes_one_row_for_each_reason() -> None:
    text = shown(replace(samples.undecided(), causes=(), untested=samples.UNTESTED))

    assert re.search(r"^  backend-mix and order  no fingerprint and no replica header came back$", text, re.MULTILINE)
    assert text.count("no fingerprint") == 1


@pytest.mark.parametrize("width", range(50, 121))
def test_a_p_never_parts_from_its_value(width: int) -> None:
    assert not re.search(r"(?<!\w)p( [=<])?$", shown(reasons.explained(), width), re.MULTILINE)


def test_where_there_is_nothing_to_explain_nothing_is_shown() -> None:
    assert shown(replace(samples.agreed(), causes=(), untested=samples.UNTESTED)) == ""
