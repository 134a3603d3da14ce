"""The table of conditions fits its terminal; a share never stands without its interval."""

from __future__ import annotations

import analysis_samples as samples
import reason_samples as reasons

from temp0.core.analysis import Analysis
from temp0.report.condition_table import ConditionTable
from temp0.report.figure import UNKNOWN
from temp0.report.screen import rendered


def table(analysis: Analysis, width: int, letters: dict[str, str] | None = None) -> list[str]:
    return rendered(ConditionTable(analysis.prompts[-1].conditions, letters or {}), width=width).splitlines()


def test_short_names_leave_room_for_every_column() -> None:
    assert "equal pairs" in table(samples.five_prompts(), 78)[1]


def test_long_names_take_the_room_of_the_equal_pairs() -> None:
    narrow, wide = table(reasons.crossed(), 78), table(reasons.crossed(), 118)

    assert "equal pairs" not in narrow[1]
    assert "equal pairs" in wide[1]


def test_a_condition_takes_one_line_even_where_names_are_long() -> None:
    assert len(table(reasons.crossed(), 78)) == 22


def test_letters_stand_beside_the_count_of_texts() -> None:
    lines = table(samples.five_prompts(), 90, {"alone": "a", "company 8": "abcd…"})

    assert " 1 a " in lines[2]
    assert " 6 abcd… " in lines[3]


def test_a_condition_never_asked_has_a_dash_for_its_company() -> None:
    unasked = reasons.on(samples.five_prompts(), {"E": {"company 8": {"attempts": 0}}})

    assert table(unasked, 90)[3].split()[:3] == ["company", "8", UNKNOWN]
